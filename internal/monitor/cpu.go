//go:build linux

package monitor

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/dbtester/dbtester/result"
)

// minUsageWindow is the shortest time over which a CPU rate means something:
// the ticks of /proc are 10 ms, and the first and the last sample may be a few
// milliseconds from their neighbours. An interval of 100 ms that begins a little
// late is still one.
const minUsageWindow = 50 * time.Millisecond

// A cpuClock returns the user and system time of a process. ticks is what
// /proc/PID/stat has just said of it, in steps of 10 ms.
type cpuClock func(pid int, ticks time.Duration) time.Duration

// statClock is what /proc/PID/stat says.
func statClock(_ int, ticks time.Duration) time.Duration { return ticks }

// kernelClock is the process's own CPU clock, which covers all its threads,
// also those that ended, in nanoseconds. A kernel that hides it leaves the ticks.
func kernelClock(pid int, ticks time.Duration) time.Duration {
	var used unix.Timespec
	if err := unix.ClockGettime(cpuClockID(pid), &used); err != nil {
		return ticks
	}
	return time.Duration(used.Nano())
}

// cpuClockID is clock_getcpuclockid(3): the process in the upper bits,
// CPUCLOCK_SCHED in the lower three. Linux process ids fit 22 bits.
func cpuClockID(pid int) int32 {
	const cpuClockSched = 2
	return int32(^pid<<3 | cpuClockSched)
}

// usage returns the percentage of one core that was used within elapsed.
func usage(used, elapsed time.Duration) result.Number {
	if elapsed < minUsageWindow || used < 0 {
		return result.Gap()
	}
	return result.Number(float64(used) / float64(elapsed) * 100)
}
