package hist_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/dbtester/dbtester/internal/hist"
)

// latencies returns n durations spread over five decades, always the same for a seed.
func latencies(seed uint64, n int) []time.Duration {
	r := rand.New(rand.NewPCG(seed, 1))
	ds := make([]time.Duration, n)
	for i := range ds {
		ds[i] = time.Duration(r.ExpFloat64() * float64(3*time.Millisecond))
	}
	return ds
}

func recorded(ds []time.Duration) *hist.Histogram {
	h := hist.New()
	for _, d := range ds {
		h.Record(d)
	}
	return h
}

func TestQuantilesAreWithinOneBucketOfTheSortedValues(t *testing.T) {
	ds := latencies(1, 100_000)
	h := recorded(ds)
	slices.Sort(ds)
	last := time.Duration(0)
	for _, q := range []float64{0, .1, .25, .5, .75, .9, .95, .99, .999, 1} {
		got := h.Quantile(q)
		rank := max(int(q*float64(len(ds))+0.5)-1, 0)
		want := ds[min(rank, len(ds)-1)]
		if diff := (got - want).Abs(); diff > want/500+hist.Lowest {
			t.Errorf("Quantile(%v) = %v, want %v within 0.2 %%", q, got, want)
		}
		if got < last {
			t.Errorf("Quantile(%v) = %v is below the quantile before it, %v", q, got, last)
		}
		last = got
	}
	if h.Min() != ds[0] || h.Max() != ds[len(ds)-1] {
		t.Errorf("Min, Max = %v, %v, want exactly %v, %v", h.Min(), h.Max(), ds[0], ds[len(ds)-1])
	}
}

func TestMergeEqualsRecordingTogether(t *testing.T) {
	a, b := latencies(1, 5000), latencies(2, 7000)
	merged := recorded(a)
	merged.Merge(recorded(b))
	merged.Merge(hist.New())
	together := recorded(slices.Concat(a, b))
	if merged.Count() != together.Count() || merged.Min() != together.Min() || merged.Max() != together.Max() {
		t.Errorf("merged count, min, max = %d, %v, %v, want %d, %v, %v", merged.Count(), merged.Min(),
			merged.Max(), together.Count(), together.Min(), together.Max())
	}
	if merged.Mean() != together.Mean() || merged.StdDev() != together.StdDev() {
		t.Errorf("merged mean, stddev = %v, %v, want %v, %v", merged.Mean(), merged.StdDev(), together.Mean(), together.StdDev())
	}
	for q := 0.0; q <= 1; q += 0.01 {
		if got, want := merged.Quantile(q), together.Quantile(q); got != want {
			t.Fatalf("merged Quantile(%v) = %v, want %v", q, got, want)
		}
	}
}

func TestBeyondTheHighestIsCountedAndItsMaximumKept(t *testing.T) {
	h := recorded([]time.Duration{-time.Second, time.Millisecond, 2 * time.Minute})
	if h.Count() != 3 || h.Beyond() != 1 || h.Min() != 0 || h.Max() != 2*time.Minute {
		t.Errorf("count, beyond, min, max = %d, %d, %v, %v, want 3, 1, 0, 2m", h.Count(), h.Beyond(), h.Min(), h.Max())
	}
	h.Reset()
	if h.Count() != 0 || h.Max() != 0 || h.Quantile(.5) != 0 || h.Mean() != 0 || h.StdDev() != 0 {
		t.Error("a reset histogram is not empty")
	}
}

func TestBucketsSumToTheCount(t *testing.T) {
	h := recorded(latencies(3, 10_000))
	var sum int64
	last := time.Duration(-1)
	for edge, n := range h.Buckets() {
		if edge <= last {
			t.Fatalf("bucket edge %v after %v", edge, last)
		}
		last = edge
		sum += n
	}
	if sum != h.Count() {
		t.Errorf("buckets sum to %d, want %d", sum, h.Count())
	}
}

func TestLogRoundTrip(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	var log bytes.Buffer
	w, err := hist.NewLogWriter(&log, start)
	if err != nil {
		t.Fatal(err)
	}
	total := hist.New()
	for i := range 5 {
		h := recorded(latencies(uint64(i), 1000))
		total.Merge(h)
		at := start.Add(time.Duration(i) * time.Second)
		if err := w.Write(hist.Service, at, at.Add(time.Second), h); err != nil {
			t.Fatal(err)
		}
	}
	whole := bytes.Clone(log.Bytes())
	got := hist.New()
	seconds := int64(0)
	err = hist.ReadLog(&log, func(i hist.Interval) {
		if i.Tag != hist.Service || i.Start.Unix() != start.Unix()+seconds || i.End.Sub(i.Start) != time.Second {
			t.Errorf("interval %q from %v to %v, want second %d", i.Tag, i.Start, i.End, seconds)
		}
		seconds++
		got.Merge(i.Histogram)
	})
	if err != nil || got.Count() != total.Count() {
		t.Fatalf("read %d latencies, error %v; want %d", got.Count(), err, total.Count())
	}
	for _, q := range []float64{.1, .5, .99, .999} {
		if (got.Quantile(q) - total.Quantile(q)).Abs() > total.Quantile(q)/500 {
			t.Errorf("Quantile(%v) = %v after the round trip, want %v", q, got.Quantile(q), total.Quantile(q))
		}
	}
	n := 0
	err = hist.ReadLog(bytes.NewReader(whole[:len(whole)-9]), func(hist.Interval) { n++ })
	var bad *hist.LogError
	if !errors.As(err, &bad) || bad.Line != 9 || n != 4 {
		t.Errorf("a cut log gave %d intervals and %v, want 4 and an error at line 9", n, err)
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add([]byte("#[StartTime: 1 (seconds since epoch)]\n0.1,1.0,2.0,HISTFAAAAEV42pNpmSz\n"))
	f.Add([]byte("Tag=service,1,1,1,x\n"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_ = hist.ReadLog(bytes.NewReader(data), func(hist.Interval) {})
	})
}
