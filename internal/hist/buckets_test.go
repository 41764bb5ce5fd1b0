package hist

import (
	"math"
	"testing"
)

func doubling(counts ...float64) Buckets {
	b := Buckets{Counts: counts}
	edge := 1.0
	for range counts[1:] {
		b.Edges = append(b.Edges, edge)
		edge *= 2
	}
	b.Edges = append(b.Edges, math.Inf(1))
	return b
}

func TestBucketsQuantile(t *testing.T) {
	tests := []struct {
		name    string
		buckets Buckets
		q, want float64
	}{
		{"nothing", Buckets{}, 0.5, math.NaN()},
		{"no events", doubling(0, 0, 0), 0.5, math.NaN()},
		{"the middle of the first bucket", doubling(100, 100, 100), 0.5, 0.5},
		{"between the first two", doubling(50, 100, 100), 0.5, 1},
		{"a quarter into the second", doubling(0, 100, 100), 0.25, 1.25},
		{"over empty buckets", doubling(10, 10, 10, 20, 20), 0.75, 6},
		{"all", doubling(10, 20, 20), 1, 2},
		{"least", doubling(0, 20, 20), 0, 0},
		{"beyond the last edge", doubling(0, 0, 10), 0.99, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.buckets.Quantile(tt.q)
			if got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
				t.Errorf("Quantile(%v) = %v, want %v", tt.q, got, tt.want)
			}
		})
	}
}

// TestBucketsQuantilesRise is the property that every consumer relies on.
func TestBucketsQuantilesRise(t *testing.T) {
	b := doubling(3, 3, 40, 41, 90, 90, 100)
	last := 0.0
	for q := 0.0; q <= 1; q += 0.01 {
		v := b.Quantile(q)
		if v < last {
			t.Fatalf("Quantile(%.2f) = %v, below %v", q, v, last)
		}
		last = v
	}
}

func TestBucketsSince(t *testing.T) {
	before := doubling(5, 10, 12)
	tests := []struct {
		name  string
		after Buckets
		want  []float64 // nil if it cannot be told
	}{
		{"grown", doubling(6, 20, 30), []float64{1, 10, 18}},
		{"the same", before, []float64{0, 0, 0}},
		{"begun anew", doubling(0, 1, 2), nil},
		{"begun anew and beyond in one bucket", doubling(1, 11, 20), nil},
		{"other edges", doubling(5, 10, 12, 14), nil},
		{"nothing", Buckets{}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := tt.after.Since(before)
			if ok != (tt.want != nil) {
				t.Fatalf("told %v, want %v", ok, tt.want != nil)
			}
			for i, want := range tt.want {
				if got.Counts[i] != want {
					t.Errorf("counts %v, want %v", got.Counts, tt.want)
				}
			}
		})
	}
}

// TestBucketsMerge compares merged members with the events counted together.
func TestBucketsMerge(t *testing.T) {
	sum := Buckets{}
	for _, b := range []Buckets{doubling(5, 10, 12), {}, doubling(1, 2, 3)} {
		var ok bool
		if sum, ok = sum.Merge(b); !ok {
			t.Fatal("cannot be merged")
		}
	}
	if want := doubling(6, 12, 15); sum.Quantile(0.9) != want.Quantile(0.9) || sum.Count() != 15 {
		t.Errorf("merged %v, want %v", sum, want)
	}
	if _, ok := sum.Merge(doubling(1, 2)); ok {
		t.Error("other edges were merged")
	}
}
