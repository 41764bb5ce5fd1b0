package exposition

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dbtester/dbtester/database"
)

func testFigures() []database.Figure {
	return []database.Figure{
		{Name: "pending", Kind: database.GaugeFigure},
		{Name: "applied_total", Kind: database.CounterFigure},
		{Name: "pause", Kind: database.SummaryFigure},
		{Name: "fsync", Kind: database.HistogramFigure},
	}
}

func TestRead(t *testing.T) {
	nan := math.NaN()
	untold := func(change func([]database.Reading)) []database.Reading {
		readings := []database.Reading{database.Untold(), database.Untold(), database.Untold(), database.Untold()}
		change(readings)
		return readings
	}
	tests := []struct {
		name, text string
		want       []database.Reading
	}{
		{"nothing", "", untold(func([]database.Reading) {})},
		{"other families", "# HELP pending x\npendings 7\nno_pending 3\nfsync 3\n\n", untold(func([]database.Reading) {})},
		{"a gauge", "pending 7\n", untold(func(r []database.Reading) { r[0].Value = 7 })},
		{"a gauge with a time", "pending\t-7.5e1 1712345\n", untold(func(r []database.Reading) { r[0].Value = -75 })},
		{"labels add up", "applied_total{op=\"a}\\\"\"} 7\napplied_total{op=\"b\"} 5\n", untold(func(r []database.Reading) { r[1].Value = 12 })},
		{"no value yet", "pending NaN\n", untold(func([]database.Reading) {})},
		{"no value adds nothing", "pending NaN\npending{a=\"b\"} 3\npending{a=\"c\"} NaN\n", untold(func(r []database.Reading) { r[0].Value = 3 })},
		{"a summary", "pause{quantile=\"0.5\"} 9\npause_sum 4\npause_count 2\n", untold(func(r []database.Reading) { r[2].Count, r[2].Sum = 2, 4 })},
		{
			"a histogram over peers, its edges in disorder",
			"fsync_bucket{To=\"a\",le=\"+Inf\"} 3\nfsync_bucket{To=\"a\",le=\"0.5\"} 1\n" +
				"fsync_bucket{To=\"b\", le=\"0.5\"} 2\nfsync_bucket{To=\"b\",le=\"+Inf\"} 5\nfsync_sum{To=\"a\"} 2\nfsync_sum{To=\"b\"} 3\nfsync_count{To=\"a\"} 3\n",
			untold(func(r []database.Reading) {
				r[3] = database.Reading{Value: nan, Count: 3, Sum: 5, Buckets: []database.Bucket{{Edge: 0.5, Count: 3}, {Edge: math.Inf(1), Count: 8}}}
			}),
		},
	}
	reader := NewReader(testFigures())
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := reader.Read(strings.NewReader(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"no number":             "pending seven\n",
		"no value":              "pending \n",
		"labels without an end": "pending{a=\"b} 7\n",
		"no edge":               "fsync_bucket{To=\"a\"} 7\n",
		"an edge of another":    "fsync_bucket{handle=\"3\"} 7\n",
		"a wrong edge":          "fsync_bucket{le=\"x\"} 7\n",
		"a half last line":      "pending 7",
		"an endless line":       strings.Repeat("x", maxLineBytes+1) + "\n",
	} {
		if got, err := NewReader(testFigures()).Read(strings.NewReader("applied_total 1\n" + text)); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%s: got %v, %v, want an error in line 2", name, got, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("pending 7\nfsync_bucket{To=\"a\",le=\"+Inf\"} 3\npause_sum{a=\"\\\"}\"} NaN 5\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := NewReader(testFigures()).Read(strings.NewReader(text))
		if err == nil && len(got) != len(testFigures()) {
			t.Errorf("%d readings", len(got))
		}
	})
}
