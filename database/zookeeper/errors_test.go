package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/databasetest"
)

func TestErrors(t *testing.T) {
	tests := []struct {
		err          error
		kind         string
		mayBeApplied bool
	}{
		{zk.ErrConnectionClosed, "connection lost", true},
		{zk.ErrClosing, "connection lost", true},
		{io.EOF, "connection lost", true},
		{&net.OpError{Op: "write", Err: errors.New("broken pipe")}, "connection lost", true},
		{zk.ErrUnknown, "unknown error", true},
		{errors.New("unknown error: -5"), "unknown error", true},
		{zk.ErrNoServer, "no server", false},
		{zk.ErrSessionExpired, "session expired", false},
		{zk.ErrSessionMoved, "session moved", false},
		{zk.ErrNoNode, database.KindNotFound, false},
		{zk.ErrNodeExists, "node exists", false},
		{zk.ErrNotEmpty, "node has children", false},
		{zk.ErrBadVersion, "version conflict", false},
		{zk.ErrNoAuth, "permission denied", false},
		{zk.ErrAuthFailed, "permission denied", false},
		{zk.ErrInvalidPath, "invalid request", false},
		{zk.ErrBadArguments, "invalid request", false},
		{zk.ErrShortBuffer, "buffer too small", false},
		{context.DeadlineExceeded, database.KindDeadline, true},
		{context.Canceled, database.KindCanceled, true},
		{database.ErrClosed, database.KindClosed, false},
		{&database.Error{Kind: "empty key"}, "empty key", false},
	}
	for _, tt := range tests {
		t.Run(tt.err.Error(), func(t *testing.T) {
			got := sortError(fmt.Errorf("wrapped: %w", tt.err))
			databasetest.WantSorted(t, got)
			if got.Kind != tt.kind || got.MayBeApplied != tt.mayBeApplied {
				t.Errorf("got %q, may be applied %v, want %q, %v", got.Kind, got.MayBeApplied, tt.kind, tt.mayBeApplied)
			}
		})
	}
	if got := sortError(zk.ErrNoNode); !errors.Is(got, database.ErrNotFound) {
		t.Errorf("got %v, want an error that is ErrNotFound", got)
	}
}

func TestClosedWhileWaiting(t *testing.T) {
	c := new(client)
	c.closed.Store(true)
	got := c.sort(zk.ErrConnectionClosed)
	if got.Kind != database.KindClosed || !got.MayBeApplied || !errors.Is(got, database.ErrClosed) {
		t.Errorf("got %+v, want closed and indeterminate", got)
	}
}
