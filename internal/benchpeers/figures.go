//go:build linux

package main

import (
	"slices"
	"time"

	"github.com/dbtester/dbtester/internal/process"
)

// figures are what one load says of itself. Latencies are service times.
type figures struct {
	Requests   int64   // that succeeded, which is all of them
	Throughput float64 // requests per second
	Average    time.Duration
	P50        time.Duration
	P90        time.Duration
	P99        time.Duration
	P999       time.Duration
}

// A sample is one run of one side: what it says and what it cost.
type sample struct {
	figures
	cpu    time.Duration // user and system time of the process, from start to end
	memory int64         // its largest resident memory, bytes
}

func newSample(f figures, s process.State) sample {
	return sample{figures: f, cpu: s.User + s.System, memory: s.MaxRSS}
}

// A metric is one row of a table.
type metric struct {
	name   string
	format string
	of     func(scenario, sample) float64
	target target
}

// A target is what the ratio ours ÷ peer should be.
type target struct {
	relation string // "≥", "≤" or nothing
	ratio    float64
}

// Units of the metrics.
const (
	microsecond = float64(time.Microsecond)
	millisecond = float64(time.Millisecond)
	megabyte    = 1e6
)

// metrics returns the rows of every scenario's table.
func metrics() []metric {
	latency := func(of func(figures) time.Duration) func(scenario, sample) float64 {
		return func(_ scenario, s sample) float64 { return float64(of(s.figures)) / millisecond }
	}
	return []metric{
		{"throughput, requests/s", "%.0f", func(_ scenario, s sample) float64 { return s.Throughput }, target{"≥", 1.05}},
		{"client CPU, µs per request", "%.1f", func(_ scenario, s sample) float64 {
			return float64(s.cpu) / microsecond / float64(s.Requests)
		}, target{"≤", 0.9}},
		{"client peak memory, MB", "%.1f", func(_ scenario, s sample) float64 { return float64(s.memory) / megabyte }, target{"≤", 0.5}},
		{"service time p50, ms", "%.2f", latency(func(f figures) time.Duration { return f.P50 }), target{}},
		{"p90, ms", "%.2f", latency(func(f figures) time.Duration { return f.P90 }), target{}},
		{"p99, ms", "%.2f", latency(func(f figures) time.Duration { return f.P99 }), target{}},
		{"p99.9, ms", "%.2f", latency(func(f figures) time.Duration { return f.P999 }), target{}},
		{"average × throughput ÷ clients", "%.3f", func(sc scenario, s sample) float64 {
			return s.Average.Seconds() * s.Throughput / float64(sc.clients)
		}, target{}},
	}
}

// met reports whether the ratio is what the target wants.
func (t target) met(ratio float64) bool {
	if t.relation == "≥" {
		return ratio >= t.ratio
	}
	return ratio <= t.ratio
}

// median returns the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}
