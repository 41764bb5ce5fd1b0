//go:build linux

package monitor

import (
	"context"
	"iter"
	"time"
)

// Seconds yields the time at once, at each whole second of the wall clock, and
// a last time when ctx ends. A second that has gone
// by while the caller was busy is left out.
func Seconds(ctx context.Context) iter.Seq[time.Time] { return boundaries(ctx, time.Second) }
