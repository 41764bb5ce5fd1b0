//go:build linux

package monitor

import (
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/dbtester/dbtester/result"
)

// minUsageWindow is the shortest time over which a CPU rate means something:
// the ticks of /proc/PID/stat are 10 ms, and the first and the last sample may
// be a few milliseconds from their neighbours.
const minUsageWindow = 100 * time.Millisecond

// A cpuClock returns the user and system time of a process, in seconds. stat
// is what was just read of that very process.
type cpuClock func(pid int, stat procfs.ProcStat) float64

// statClock is what /proc/PID/stat says, in ticks of 10 ms.
func statClock(_ int, stat procfs.ProcStat) float64 { return stat.CPUTime() }

// kernelClock is the process's own CPU clock, which covers all its threads,
// also those that ended, in nanoseconds. A kernel that hides it leaves the ticks.
func kernelClock(pid int, stat procfs.ProcStat) float64 {
	var used unix.Timespec
	if err := unix.ClockGettime(cpuClockID(pid), &used); err != nil {
		return statClock(pid, stat)
	}
	return time.Duration(used.Nano()).Seconds()
}

// cpuClockID is clock_getcpuclockid(3): the process in the upper bits,
// CPUCLOCK_SCHED in the lower three. Linux process ids fit 22 bits.
func cpuClockID(pid int) int32 {
	const cpuClockSched = 2
	return int32(^pid<<3 | cpuClockSched)
}

// usage returns the percentage of one core that was used within elapsed.
func usage(now, before result.Number, elapsed time.Duration) result.Number {
	if elapsed < minUsageWindow {
		return result.Gap()
	}
	return delta(now, before) / result.Number(elapsed.Seconds()) * 100
}
