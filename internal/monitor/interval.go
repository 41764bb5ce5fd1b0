//go:build linux

package monitor

import (
	"fmt"
	"time"
)

// Bounds of [Config.Interval], and what it is if nothing is said.
const (
	MinInterval     = 100 * time.Millisecond
	MaxInterval     = 10 * time.Second
	DefaultInterval = time.Second
)

// CheckInterval refuses an interval whose samples would not fall on seconds:
// it divides a second or is whole seconds, from [MinInterval] to [MaxInterval].
func CheckInterval(d time.Duration) error {
	if d < MinInterval || d > MaxInterval {
		return fmt.Errorf("interval %v: want %v to %v", d, MinInterval, MaxInterval)
	}
	if time.Second%d != 0 && d%time.Second != 0 {
		return fmt.Errorf("interval %v: want one that divides a second, such as 100ms, 250ms or 500ms, or whole seconds", d)
	}
	return nil
}
