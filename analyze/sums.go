package analyze

import (
	"math"

	"github.com/dbtester/dbtester/result"
)

// A machineCounter is a counter of a machine with its delta column.
type machineCounter struct {
	row   string // the row of the table it sums up to
	value func(*result.SystemRow) result.Number
	delta func(*result.SystemRow) result.Number
	use   func(*member) resource
}

func receiveCounter() machineCounter {
	return machineCounter{
		row:   result.RowServerReceive,
		value: func(r *result.SystemRow) result.Number { return r.ReceiveBytes },
		delta: func(r *result.SystemRow) result.Number { return r.ReceiveBytesDelta },
		use:   network,
	}
}

func transmitCounter() machineCounter {
	return machineCounter{
		row:   result.RowServerTransmit,
		value: func(r *result.SystemRow) result.Number { return r.TransmitBytes },
		delta: func(r *result.SystemRow) result.Number { return r.TransmitBytesDelta },
		use:   network,
	}
}

func readsCounter() machineCounter {
	return machineCounter{
		row:   result.RowServerReads,
		value: func(r *result.SystemRow) result.Number { return r.ReadsCompleted },
		delta: func(r *result.SystemRow) result.Number { return r.ReadsCompletedDelta },
		use:   device,
	}
}

func sectorsReadCounter() machineCounter {
	return machineCounter{
		row:   result.RowServerSectorsRead,
		value: func(r *result.SystemRow) result.Number { return r.SectorsRead },
		delta: func(r *result.SystemRow) result.Number { return r.SectorsReadDelta },
		use:   device,
	}
}

func writesCounter() machineCounter {
	return machineCounter{
		row:   result.RowServerWrites,
		value: func(r *result.SystemRow) result.Number { return r.WritesCompleted },
		delta: func(r *result.SystemRow) result.Number { return r.WritesCompletedDelta },
		use:   device,
	}
}

func sectorsWrittenCounter() machineCounter {
	return machineCounter{
		row:   result.RowServerSectorsWritten,
		value: func(r *result.SystemRow) result.Number { return r.SectorsWritten },
		delta: func(r *result.SystemRow) result.Number { return r.SectorsWrittenDelta },
		use:   device,
	}
}

// serverSum adds the increase of a counter over the windows up over the
// members, counting a resource that members share once.
func (c *column) serverSum(f *findings, k machineCounter) float64 {
	sum, known := 0.0, false
	for _, g := range shared(c.members, k.use) {
		who := &c.members[c.speaker(g)]
		in := counterOf(who.samples, k.value, k.delta).over(windows(c.stages))
		if !in.known {
			f.warnf("%s: %s: no figures of %s in the measured window", c.name, k.row, c.memberList(g.members))
			continue
		}
		c.doubt(f, k.row, c.memberList([]int{c.speaker(g)}), in)
		sum, known = sum+in.total, true
	}
	if !known {
		return unknown()
	}
	return sum
}

// clientSum is the increase of one of the controller's counters.
func (c *column) clientSum(f *findings, row string, k machineCounter) float64 {
	in := counterOf(c.client, k.value, k.delta).over(windows(c.stages))
	if !in.known {
		return unknown()
	}
	c.doubt(f, row, "the client", in)
	return in.total
}

// doubt tells what is uncertain about an increase.
func (c *column) doubt(f *findings, row, who string, in increase) {
	if in.reset {
		f.warnf("%s: %s: a counter of %s went backwards: the step is left out of the sum", c.name, row, who)
	}
	if in.missed > in.slack {
		f.warnf("%s: %s: the samples of %s leave %.1f s of the measured window uncovered", c.name, row, who, in.missed.Seconds())
	}
}

// speaker is the member of a sharing whose samples reach furthest over the load.
func (c *column) speaker(g sharing) int {
	best, most := g.members[0], -1
	for _, i := range g.members {
		inside := 0
		for _, at := range c.members[i].samples.at {
			for _, w := range windows(c.stages) {
				if w.contains(at) {
					inside++
				}
			}
		}
		if inside > most {
			best, most = i, inside
		}
	}
	return best
}

// everyone lists the positions of all members.
func (c *column) everyone() []int {
	all := make([]int, len(c.members))
	for i := range all {
		all[i] = i
	}
	return all
}

// speakers lists one member for each resource.
func (c *column) speakers(use func(*member) resource) []int {
	var positions []int
	for _, g := range shared(c.members, use) {
		positions = append(positions, c.speaker(g))
	}
	return positions
}

// serverMax is the largest over measured seconds of the mean over members.
func (c *column) serverMax(f *findings, row string, m measure) float64 {
	largest, partly := largestMean(measured(c.seconds, windows(c.stages)), m, c.everyone())
	if partly > 0 {
		f.warnf("%s: %s: in %d seconds some members have no sample: the mean there is that of the others", c.name, row, partly)
	}
	return largest
}

// clientMax is the largest over measured seconds of the controller's own figure.
func (c *column) clientMax(m measure) float64 {
	largest, _ := largestMean(measured(c.own, windows(c.stages)), m, []int{0})
	return largest
}

// cpuIn is the mean over a window's seconds of the mean over members.
func (c *column) cpuIn(w span) float64 {
	sum, n := 0.0, 0
	for _, s := range measured(c.seconds, []span{w}) {
		if v := s.over(cpu(), c.everyone()).mean; !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return unknown()
	}
	return sum / float64(n)
}

// cpu measures the processor time of a process in percent of one core.
func cpu() measure {
	return gauge(func(r *result.SystemRow) result.Number { return r.CPU })
}

// memory measures the resident bytes of a process.
func memory() measure {
	return gauge(func(r *result.SystemRow) result.Number { return r.VMRSS })
}
