package load

import "time"

// A clock measures time since it was started, on the monotonic clock, so that
// a step of the wall clock during a load moves no latency and no second.
type clock struct {
	start    time.Time
	wallNano int64
}

func startClock() clock {
	now := time.Now()
	return clock{start: now, wallNano: now.UnixNano()}
}

// now returns the time since the clock's start.
func (c clock) now() time.Duration { return time.Since(c.start) }

// unix returns the wall-clock second in which the moment lies.
func (c clock) unix(at time.Duration) int64 { return (c.wallNano + int64(at)) / int64(time.Second) }

// boundary returns the moment at which the wall-clock second begins.
func (c clock) boundary(unix int64) time.Duration {
	return time.Duration(unix*int64(time.Second) - c.wallNano)
}

// time returns the wall-clock time of the moment.
func (c clock) time(at time.Duration) time.Time { return time.Unix(0, c.wallNano+int64(at)) }
