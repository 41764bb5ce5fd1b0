//go:build linux

package monitor

import (
	"strconv"
	"time"

	"github.com/dbtester/dbtester/result"
)

// coreTicks is what each processor had done by the last sample.
type coreTicks struct {
	before, now map[int]coreUse
	total       coreUse // of all processors
	known       bool
	text        []byte // reused
}

// coreUse are ticks of 10 ms since boot.
type coreUse struct{ busy, waiting, stolen uint64 }

// readCores fills the use of all processors, and returns how many processes and
// threads the machine has ever started: 0 if that is not known.
func (m *Monitor) readCores(row *result.SystemRow, elapsed time.Duration) (forks uint64) {
	text, err := m.source.read(&m.machine.stat)
	if err != nil {
		m.cores.known = false
		return 0
	}
	forks, _ = numberAfter(text, "processes ")
	c := &m.cores
	before := c.total
	c.before, c.now = c.now, c.before
	if c.now == nil {
		c.now = map[int]coreUse{}
	}
	clear(c.now)
	all := c.parse(text)
	if all && c.known {
		row.MachineCPU = ticksUsed(c.total.busy, before.busy, elapsed)
		row.IOWaitCPU = ticksUsed(c.total.waiting, before.waiting, elapsed)
		row.StealCPU = ticksUsed(c.total.stolen, before.stolen, elapsed)
		row.MaxCoreCPU, row.CoreCPU = c.each(elapsed)
	}
	c.known = all
	return forks
}

// parse reads the lines "cpu" and "cpu0" to the last.
func (c *coreTicks) parse(text []byte) (known bool) {
	lines(text, func(line []byte) bool {
		w := words{line}
		name := w.next()
		if len(name) < 3 || string(name[:3]) != "cpu" {
			return false
		}
		use, ok := parseCore(w)
		if !ok {
			known = false
			return false
		}
		if len(name) == 3 {
			c.total, known = use, true
		} else if n, ok := parseNumber(name[3:]); ok {
			c.now[int(n)] = use
		}
		return true
	})
	return known
}

// parseCore reads user nice system idle iowait irq softirq steal. What guests
// use is in user.
func parseCore(w words) (use coreUse, ok bool) {
	var field [8]uint64
	for i := range field {
		if field[i], ok = w.number(); !ok {
			return use, false
		}
	}
	use.busy = field[0] + field[1] + field[2] + field[5] + field[6]
	use.waiting, use.stolen = field[4], field[7]
	return use, true
}

// each returns the busiest core and the list of all, in the order of their
// numbers; a core that came or went is a "-".
func (c *coreTicks) each(elapsed time.Duration) (busiest result.Number, list string) {
	busiest, c.text = result.Gap(), c.text[:0]
	last := -1
	for n := range c.now {
		last = max(last, n)
	}
	for n := range last + 1 {
		if n > 0 {
			c.text = append(c.text, ' ')
		}
		now, there := c.now[n]
		before, was := c.before[n]
		used := ticksUsed(now.busy, before.busy, elapsed)
		if !there || !was || !used.Known() {
			c.text = append(c.text, '-')
			continue
		}
		used = min(used, 100) // a tick of 10 ms may fall on either side
		c.text = strconv.AppendFloat(c.text, float64(used), 'f', 0, 64)
		if !busiest.Known() || used > busiest {
			busiest = used
		}
	}
	return busiest, string(c.text)
}

// ticksUsed returns ticks as percent of one core. The idle and waiting times of
// some kernels fall a little now and then: that is a gap.
func ticksUsed(now, before uint64, elapsed time.Duration) result.Number {
	if now < before {
		return result.Gap()
	}
	return usage(time.Duration(now-before)*clockTick, elapsed)
}
