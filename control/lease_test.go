package control

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// keep runs a renewal of nine seconds whose calls are answered by answer, from
// the time on at which it was acquired; it returns when it ended, and why.
func keep(t *testing.T, ctx context.Context, answer func(since time.Duration) error) (lasted time.Duration, err error) { //nolint:revive // t comes first in tests
	t.Helper()
	began := time.Now()
	r := renewal{duration: 9 * time.Second, heard: began, renew: func(call context.Context) error {
		err := answer(time.Since(began))
		if errors.Is(err, context.DeadlineExceeded) { // silence
			<-call.Done()
			return status.FromContextError(call.Err()).Err()
		}
		return err
	}}
	err = r.keep(ctx)
	return time.Since(began), err
}

func TestALeaseIsRenewedWhileTheControllerLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 59*time.Second)
		defer cancel()
		var renewed []time.Duration
		_, err := keep(t, ctx, func(since time.Duration) error {
			renewed = append(renewed, since)
			return nil
		})
		if err != nil || len(renewed) != 39 || renewed[0] != 1500*time.Millisecond {
			t.Errorf("renewed at %v, error %v; want every 1.5 s of a minute", renewed, err)
		}
	})
}

func TestALeaseOutlivesSilenceShorterThanItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := keep(t, ctx, func(since time.Duration) error {
			switch {
			case since > 10*time.Second && since < 14*time.Second:
				return context.DeadlineExceeded
			case since > 30*time.Second && since < 34*time.Second:
				return status.Error(codes.Unavailable, "connection refused")
			}
			return nil
		})
		if err != nil {
			t.Errorf("lost: %v", err)
		}
	})
}

func TestALeaseIsLost(t *testing.T) {
	for name, test := range map[string]struct {
		answer   error
		earliest time.Duration
		latest   time.Duration
		says     string
	}{
		"refused":     {status.Error(codes.Aborted, "the lease of epoch 3 has ended"), 1500 * time.Millisecond, 1500 * time.Millisecond, "epoch 3"},
		"silence":     {context.DeadlineExceeded, 9 * time.Second, 13 * time.Second, "did not answer for 9s"},
		"unreachable": {status.Error(codes.Unavailable, "connection refused"), 9 * time.Second, 11 * time.Second, "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lasted, err := keep(t, t.Context(), func(time.Duration) error { return test.answer })
				if err == nil || !strings.Contains(err.Error(), test.says) || lasted < test.earliest || lasted > test.latest {
					t.Errorf("after %v: %v; want %q after %v to %v", lasted, err, test.says, test.earliest, test.latest)
				}
			})
		})
	}
}
