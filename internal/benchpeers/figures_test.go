//go:build linux

package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

// typicalSample is one of 100,000 puts of 1,000 clients.
func typicalSample() sample {
	return sample{
		figures: figures{
			Requests: 100_000, Throughput: 10_000, Average: 95 * time.Millisecond,
			P50: 90 * time.Millisecond, P90: 150 * time.Millisecond, P99: 250 * time.Millisecond, P999: 300 * time.Millisecond,
		},
		cpu: 4 * time.Second, memory: 125e6,
	}
}

func TestAbsurdFiguresAreRefused(t *testing.T) {
	s := scenarios()[0]
	if err := typicalSample().check(s); err != nil {
		t.Fatalf("a sample that can be true: %v", err)
	}
	tests := []struct {
		name   string
		change func(*sample)
		want   string
	}{
		{"requests missing", func(s *sample) { s.Requests-- }, "99999 requests were recorded, want 100000"},
		{"no throughput", func(s *sample) { s.Throughput = 0 }, "throughput is 0"},
		{"throughput is no number", func(s *sample) { s.Throughput = math.NaN() }, "throughput is NaN"},
		{"endless throughput", func(s *sample) { s.Throughput = math.Inf(1) }, "throughput is +Inf"},
		{"no average", func(s *sample) { s.Average = 0 }, "average 0s, want more than 0"},
		{"no median", func(s *sample) { s.P50 = 0 }, "p50 is 0s"},
		{"percentiles fall", func(s *sample) { s.P99 = time.Millisecond }, "want each at least the one before"},
		{"p99.9 missing", func(s *sample) { s.P999 = 0 }, "want each at least the one before"},
		{"longer than the load", func(s *sample) { s.P999 = time.Hour }, "want at most the 10m0s of a load"},
		{"seconds taken for milliseconds", func(s *sample) { s.Average *= 2 }, "÷ clients is 1.900, want at most 1"},
		{"no CPU", func(s *sample) { s.cpu = 0 }, "counted 0s of CPU"},
		{"no memory", func(s *sample) { s.memory = 0 }, "0 bytes of memory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := typicalSample()
			tt.change(&got)
			_, err := complete(s, "peer", got)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "peer: ") {
				t.Errorf("got %v, want an error of the peer with %q", err, tt.want)
			}
		})
	}
}

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7},
		{[]float64{3, 1}, 2},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 3, 2}, 2.5},
	} {
		if got := median(tt.values); got != tt.want {
			t.Errorf("%v: got %v, want %v", tt.values, got, tt.want)
		}
	}
	if got := median(nil); !math.IsNaN(got) {
		t.Errorf("no values: got %v, want no number", got)
	}
	values := []float64{3, 1, 2}
	if median(values); values[0] != 3 {
		t.Errorf("the values were sorted in place: %v", values)
	}
}

// A ratio shows on which side of its target it is.
func TestRatiosNearATargetHaveMoreDigits(t *testing.T) {
	atLeast, atMost := target{"≥", 1.05}, target{"≤", 0.9}
	tests := []struct {
		target target
		ratio  float64
		want   string
		met    bool
	}{
		{atLeast, 1.2, "1.20", true},
		{atLeast, 1.05, "1.050", true},
		{atLeast, 1.0512, "1.051", true},
		{atLeast, 1.0488, "1.049", false},
		{atLeast, 1.04996, "1.04996", false},
		{atLeast, 0.97, "0.97", false},
		{atMost, 0.5, "0.50", true},
		{atMost, 0.9, "0.900", true},
		{atMost, 0.904, "0.904", false},
		{atMost, 0.90004, "0.90004", false},
		{target{}, 0.90004, "0.90", false},
	}
	for _, tt := range tests {
		if got := tt.target.show(tt.ratio); got != tt.want {
			t.Errorf("%v %s %v: got %q, want %q", tt.ratio, tt.target.relation, tt.target.ratio, got, tt.want)
		}
		if tt.target.relation != "" && tt.target.met(tt.ratio) != tt.met {
			t.Errorf("%v %s %v: got met %v, want %v", tt.ratio, tt.target.relation, tt.target.ratio, !tt.met, tt.met)
		}
	}
}
