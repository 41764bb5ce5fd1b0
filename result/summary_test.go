package result_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbtester/dbtester/result"
)

var sampleSummary = result.Summary{
	TotalSeconds: 18.1562, RequestsPerSecond: 165233.5, SlowestLatency: result.Gap(), Attempted: 10, OK: 7, Failed: 2, Indeterminate: 1, Unsent: 3,
	Errors: []result.ErrorCount{
		{Message: `zk: "could not", connect`, Count: 2},
		{Message: "deadline exceeded", Indeterminate: true, Count: 1},
	},
}

func TestSummaryRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), result.SummaryFile)
	for range 2 { // the second time replaces the file
		if err := result.WriteSummary(path, sampleSummary); err != nil {
			t.Fatal(err)
		}
	}
	got, err := result.ReadSummary(path)
	if diff := cmp.Diff(sampleSummary, got, sameNumbers); err != nil || diff != "" {
		t.Errorf("error %v, the summary changed on the way (-want +got):\n%s", err, diff)
	}
}

func TestUnreadableSummariesNameThePlace(t *testing.T) {
	for text, want := range map[string]string{
		"TOTAL-SECONDS,1\nOK,many\n":    "s.csv:2: column OK",
		"TOTAL-SECONDS\n":               "s.csv:1",
		"ERROR: no quotes,1\n":          "s.csv:1: column ERROR: no quotes",
		"TOTAL-SECONDS,1\nERROR: \"a\"": "s.csv:2",
	} {
		_, err := result.ParseSummary(strings.NewReader(text), "s.csv")
		var syntax *result.SyntaxError
		if !errors.As(err, &syntax) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q gave %v, want %s", text, err, want)
		}
	}
	if _, err := result.ParseSummary(strings.NewReader("OF-A-LATER-VERSION,x\n"), "s.csv"); err != nil {
		t.Errorf("a line of a later version gave %v", err)
	}
}

func FuzzParseSummary(f *testing.F) {
	f.Add("TOTAL-SECONDS,1.5\nERROR: \"a\",2\n")
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = result.ParseSummary(strings.NewReader(text), "s.csv")
	})
}
