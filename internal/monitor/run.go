//go:build linux

package monitor

import (
	"context"
	"time"

	"github.com/dbtester/dbtester/result"
)

// Run samples at once, then whenever the wall clock reaches a multiple of the
// interval, and a last time when ctx ends. It returns nil then, or emit's first
// error, and closes the monitor.
//
// With an interval of a second a row of second T thus holds what happened from
// T-1 to T. A boundary that was missed, because the machine stalled or its
// clock was set, is sampled late, and not at all once the next one has come.
func (m *Monitor) Run(ctx context.Context, emit func(result.SystemRow) error) error {
	defer m.Close()
	for next := range boundaries(ctx, m.config.Interval) {
		if err := emit(m.Sample(next)); err != nil {
			return err
		}
	}
	return nil
}

// boundaries yields the time at once, at each multiple of the interval, and
// when ctx ends.
func boundaries(ctx context.Context, interval time.Duration) func(yield func(time.Time) bool) {
	return func(yield func(time.Time) bool) {
		for {
			now := time.Now()
			if !yield(now) {
				return
			}
			if !waitUntil(ctx, now.Truncate(interval).Add(interval), interval) {
				yield(time.Now())
				return
			}
		}
	}
}

// waitUntil returns true when the wall clock has reached at, false when ctx
// has ended before.
func waitUntil(ctx context.Context, at time.Time, interval time.Duration) bool {
	for {
		// Timers follow the monotonic clock, which may run a little faster
		// than the wall clock does while that is being adjusted; so look again.
		rest := at.Round(0).Sub(time.Now().Round(0))
		clockWasSet := rest > interval
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
