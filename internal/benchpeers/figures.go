//go:build linux

package main

import (
	"errors"
	"fmt"
	"math"
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

// check returns what cannot be true of figures that are read from the output of
// a program. A mistake in the reading must not become a figure of a table.
func (f figures) check(s scenario) error {
	var wrong []error
	add := func(absurd bool, format string, args ...any) {
		if absurd {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	add(f.Requests != s.requests, "%d requests were recorded, want %d", f.Requests, s.requests)
	add(!(f.Throughput > 0) || math.IsInf(f.Throughput, 0), "throughput is %v requests per second", f.Throughput)
	latencies := []time.Duration{f.P50, f.P90, f.P99, f.P999}
	add(f.P50 <= 0 || f.Average <= 0, "service time p50 is %v and the average %v, want more than 0", f.P50, f.Average)
	add(!slices.IsSorted(latencies), "service times p50, p90, p99 and p99.9 are %v, want each at least the one before", latencies)
	add(f.P999 > loadTimeout || f.Average > loadTimeout, "service time p99.9 is %v and the average %v, want at most the %v of a load",
		f.P999, f.Average, loadTimeout)
	covered := f.covered(s)
	add(covered > 1+littleSlack, "average × throughput ÷ clients is %.3f, want at most 1 in a closed loop", covered)
	return errors.Join(wrong...)
}

// littleSlack is by how much rounding may take the share of Little's law above 1.
const littleSlack = 0.01

// covered is the share of the clients' time that the latencies cover, by
// Little's law.
func (f figures) covered(s scenario) float64 {
	return f.Average.Seconds() * f.Throughput / float64(s.clients)
}

// check returns what cannot be true of a sample.
func (s sample) check(of scenario) error {
	var cost error
	if s.cpu <= 0 || s.memory <= 0 {
		cost = fmt.Errorf("the kernel counted %v of CPU and %d bytes of memory, want more than 0", s.cpu, s.memory)
	}
	return errors.Join(s.figures.check(of), cost)
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
		{"average × throughput ÷ clients", "%.3f", func(sc scenario, s sample) float64 { return s.covered(sc) }, target{}},
	}
}

// met reports whether the ratio is what the target wants.
func (t target) met(ratio float64) bool {
	if t.relation == "≥" {
		return ratio >= t.ratio
	}
	return ratio <= t.ratio
}

// near is how close to its target a ratio gets a third digit.
const near = 0.05

// show returns the ratio with two digits, or with as many as it takes to see on
// which side of its target it is.
func (t target) show(ratio float64) string {
	digits := 2
	if t.relation != "" && math.Abs(ratio-t.ratio) < near {
		digits = 3
	}
	for ; digits < 6; digits++ {
		rounded := math.Round(ratio*math.Pow10(digits)) / math.Pow10(digits)
		if t.relation == "" || t.met(rounded) == t.met(ratio) {
			break
		}
	}
	return fmt.Sprintf("%.*f", digits, ratio)
}

// median returns the middle value, or the mean of the two in the middle; NaN of
// no values.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}
