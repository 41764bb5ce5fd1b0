//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// peerReport is what etcd's benchmark tool printed of 100,000 puts of 1,000
// clients.
func peerReport(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "peer-put.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestParsePeer(t *testing.T) {
	got, err := parsePeer(peerReport(t))
	if err != nil {
		t.Fatal(err)
	}
	want := figures{
		Requests: 100_000, Throughput: 10252.497951562698, Average: 92_403_377,
		P50: 83_583_694, P90: 149_880_099, P99: 250_404_189, P999: 298_603_142,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := got.check(scenarios()[0]); err != nil {
		t.Errorf("check: %v", err)
	}
}

// What cannot be read is an error, never a figure of 0.
func TestParsePeerRefuses(t *testing.T) {
	const rate, average, p50 = "10252.497951562698", "Average:\t0.09240337749786011 secs.", "50% in 0.083583694 secs."
	tests := []struct{ name, old, new, want string }{
		{"no rate", "Requests/sec", "Requests per second", "no requests per second"},
		{"rate that is no number", rate, "NaN", `requests per second "NaN" is not a figure`},
		{"endless rate", rate, "+Inf", `"+Inf" is not a figure`},
		{"negative rate", rate, "-1", `"-1" is not a figure`},
		{"absurd rate", rate, "1e300", `"1e300" is not a figure`},
		{"rate with a unit", rate, "10k", `"10k" is not a figure`},
		{"no average", "Average", "Mean", "no average in the report"},
		{"average in another unit", average, "Average:\t92ms.", "no average in the report"},
		{"no median", p50, "", "no p50 in the report"},
		{"median that is no number", "0.083583694 secs", "? secs", `p50 "?" is not a figure`},
		{"no p99.9", "99.9% in", "99.99% in", "no p99.9 in the report"},
		{"failed requests", "\nLatency", "\nError distribution:\n  [3]\tetcdserver: too many requests\n\nLatency", "requests failed:   [3]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(peerReport(t), tt.old, tt.new, 1)
			got, err := parsePeer(text)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %+v, %v, want an error with %q", got, err, tt.want)
			}
			if got != (figures{}) {
				t.Errorf("got figures %+v beside the error", got)
			}
		})
	}
	if _, err := parsePeer(""); err == nil {
		t.Error("nothing: got no error")
	}
}

func FuzzParsePeer(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "peer-put.txt"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add("  Requests/sec:\t-0\n  Average:\t1e9 secs.\n  50% in NaN secs.\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parsePeer(text)
		if err == nil && (got.Throughput < 0 || got.Average < 0 || got.P50 < 0 || got.P999 < 0 || got.P50 > time.Duration(mostFigure*1e9)) {
			t.Errorf("got %+v of %q", got, text)
		}
	})
}
