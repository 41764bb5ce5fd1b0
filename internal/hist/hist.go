// Package hist is the one place where latencies become distributions: a
// mergeable histogram of durations and the quantiles read from it.
//
// It knows nothing of requests, files or databases. Everything that states a
// percentile merges histograms first and asks the merged one; percentiles are
// never averaged.
package hist

import (
	"iter"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// Lowest is the smallest duration told apart from zero.
	Lowest = time.Microsecond
	// Highest is the largest duration with its own bucket. Longer ones are
	// counted in the last bucket and in [Histogram.Beyond]; their exact
	// maximum is kept.
	Highest = 60 * time.Second
	// Digits is the number of significant decimal digits a bucket keeps, so a
	// quantile is at most 0.1 % away from the recorded value.
	Digits = 3
)

// Histogram counts durations. Count, Min, Max, Mean and StdDev are exact;
// quantiles are exact to [Digits] significant digits. The zero value is not
// usable: call [New]. A Histogram is not safe for concurrent use.
type Histogram struct {
	buckets    *hdrhistogram.Histogram
	count      int64
	beyond     int64
	min, max   time.Duration
	sum        float64 // nanoseconds
	sumSquares float64 // nanoseconds squared
}

// New returns an empty histogram.
func New() *Histogram {
	return &Histogram{buckets: hdrhistogram.New(int64(Lowest), int64(Highest), Digits)}
}

// Record counts one duration. A negative one counts as zero.
func (h *Histogram) Record(d time.Duration) {
	d = max(d, 0)
	if h.count == 0 || d < h.min {
		h.min = d
	}
	h.max = max(h.max, d)
	h.count++
	h.sum += float64(d)
	h.sumSquares += float64(d) * float64(d)
	if d > Highest {
		h.beyond++
		d = Highest
	}
	// The value is within the histogram's range, so the error cannot occur.
	_ = h.buckets.RecordValue(int64(d))
}

// Merge adds all that o has counted to h.
func (h *Histogram) Merge(o *Histogram) {
	if o.count == 0 {
		return
	}
	if h.count == 0 || o.min < h.min {
		h.min = o.min
	}
	h.max = max(h.max, o.max)
	h.count += o.count
	h.beyond += o.beyond
	h.sum += o.sum
	h.sumSquares += o.sumSquares
	h.buckets.Merge(o.buckets)
}

// Reset empties the histogram and keeps its memory.
func (h *Histogram) Reset() {
	buckets := h.buckets
	buckets.Reset()
	*h = Histogram{buckets: buckets}
}

// Count returns the number of recorded durations.
func (h *Histogram) Count() int64 { return h.count }

// Beyond returns how many durations were longer than [Highest].
func (h *Histogram) Beyond() int64 { return h.beyond }

// Min returns the shortest duration, exactly; zero if there is none.
func (h *Histogram) Min() time.Duration { return h.min }

// Max returns the longest duration, exactly; zero if there is none.
func (h *Histogram) Max() time.Duration { return h.max }

// Sum returns the sum of all durations, in nanoseconds.
func (h *Histogram) Sum() float64 { return h.sum }

// Mean returns the arithmetic mean; zero if nothing was recorded.
func (h *Histogram) Mean() time.Duration {
	if h.count == 0 {
		return 0
	}
	return time.Duration(h.sum / float64(h.count))
}

// StdDev returns the population standard deviation; zero if nothing was recorded.
func (h *Histogram) StdDev() time.Duration {
	if h.count == 0 {
		return 0
	}
	mean := h.sum / float64(h.count)
	return time.Duration(math.Sqrt(max(h.sumSquares/float64(h.count)-mean*mean, 0)))
}

// Quantile returns the duration that the share q of all durations, 0 to 1,
// does not exceed (nearest rank). It is the bucket's upper edge, but never
// outside [Min, Max]; zero if nothing was recorded.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.count == 0 {
		return 0
	}
	q = min(max(q, 0), 1)
	v := time.Duration(h.buckets.ValueAtQuantile(q * 100))
	return min(max(v, h.min), h.max)
}

// Buckets yields every non-empty bucket's upper edge and count, in rising order.
func (h *Histogram) Buckets() iter.Seq2[time.Duration, int64] {
	return func(yield func(time.Duration, int64) bool) {
		for _, bar := range h.buckets.Distribution() {
			if bar.Count > 0 && !yield(time.Duration(bar.To), bar.Count) {
				return
			}
		}
	}
}
