//go:build linux

package monitor

import (
	"context"
	"time"

	"github.com/dbtester/dbtester/result"
)

// Run samples at once, then whenever the wall clock reaches a whole second,
// and a last time when ctx ends. It returns nil then, or emit's first error.
//
// A row of second T thus holds what happened from T-1 to T. A boundary that
// was missed, because the machine stalled or its clock was set, is sampled late,
// and not at all once the next one has come.
func (m *Monitor) Run(ctx context.Context, emit func(result.SystemRow) error) error {
	for next := range seconds(ctx) {
		if err := emit(m.Sample(next)); err != nil {
			return err
		}
	}
	return nil
}

// seconds yields the time at once, at each second boundary, and when ctx ends.
func seconds(ctx context.Context) func(yield func(time.Time) bool) {
	return func(yield func(time.Time) bool) {
		for {
			now := time.Now()
			if !yield(now) {
				return
			}
			if !waitUntil(ctx, now.Truncate(time.Second).Add(time.Second)) {
				yield(time.Now())
				return
			}
		}
	}
}

// waitUntil returns true when the wall clock has reached at, false when ctx
// has ended before.
func waitUntil(ctx context.Context, at time.Time) bool {
	for {
		// Timers follow the monotonic clock, which may run a little faster
		// than the wall clock does while that is being adjusted; so look again.
		rest := at.Sub(time.Now().Round(0))
		clockWasSet := rest > time.Second
		if rest <= 0 || clockWasSet {
			return ctx.Err() == nil
		}
		timer := time.NewTimer(rest)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
	}
}
