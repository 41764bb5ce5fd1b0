package analyze

import (
	"github.com/dbtester/dbtester/internal/hist"
	"github.com/dbtester/dbtester/result"
)

// toldCharts draw what the stores told of themselves; there is none of a figure
// that no column has.
func toldCharts(columns []*column) []chart {
	var charts []chart
	add := func(name, title string, y axis, points func(*column) []point, meaning string, kinds ...result.FigureKind) {
		if tells(columns, meaning, kinds...) {
			charts = append(charts, chart{name: name, title: title, x: secondsAxis(), y: y, points: points})
		}
	}
	mean := func(meaning string) func(*column) []point {
		return toldPoints(func(c *column, at int64) float64 { return c.meanAt(meaning, at) })
	}
	p99 := func(meaning string) func(*column) []point {
		return toldPoints(func(c *column, at int64) float64 { return c.quantileAt(meaning, 0.99, at) })
	}
	times, histogram := plainAxis("milliseconds"), result.FigureHistogram
	add(result.ChartLogSync, "Log writes to disk, as the store tells them, mean", times, mean(result.MeaningLogSync), result.MeaningLogSync)
	add(result.ChartLogSyncP99, "Log writes to disk, as the store tells them, p99", times, p99(result.MeaningLogSync), result.MeaningLogSync, histogram)
	add(result.ChartBackendCommitP99, "Backend commits, as the store tells them, p99", times, p99(result.MeaningBackendCommit), result.MeaningBackendCommit, histogram)
	add(result.ChartQuorumCommit, "Commits by the quorum, as the store tells them, mean", times, mean(result.MeaningQuorumCommit), result.MeaningQuorumCommit)
	add(result.ChartPending, "Requests waiting inside the fullest member", countAxis("requests"),
		toldPoints(func(c *column, at int64) float64 { return c.maxAt(result.MeaningPending, at) }), result.MeaningPending)
	return charts
}

// toldPoints draws a figure of the instant in the middle of each second of the
// load.
func toldPoints(figure func(c *column, at int64) float64) func(*column) []point {
	return func(c *column) []point {
		if len(c.stages) == 0 || len(c.db.Figures) == 0 {
			return nil
		}
		began := c.began()
		var points []point
		for unix := began; unix <= c.ended(); unix++ {
			points = append(points, linePoint(float64(unix-began), figure(c, middle(unix))))
		}
		return points
	}
}

// meanAt is the mean time of the events of all members around an instant.
func (c *column) meanAt(meaning string, at int64) float64 {
	sum, count := 0.0, 0.0
	for _, figures := range c.meaning(meaning) {
		for _, t := range figures {
			before, after, ok := t.covering(at)
			if !ok {
				continue
			}
			events := float64(t.values[after].Count - t.values[before].Count)
			times := float64(t.values[after].Sum - t.values[before].Sum)
			if events > 0 && times >= 0 {
				sum, count = sum+times*t.milliseconds(), count+events
			}
		}
	}
	if count == 0 {
		return unknown()
	}
	return sum / count
}

// quantileAt estimates a quantile of the times of the events of all members
// around an instant.
func (c *column) quantileAt(meaning string, q float64, at int64) float64 {
	var all hist.Buckets
	scale := 1.0
	for _, figures := range c.meaning(meaning) {
		for _, t := range figures {
			if before, after, ok := t.covering(at); ok {
				all, _ = all.Merge(t.events(before, after))
				scale = t.milliseconds()
			}
		}
	}
	return all.Quantile(q) * scale
}

// maxAt is the largest of what the members told next after an instant.
func (c *column) maxAt(meaning string, at int64) float64 {
	largest := unknown()
	for _, figures := range c.meaning(meaning) {
		for _, t := range figures {
			if _, after, ok := t.covering(at); ok {
				largest = most(largest, float64(t.values[after].Value))
			}
		}
	}
	return largest
}
