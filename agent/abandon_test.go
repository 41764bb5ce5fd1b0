//go:build linux

package agent

import (
	"context"
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/dbtester/dbtester/dbtesterpb"
)

// A fickle context is cancelled once it was asked a number of times.
type fickle struct {
	context.Context
	asks *atomic.Int32
}

func (f fickle) Err() error {
	if f.asks.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A controller may give up while its start is on the way: nobody would stop
// that member.
func TestAStartThatWasGivenUpLeavesNothing(t *testing.T) {
	for name, asks := range map[string]int32{"before the launch": 0, "during the launch": 1} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			a, err := New(testOptions(dir))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = a.Close() }()
			ctx := fickle{t.Context(), new(atomic.Int32)}
			ctx.asks.Store(asks)
			acquired, err := a.Acquire(t.Context(), &dbtesterpb.AcquireRequest{Key: ourKey})
			if err != nil {
				t.Fatal(err)
			}
			req := request("")
			req.Epoch = acquired.GetEpoch()
			_, err = a.Start(ctx, req)
			if status.Code(err) != codes.Canceled {
				t.Errorf("error %v, want that it was cancelled", err)
			}
			resp, err := a.Status(t.Context(), &dbtesterpb.StatusRequest{})
			if err != nil || resp.GetMember().GetPhase() != dbtesterpb.MemberState_PHASE_NONE {
				t.Errorf("member %v, error %v; want none", resp.GetMember(), err)
			}
			_ = filepath.WalkDir(filepath.Join(dir, "work"), func(path string, entry fs.DirEntry, _ error) error {
				if entry.Name() != "work" && entry.Name() != leaseFile {
					t.Errorf("left: %s", path)
				}
				return nil
			})
		})
	}
}
