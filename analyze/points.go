package analyze

import (
	"cmp"
	"math"
	"slices"

	"github.com/dbtester/dbtester/result"
)

// The functions of this file compute the points of a chart for one column.

// began is the second in which the load began.
func (c *column) began() int64 {
	if len(c.stages) == 0 {
		return 0
	}
	first := c.stages[0].window.from
	for _, s := range c.stages {
		first = min(first, s.window.from)
	}
	return floorSecond(first)
}

// A tick is one second of wall clock over all stages.
type tick struct {
	unix           int64
	ok             int64
	avg, low, high float64 // milliseconds of service time
	full           bool
}

// timeline joins the rows of a second that several stages share.
func (c *column) timeline() []tick {
	at := map[int64]int{}
	var ticks []tick
	for _, row := range c.rows {
		i, seen := at[row.UnixSecond]
		if !seen {
			i = len(ticks)
			at[row.UnixSecond] = i
			ticks = append(ticks, tick{unix: row.UnixSecond, avg: unknown(), low: unknown(), high: unknown()})
		}
		ticks[i].add(row)
	}
	slices.SortFunc(ticks, func(a, b tick) int { return cmp.Compare(a.unix, b.unix) })
	return ticks
}

func (t *tick) add(row result.TimeseriesRow) {
	t.full = t.full || row.FullSecond
	if row.Throughput > 0 && row.AvgLatency.Known() {
		if before := float64(t.ok); known(t.avg) {
			t.avg = (t.avg*before + float64(row.AvgLatency)*float64(row.Throughput)) / (before + float64(row.Throughput))
		} else {
			t.avg = float64(row.AvgLatency)
		}
		t.low = least(t.low, float64(row.MinLatency))
		t.high = most(t.high, float64(row.MaxLatency))
	}
	t.ok += row.Throughput
}

// overSeconds draws one figure of each second against the seconds since the
// load began; seconds without a row are a gap.
func (c *column) overSeconds(ticks []tick, y func(tick) float64) []point {
	var points []point
	began := c.began()
	for i, t := range ticks {
		if i > 0 && t.unix > ticks[i-1].unix+1 {
			points = append(points, linePoint(float64(ticks[i-1].unix+1-began), unknown()))
		}
		points = append(points, linePoint(float64(t.unix-began), y(t)))
	}
	return points
}

func latencyPoints(c *column) []point {
	return c.overSeconds(c.timeline(), func(t tick) float64 { return t.avg })
}

// throughputPoints leaves the first and the last second out where the load did
// not fill them: they would look like a slow start and a slow end.
func throughputPoints(c *column) []point {
	ticks := c.timeline()
	if n := len(ticks); n > 2 && !ticks[n-1].full {
		ticks = ticks[:n-1]
	}
	if len(ticks) > 1 && !ticks[0].full {
		ticks = ticks[1:]
	}
	return c.overSeconds(ticks, func(t tick) float64 { return float64(t.ok) })
}

// latencyByKeyPoints draws the buckets of requests. A run that was cut short
// has none: there the requests of each second stand for them.
func latencyByKeyPoints(c *column) []point {
	var points []point
	if len(c.byKey) > 0 {
		for _, row := range c.byKey {
			points = append(points, point{
				x: float64(row.Keys), y: float64(row.AvgLatency),
				low: float64(row.MinLatency), high: float64(row.MaxLatency), weight: float64(row.Count),
			})
		}
		return points
	}
	sum := int64(0)
	for _, t := range c.timeline() {
		sum += t.ok
		points = append(points, point{x: float64(sum), y: t.avg, low: t.low, high: t.high, weight: float64(t.ok)})
	}
	return points
}

// memoryByKeyPoints joins the members' memory with the requests answered by
// the end of the same second.
func memoryByKeyPoints(c *column) []point {
	shown := map[int64]spread{}
	for _, s := range c.seconds {
		shown[s.unix] = s.over(memory(), c.everyone())
	}
	var points []point
	sum := int64(0)
	for _, t := range c.timeline() {
		sum += t.ok
		p := linePoint(float64(sum), unknown())
		if s, ok := shown[t.unix]; ok {
			p.y, p.low, p.high = s.mean/megabyte, s.low/megabyte, s.high/megabyte
		}
		points = append(points, p)
	}
	return points
}

// megabyte is 1 MB in bytes.
const megabyte = 1e6

// memberPoints draws what the members show in each second of the load.
func memberPoints(m measure, positions func(*column) []int, pick func(spread) float64) func(*column) []point {
	return func(c *column) []point {
		began, ended := c.began(), c.ended()
		members := positions(c)
		var points []point
		last := int64(math.MinInt64)
		for _, s := range c.seconds {
			if s.unix < began || s.unix > ended {
				continue
			}
			if len(points) > 0 && s.unix > last+1 {
				points = append(points, linePoint(float64(last+1-began), unknown()))
			}
			points = append(points, linePoint(float64(s.unix-began), pick(s.over(m, members))))
			last = s.unix
		}
		return points
	}
}

// ended is the second in which the load ended.
func (c *column) ended() int64 {
	last := int64(math.MinInt64)
	for _, s := range c.stages {
		last = max(last, s.window.to-1)
	}
	return floorSecond(max(last, 0))
}

// stagePoints draws one figure of each stage against its number of clients.
func stagePoints(y func(*column, stage) float64) func(*column) []point {
	return func(c *column) []point {
		var points []point
		for _, s := range c.stages {
			points = append(points, linePoint(float64(s.Clients), y(c, s)))
		}
		slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
		return points
	}
}

func stageThroughput(_ *column, s stage) float64 {
	if s.window.seconds() <= 0 {
		return unknown()
	}
	return float64(s.OK) / s.window.seconds()
}

func stageCPU(c *column, s stage) float64 { return c.cpuIn(s.window) }

// stageSectors sums the sectors written in the stage over the members'
// devices, each device once.
func stageSectors(c *column, s stage) float64 {
	k := sectorsWrittenCounter()
	sum, any := 0.0, false
	for _, i := range c.speakers(k.use) {
		if v, ok := counterOf(c.members[i].samples, k.value, k.delta).within(s.window); ok {
			sum, any = sum+v, true
		}
	}
	if !any {
		return unknown()
	}
	return sum
}

// stageQuantile is a percentile of the service time in the stage.
func stageQuantile(q float64) func(*column, stage) float64 {
	return func(c *column, s stage) float64 {
		h := c.latency.stages[s.Number]
		if h == nil {
			return unknown()
		}
		return milliseconds(h.Quantile(q))
	}
}

// isLadder reports whether some column has stages with different numbers of clients.
func isLadder(columns []*column) bool {
	return slices.ContainsFunc(columns, func(c *column) bool {
		return slices.ContainsFunc(c.stages, func(s stage) bool { return s.Clients != c.stages[0].Clients })
	})
}
