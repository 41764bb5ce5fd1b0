//go:build linux

package monitor

import (
	"fmt"

	"github.com/prometheus/procfs"
)

// switchCounts are context switches since a thread or a process began.
type switchCounts struct {
	voluntary, nonVoluntary uint64
}

func (c *switchCounts) add(o switchCounts) {
	c.voluntary += o.voluntary
	c.nonVoluntary += o.nonVoluntary
}

// A switchCounter sums context switches over all threads of a process, for
// /proc/PID/status has only those of the first. The kernel forgets a thread's
// count when the thread ends, so the last count seen of each is kept and the
// sum never falls; what a thread did after its last sample is lost.
type switchCounter struct {
	live  map[int]switchCounts // by thread id, as last read
	ended switchCounts         // of threads that are gone
}

func newSwitchCounter() switchCounter { return switchCounter{live: map[int]switchCounts{}} }

// read returns the sum over all threads the process has and had.
func (c *switchCounter) read(fs procfs.FS, pid int) (switchCounts, error) {
	threads, err := fs.AllThreads(pid)
	if err != nil {
		return switchCounts{}, fmt.Errorf("list threads: %w", err)
	}
	found := make(map[int]switchCounts, len(threads))
	for _, thread := range threads {
		status, err := thread.NewStatus()
		if err != nil {
			continue // it ended since it was listed
		}
		found[thread.PID] = switchCounts{status.VoluntaryCtxtSwitches, status.NonVoluntaryCtxtSwitches}
	}
	return c.update(found), nil
}

// update takes the counts of the threads there are and returns the sum.
func (c *switchCounter) update(found map[int]switchCounts) switchCounts {
	for id, before := range c.live {
		now, still := found[id]
		reused := now.voluntary < before.voluntary || now.nonVoluntary < before.nonVoluntary
		if !still || reused {
			c.ended.add(before)
		}
	}
	c.live = found
	sum := c.ended
	for _, counts := range found {
		sum.add(counts)
	}
	return sum
}
