package analyze

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dbtester/dbtester/result"
)

// The rows and charts of this file say what may have held a store up: its disk,
// its processors, the hypervisor or the network. Results without such figures
// have neither.

// wholeMachine is what pressure and stolen time are of.
func wholeMachine(m *member) resource { return resource{m.Host.MachineID, "machine"} }

// sockets are what TCP's own counters are of: a network namespace.
func sockets(m *member) resource {
	return resource{cmp.Or(m.Host.NetworkID, m.Host.MachineID), "sockets"}
}

// A cause is one such figure of the members' machines.
type cause struct {
	chart, title string
	y            axis
	measure      measure
	use          func(*member) resource
	// always shows the chart as soon as the figure is known; else it is left
	// out where it never leaves 0.
	always bool
}

func causes() []cause {
	percentOfTime := plainAxis("% of the time")
	stalled := func(delta func(*result.SystemRow) result.Number) measure {
		each := rate(delta)
		return func(o observation) float64 { return each(o) / 1e4 } // microseconds in a second to percent
	}
	return []cause{
		{
			chart: result.ChartDiskUtilisation, title: "Disk busy, mean of the devices", y: percentOfTime, use: device, always: true,
			measure: gauge(func(r *result.SystemRow) result.Number { return r.DiskUtilisation }),
		},
		{
			chart: result.ChartIOPressure, title: "Some process waited for the disk, mean of the machines", y: percentOfTime, use: wholeMachine, always: true,
			measure: stalled(func(r *result.SystemRow) result.Number { return r.PressureIOSomeDelta }),
		},
		{
			chart: result.ChartCPUPressure, title: "Some process waited for a processor, mean of the machines", y: percentOfTime, use: wholeMachine, always: true,
			measure: stalled(func(r *result.SystemRow) result.Number { return r.PressureCPUSomeDelta }),
		},
		{
			chart: result.ChartSteal, title: "Stolen processor time, mean of the machines",
			y: plainAxis("% of one core"), use: wholeMachine,
			measure: gauge(func(r *result.SystemRow) result.Number { return r.StealCPU }),
		},
		{
			chart: result.ChartRetransmits, title: "TCP segments sent again, mean of the machines", y: countAxis("segments per second"), use: sockets,
			measure: rate(func(r *result.SystemRow) result.Number { return r.TCPRetransmitsDelta }),
		},
	}
}

// causeCharts are the charts for which some column has figures.
func causeCharts(columns []*column) []chart {
	var charts []chart
	for _, k := range causes() {
		if !slices.ContainsFunc(columns, k.shows) {
			continue
		}
		positions := func(c *column) []int { return c.speakers(k.use) }
		charts = append(charts, chart{
			name: k.chart, title: k.title, x: secondsAxis(), y: k.y, points: memberPoints(k.measure, positions, mean),
		})
	}
	return charts
}

// shows reports whether the column has something to draw.
func (k cause) shows(c *column) bool {
	high := k.most(c)
	return high > 0 || k.always && high == 0
}

// most is the largest over measured seconds of the mean over machines.
func (k cause) most(c *column) float64 {
	largest, _ := largestMean(measured(c.seconds, windows(c.stages)), k.measure, c.speakers(k.use))
	return largest
}

// average is the mean over measured seconds of the mean over machines.
func (k cause) average(c *column) float64 {
	sum, n := 0.0, 0
	for _, s := range measured(c.seconds, windows(c.stages)) {
		if v := s.over(k.measure, c.speakers(k.use)).mean; !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return unknown()
	}
	return sum / float64(n)
}

// causeRows are the rows of the table for which some column has figures.
func causeRows(columns []*column) []row {
	k := causes()
	disk, ioStall, cpuStall, steal := k[0], k[1], k[2], k[3]
	all := []row{
		plainRow(result.RowServerDiskBusy, percent(), disk.most),
		plainRow(result.RowServerAwait, latency(), (*column).await),
		plainRow(result.RowServerIOStall, percent(), ioStall.average),
		plainRow(result.RowServerCPUStall, percent(), cpuStall.average),
		plainRow(result.RowServerSteal, percent(), steal.most),
		plainRow(result.RowServerRetransmits, operations("segments"), (*column).retransmits),
	}
	return slices.DeleteFunc(all, func(r row) bool {
		return !slices.ContainsFunc(columns, func(c *column) bool { return known(r.figure(c, &findings{})) })
	})
}

// await is how long a read or write of the devices took in the measured
// seconds, in milliseconds.
func (c *column) await() float64 {
	spent, done := 0.0, 0.0
	for _, s := range measured(c.seconds, windows(c.stages)) {
		for _, i := range c.speakers(device) {
			row := s.members[i].row
			if row == nil {
				continue
			}
			t, n := row.DiskReadTimeDelta+row.DiskWriteTimeDelta, row.ReadsCompletedDelta+row.WritesCompletedDelta
			if t.Known() && n.Known() {
				spent, done = spent+float64(t), done+float64(n)
			}
		}
	}
	if done == 0 {
		return unknown()
	}
	return spent / done
}

// retransmits sums the segments sent again over the machines.
func (c *column) retransmits() float64 {
	sum, any := 0.0, false
	for _, i := range c.speakers(sockets) {
		in := counterOf(c.members[i].samples,
			func(r *result.SystemRow) result.Number { return r.TCPRetransmits },
			func(r *result.SystemRow) result.Number { return r.TCPRetransmitsDelta }).over(windows(c.stages))
		if in.known {
			sum, any = sum+in.total, true
		}
	}
	if !any {
		return unknown()
	}
	return sum
}

// notesShown is how many notes of one process are told in full.
const notesShown = 5

// sampleNotes tells what was special about samples during the load.
func (c *column) sampleNotes() {
	c.tellNotes("the client", c.client)
	for i := range c.members {
		c.tellNotes(c.memberList([]int{i}), c.members[i].samples)
	}
}

func (c *column) tellNotes(who string, s samples) {
	began, ended := c.began(), c.ended()
	var told []string
	more := 0
	for i, row := range s.rows {
		unix := floorSecond(s.at[i])
		if row.Note == "" || len(c.stages) == 0 || unix < began || unix > ended+1 {
			continue
		}
		if len(told) == notesShown {
			more++
			continue
		}
		told = append(told, fmt.Sprintf("second %d: %s", unix-began, oneLine(row.Note)))
	}
	if len(told) == 0 {
		return
	}
	text := strings.Join(told, ", ")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	c.warnf("%s: samples of %s: %s", c.name, who, text)
}
