package load

import (
	"context"
	"time"
)

// A sleeper waits again and again on one timer.
type sleeper struct{ timer *time.Timer }

// sleep waits for d or until ctx is done, and reports whether it waited to the end.
func (s *sleeper) sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	if s.timer == nil {
		s.timer = time.NewTimer(d)
	} else {
		s.timer.Reset(d)
	}
	select {
	case <-s.timer.C:
		return true
	case <-ctx.Done():
		s.timer.Stop()
		return false
	}
}

const (
	firstBackoff = time.Millisecond
	maxBackoff   = time.Second
)

// nextBackoff is the pause after one more request that failed in a row. A
// client whose member is gone would otherwise burn the requests of all others.
func nextBackoff(last time.Duration) time.Duration {
	if last == 0 {
		return firstBackoff
	}
	return min(2*last, maxBackoff)
}
