package analyze

import (
	"math"
	"time"

	"github.com/dbtester/dbtester/result"
)

// The functions of this file compute one figure of a column each, in base
// units: seconds, requests per second, milliseconds, bytes, percent. NaN is a
// figure that is not known.

// unknown is the figure that was not measured.
func unknown() float64 { return math.NaN() }

func (c *column) totalSeconds() float64 {
	if len(c.stages) == 0 {
		return unknown()
	}
	sum := 0.0
	for _, s := range c.stages {
		sum += s.window.seconds()
	}
	return sum
}

// total sums a count over the stages.
func (c *column) total(count func(result.Stage) int64) float64 {
	if len(c.stages) == 0 {
		return unknown()
	}
	sum := int64(0)
	for _, s := range c.stages {
		sum += count(s.Stage)
	}
	return float64(sum)
}

func (c *column) attempted() float64 { return c.total(result.Stage.Attempted) }

func (c *column) failed() float64 {
	return c.total(func(s result.Stage) int64 { return s.Failed })
}

func (c *column) indeterminate() float64 {
	return c.total(func(s result.Stage) int64 { return s.Indeterminate })
}

func (c *column) unsent() float64 {
	// A step that was never begun has no stage: all its requests are unsent.
	return max(float64(c.db.TotalRequests)-c.attempted(), c.total(func(s result.Stage) int64 { return s.Unsent }))
}

func (c *column) clientErrors() float64 { return c.failed() + c.indeterminate() }

func (c *column) avgThroughput() float64 {
	seconds := c.totalSeconds()
	if !(seconds > 0) {
		return unknown()
	}
	return c.total(func(s result.Stage) int64 { return s.OK }) / seconds
}

// extreme folds one figure of the time series rows that count, such as min or max.
func (c *column) extreme(fold func(a, b float64) float64, of func(result.TimeseriesRow) result.Number) float64 {
	best := unknown()
	for _, row := range c.rows {
		v := of(row)
		switch {
		case !v.Known():
		case math.IsNaN(best):
			best = float64(v)
		default:
			best = fold(best, float64(v))
		}
	}
	return best
}

// fullThroughput is the throughput of a full second, otherwise a gap: the
// first and the last second of a stage are not counted as slow ones.
func fullThroughput(row result.TimeseriesRow) result.Number {
	if !row.FullSecond {
		return result.Gap()
	}
	return result.Number(row.Throughput)
}

func (c *column) maxThroughput() float64 { return c.extreme(math.Max, fullThroughput) }
func (c *column) minThroughput() float64 { return c.extreme(math.Min, fullThroughput) }

func (c *column) fastest() float64 {
	return c.extreme(math.Min, func(r result.TimeseriesRow) result.Number { return r.MinLatency })
}

func (c *column) slowest() float64 {
	return c.extreme(math.Max, func(r result.TimeseriesRow) result.Number { return r.MaxLatency })
}

// avgLatency weighs the mean of each second with its requests, which is the
// mean of all requests.
func (c *column) avgLatency() float64 {
	sum, count := 0.0, int64(0)
	for _, row := range c.rows {
		if row.AvgLatency.Known() && row.Throughput > 0 {
			sum += float64(row.AvgLatency) * float64(row.Throughput)
			count += row.Throughput
		}
	}
	if count == 0 {
		return unknown()
	}
	return sum / float64(count)
}

// percentile returns the quantile q of the service time. A bucket's edge may
// lie a little outside what was measured; the exact extremes bound it.
func (c *column) percentile(q float64) float64 {
	if c.latency.service.Count() == 0 {
		return unknown()
	}
	v := milliseconds(c.latency.service.Quantile(q))
	if low := c.fastest(); v < low {
		v = low
	}
	if high := c.slowest(); v > high {
		v = high
	}
	return v
}

func (c *column) responsePercentile(q float64) float64 {
	if c.latency.response.Count() == 0 {
		return c.percentile(q)
	}
	v := milliseconds(c.latency.response.Quantile(q))
	if high := c.slowestResponse(); v > high {
		v = high
	}
	return v
}

func (c *column) slowestResponse() float64 {
	slowest := c.extreme(math.Max, func(r result.TimeseriesRow) result.Number { return r.MaxResponseLatency })
	if math.IsNaN(slowest) {
		return c.slowest()
	}
	return slowest
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (c *column) target() float64 {
	due, time := 0.0, 0.0
	for _, s := range c.stages {
		window := float64(s.window.to-s.window.from) / 1e9
		due += s.Rate * window
		time += window
	}
	if due == 0 || time == 0 {
		return unknown()
	}
	return due / time
}

// achieved is the throughput in percent of the rate aimed at.
func (c *column) achieved() float64 { return 100 * c.avgThroughput() / c.target() }

func (c *column) keysCounted() float64 {
	if c.db.Keys == nil {
		return unknown()
	}
	return float64(c.db.Keys.Counted)
}

func (c *column) keysAcknowledged() float64 {
	if c.db.Keys == nil {
		return unknown()
	}
	return float64(c.db.Keys.Acknowledged)
}

// diskSpace is the mean size of the data directories when they were stopped.
func (c *column) diskSpace() float64 {
	sum, n := 0.0, 0
	for _, row := range c.disk {
		sum, n = sum+float64(row.Bytes), n+1
	}
	if n == 0 {
		for _, m := range c.members {
			if m.DataBytes > 0 {
				sum, n = sum+float64(m.DataBytes), n+1
			}
		}
	}
	if n == 0 {
		return unknown()
	}
	return sum / float64(n)
}
