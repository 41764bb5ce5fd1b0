package hist

import (
	"math"
	"slices"
)

// Buckets count the events of another program's histogram, which gives away
// its buckets only: Counts[i] events were at most Edges[i]. The edges rise to
// +Inf, the counts never fall. The zero value has no events and no edges.
type Buckets struct {
	Edges, Counts []float64
}

// Count returns the number of events.
func (b Buckets) Count() float64 {
	if len(b.Counts) == 0 {
		return 0
	}
	return b.Counts[len(b.Counts)-1]
}

// Since returns the events that came after before was read from the same
// histogram, and false if they cannot be told: the edges differ, or the
// program has begun to count anew.
func (b Buckets) Since(before Buckets) (Buckets, bool) {
	if len(b.Edges) == 0 || !slices.Equal(b.Edges, before.Edges) {
		return Buckets{}, false
	}
	d := Buckets{Edges: b.Edges, Counts: make([]float64, len(b.Counts))}
	for i := range b.Counts {
		d.Counts[i] = b.Counts[i] - before.Counts[i]
		if d.Counts[i] < 0 || (i > 0 && d.Counts[i] < d.Counts[i-1]) {
			return Buckets{}, false
		}
	}
	return d, true
}

// Merge returns the events of both, and false if their edges differ. Buckets
// without edges add nothing.
func (b Buckets) Merge(other Buckets) (Buckets, bool) {
	switch {
	case len(other.Edges) == 0:
		return b, true
	case len(b.Edges) == 0:
		return other, true
	case !slices.Equal(b.Edges, other.Edges):
		return b, false
	}
	m := Buckets{Edges: b.Edges, Counts: slices.Clone(b.Counts)}
	for i := range m.Counts {
		m.Counts[i] += other.Counts[i]
	}
	return m, true
}

// Quantile estimates the value that the share q of the events does not exceed,
// 0 to 1. It takes the events of a bucket to be spread evenly over it, the
// first one's from 0 on, as Prometheus does. So it lies in the right bucket
// and may be off by its width: with edges that double, by up to a factor of 2.
// What lies beyond the last finite edge is given as that edge, the least it
// can be. Without events it is NaN.
func (b Buckets) Quantile(q float64) float64 {
	total := b.Count()
	if total == 0 || math.IsNaN(total) {
		return math.NaN()
	}
	rank := q * total
	i := 0
	for i < len(b.Counts)-1 && b.Counts[i] < rank {
		i++
	}
	low, below := 0.0, 0.0
	if i > 0 {
		low, below = b.Edges[i-1], b.Counts[i-1]
	}
	if math.IsInf(b.Edges[i], 1) || b.Counts[i] == below {
		return low
	}
	if i == 0 && b.Edges[0] <= 0 {
		return b.Edges[0]
	}
	return low + (b.Edges[i]-low)*(rank-below)/(b.Counts[i]-below)
}
