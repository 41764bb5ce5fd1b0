package result_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dbtester/dbtester/result"
)

// sameNumbers holds two gaps for the same.
var sameNumbers = cmp.Comparer(func(a, b result.Number) bool { return a == b || !a.Known() && !b.Known() })

var sampleRows = []result.TimeseriesRow{
	{
		UnixSecond: 1700000000, Clients: 10, MinLatency: 0.4388, AvgLatency: 4.2135, MaxLatency: 61.7597, Throughput: 165233,
		Failed: 1, Indeterminate: 2, Stage: 1, FullSecond: true, AvgResponseLatency: 4.25, MaxResponseLatency: 99,
	},
	{
		UnixSecond: 1700000001, Clients: 10, MinLatency: result.Gap(), AvgLatency: result.Gap(), MaxLatency: result.Gap(),
		Stage: 1, AvgResponseLatency: result.Gap(), MaxResponseLatency: result.Gap(),
	},
}

func TestRowsComeBackAsTheyWereWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), result.TimeseriesFile)
	if err := result.WriteTable(path, sampleRows); err != nil {
		t.Fatal(err)
	}
	got, err := result.ReadTable[result.TimeseriesRow](path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sampleRows, got, sameNumbers); diff != "" {
		t.Errorf("rows changed on the way (-want +got):\n%s", diff)
	}
}

// The published results are read by these names: none may be renamed or moved.
func TestPublishedColumnsStandFirst(t *testing.T) {
	for name, test := range map[string]struct {
		header []string
		want   string
	}{
		"timeseries":   {result.Header[result.TimeseriesRow](), "UNIX-SECOND,CONTROL-CLIENT-NUM,MIN-LATENCY-MS,AVG-LATENCY-MS,MAX-LATENCY-MS,AVG-THROUGHPUT"},
		"percentile":   {result.Header[result.PercentileRow](), "LATENCY-PERCENTILE,LATENCY-MS"},
		"distribution": {result.Header[result.DistributionRow](), "LATENCY-MS,COUNT"},
		"by key":       {result.Header[result.ByKeyRow](), "KEYS,MIN-LATENCY-MS,AVG-LATENCY-MS,MAX-LATENCY-MS"},
		"disk space":   {result.Header[result.DiskSpaceRow](), "INDEX,DATABASE-ENDPOINT,DISK-SPACE-USAGE,DISK-SPACE-USAGE-BYTES-NUM"},
	} {
		if got := strings.Join(test.header, ","); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: header %s, want it to begin with %s", name, got, test.want)
		}
	}
}

func TestEachRowIsOnDiskWhenAppendReturns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	table, err := result.CreateTable[result.TimeseriesRow](path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if err := table.Append(sampleRows[0]); err != nil {
			t.Fatal(err)
		}
		if got, err := result.ReadTable[result.TimeseriesRow](path); err != nil || len(got) != n+1 {
			t.Errorf("%d rows on disk after %d were appended, error %v", len(got), n+1, err)
		}
	}
	if _, err := result.CreateTable[result.TimeseriesRow](path); !errors.Is(err, os.ErrExist) {
		t.Errorf("creating the file again gave %v, want it refused", err)
	}
	if err := table.Close(); err != nil {
		t.Error(err)
	}
}

func TestUnreadableTablesNameThePlace(t *testing.T) {
	const header = "LATENCY-MS,COUNT\n"
	for name, test := range map[string]struct {
		text, want string
		rows       int
	}{
		"empty file":      {"", "x.csv: the file is empty", 0},
		"missing column":  {"LATENCY-MS\n1\n", `x.csv:1: the header lacks the columns ["COUNT"]`, 0},
		"not a number":    {header + "1,2\n1.5,many\n", "x.csv:3: column COUNT", 1},
		"not a latency":   {header + "fast,2\n", "x.csv:2: column LATENCY-MS", 0},
		"truncated line":  {header + "1,2\n2", "x.csv:3: column 1: wrong number of fields", 1},
		"unclosed quote":  {header + "1,2\n\"2,3\n", "x.csv:3", 1},
		"infinite figure": {header + "Inf,2\n", "x.csv:2: column LATENCY-MS", 0},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := result.ParseTable[result.DistributionRow](strings.NewReader(test.text), "x.csv")
			var syntax *result.SyntaxError
			if !errors.As(err, &syntax) || !strings.HasPrefix(err.Error(), test.want) || len(rows) != test.rows {
				t.Errorf("%d rows and %v; want %d rows and %s", len(rows), err, test.rows, test.want)
			}
		})
	}
}

func TestColumnsOfALaterVersionAreIgnored(t *testing.T) {
	rows, err := result.ParseTable[result.DistributionRow](strings.NewReader("NEW,LATENCY-MS,COUNT\nx,1.5,2\n"), "x.csv")
	if err != nil || len(rows) != 1 || rows[0].Count != 2 || rows[0].Latency != 1.5 {
		t.Errorf("rows = %v, error %v", rows, err)
	}
}

func TestPublishedFilesCanBeRead(t *testing.T) {
	const published = "UNIX-SECOND,CONTROL-CLIENT-NUM,MIN-LATENCY-MS,AVG-LATENCY-MS,MAX-LATENCY-MS,AVG-THROUGHPUT\n1493340000,1,0.9,1.1,3.5,880\n"
	rows, err := result.ParseTable[result.TimeseriesRow](strings.NewReader(published), "x.csv")
	if err != nil || len(rows) != 1 || rows[0].Throughput != 880 || rows[0].MaxResponseLatency.Known() {
		t.Errorf("rows %+v, error %v; want the one row, with gaps for what was not recorded", rows, err)
	}
}

func FuzzParseTable(f *testing.F) {
	f.Add("LATENCY-MS,COUNT\n1,2\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := result.ParseTable[result.DistributionRow](strings.NewReader(text), "x.csv")
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "x.csv")
		if err := result.WriteTable(path, rows); err != nil {
			t.Fatal(err)
		}
		again, err := result.ReadTable[result.DistributionRow](path)
		if diff := cmp.Diff(rows, again, sameNumbers, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("accepted rows did not come back: %v\n%s", err, diff)
		}
	})
}
