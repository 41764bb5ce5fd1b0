package analyze

import (
	"slices"

	"github.com/dbtester/dbtester/internal/hist"
	"github.com/dbtester/dbtester/result"
)

// toldRows are the rows of what the stores told of themselves. There is none
// of a figure that no column has; a column without it has a gap.
func toldRows(columns []*column) []row {
	var rows []row
	add := func(r row, meanings ...string) {
		if slices.ContainsFunc(meanings, func(m string) bool { return tells(columns, m) }) {
			rows = append(rows, r)
		}
	}
	addP99 := func(name, meaning string) {
		if tells(columns, meaning, result.FigureHistogram) {
			rows = append(rows, plainRow(name, latency(), func(c *column) float64 { return c.toldQuantile(meaning, 0.99) }))
		}
	}
	avg := func(name, meaning string) row {
		return plainRow(name, latency(), func(c *column) float64 { return c.toldMean(meaning) })
	}
	add(avg(result.RowServerLogSync, result.MeaningLogSync), result.MeaningLogSync)
	addP99(result.RowServerLogSyncP99, result.MeaningLogSync)
	add(avg(result.RowServerBackendCommit, result.MeaningBackendCommit), result.MeaningBackendCommit)
	addP99(result.RowServerBackendCommitP99, result.MeaningBackendCommit)
	add(avg(result.RowServerQuorumCommit, result.MeaningQuorumCommit), result.MeaningQuorumCommit)
	add(avg(result.RowServerPeerRoundTrip, result.MeaningPeerRoundTrip), result.MeaningPeerRoundTrip)
	add(plainRow(result.RowServerMaxPending, requests(), func(c *column) float64 { return c.toldMax(result.MeaningPending) }), result.MeaningPending)
	add(plainRow(result.RowServerMaxApplyLag, operations("entries"), (*column).applyLag), result.MeaningCommittedIndex)
	add(plainRow(result.RowServerLeaderChanges, operations("changes"), (*column).leaderChanges), result.MeaningLeaderChanges, result.MeaningLeadershipsWon)
	add(plainRow(result.RowServerSlowApplies, operations("entries"), func(c *column) float64 { return c.toldSum(result.MeaningSlowApplies) }), result.MeaningSlowApplies)
	add(plainRow(result.RowServerMaxHeap, bytesUnit(), func(c *column) float64 { return c.toldMax(result.MeaningHeap) }), result.MeaningHeap)
	add(plainRow(result.RowServerCollectionPause, latency(), (*column).collectionPause), result.MeaningCollectionPause)
	return rows
}

func countOf(v result.FigureValue) result.Number { return v.Count }
func sumOf(v result.FigureValue) result.Number   { return v.Sum }
func valueOf(v result.FigureValue) result.Number { return v.Value }

// toldMean is the mean time of the events of all members over the windows, in
// milliseconds.
func (c *column) toldMean(meaning string) float64 {
	sum, count := 0.0, 0.0
	for _, figures := range c.meaning(meaning) {
		for _, t := range figures {
			events, times := t.counter(countOf).over(windows(c.stages)), t.counter(sumOf).over(windows(c.stages))
			if events.known && times.known {
				sum, count = sum+times.total*t.milliseconds(), count+events.total
			}
		}
	}
	if count == 0 {
		return unknown()
	}
	return sum / count
}

// toldQuantile estimates a quantile of the times of the events of all members
// over the windows, in milliseconds, from their merged buckets.
func (c *column) toldQuantile(meaning string, q float64) float64 {
	var all hist.Buckets
	scale := 1.0
	for _, figures := range c.meaning(meaning) {
		for _, t := range figures {
			merged, ok := all.Merge(t.over(windows(c.stages)))
			if !ok {
				return unknown()
			}
			all, scale = merged, t.milliseconds()
		}
	}
	return all.Quantile(q) * scale
}

// inWindows calls fn with every answer within a window.
func (c *column) inWindows(t told, fn func(i int)) {
	for i, at := range t.at {
		if slices.ContainsFunc(c.stages, func(s stage) bool { return s.window.contains(at) }) {
			fn(i)
		}
	}
}

// toldMax is the largest of what any member told at any second of the windows.
func (c *column) toldMax(meaning string) float64 {
	largest := unknown()
	for _, figures := range c.meaning(meaning) {
		for _, t := range figures {
			c.inWindows(t, func(i int) { largest = most(largest, float64(t.values[i].Value)) })
		}
	}
	return largest
}

// toldIncreases are how much a counter rose over the windows, member by member.
func (c *column) toldIncreases(meaning string, field func(result.FigureValue) result.Number) []float64 {
	var all []float64
	for _, figures := range c.meaning(meaning) {
		for _, t := range figures {
			if in := t.counter(field).over(windows(c.stages)); in.known {
				all = append(all, in.total)
			}
		}
	}
	return all
}

func (c *column) toldSum(meaning string) float64 {
	return total(c.toldIncreases(meaning, valueOf))
}

// total is the sum of figures; it is not known if there is none.
func total(figures []float64) float64 {
	if len(figures) == 0 {
		return unknown()
	}
	sum := 0.0
	for _, v := range figures {
		sum += v
	}
	return sum
}

// leaderChanges is what the member tells that has seen most of them, or what
// all have won together where a member tells only of its own. It counts from
// the first answer in a window on: the election with which a cluster begins may
// lie in the second before the load.
func (c *column) leaderChanges() float64 {
	since := func(meaning string) []float64 {
		var all []float64
		for _, figures := range c.meaning(meaning) {
			for _, t := range figures {
				inside := t.counter(valueOf)
				first := 0
				for first < len(inside) && !slices.ContainsFunc(windows(c.stages), func(w span) bool { return w.contains(inside[first].at) }) {
					first++
				}
				if in := inside[first:].over(windows(c.stages)); in.known {
					all = append(all, in.total)
				}
			}
		}
		return all
	}
	changes := total(since(result.MeaningLeadershipsWon))
	for _, seen := range since(result.MeaningLeaderChanges) {
		changes = most(changes, seen)
	}
	return changes
}

// collectionPause is how long the garbage collectors of all members stopped
// them over the windows, in milliseconds.
func (c *column) collectionPause() float64 {
	sum := unknown()
	for _, figures := range c.meaning(result.MeaningCollectionPause) {
		for _, t := range figures {
			field := sumOf
			if t.Kind == result.FigureCounter {
				field = valueOf
			}
			if in := t.counter(field).over(windows(c.stages)); in.known {
				sum = total([]float64{most(sum, 0), in.total * t.milliseconds()})
			}
		}
	}
	return sum
}

// applyLag is the largest number of log entries that a member knew and had not
// applied, at any second of the windows.
func (c *column) applyLag() float64 {
	largest := unknown()
	committed, applied := c.meaning(result.MeaningCommittedIndex), c.meaning(result.MeaningAppliedIndex)
	for i := range committed {
		if len(committed[i]) == 0 || len(applied[i]) == 0 {
			continue
		}
		told := map[int64]float64{}
		c.inWindows(applied[i][0], func(k int) { told[applied[i][0].at[k]] = float64(applied[i][0].values[k].Value) })
		c.inWindows(committed[i][0], func(k int) {
			if at, ok := told[committed[i][0].at[k]]; ok {
				largest = most(largest, max(float64(committed[i][0].values[k].Value)-at, 0))
			}
		})
	}
	return largest
}
