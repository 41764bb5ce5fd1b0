//go:build linux

package monitor

import (
	"context"
	"iter"
	"time"
)

// Seconds yields the time at once, at each whole second of the wall clock, and
// a last time when ctx ends: when [Monitor.Run] samples. A second that has gone
// by while the caller was busy is left out.
func Seconds(ctx context.Context) iter.Seq[time.Time] { return seconds(ctx) }
