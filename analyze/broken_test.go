package analyze_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dbtester/dbtester/analyze"
	"github.com/dbtester/dbtester/result"
)

// killed is a run that control did not survive: nothing that is written after
// the load is there, and the manifest knows no stage.
func killed() fixture {
	f := newFixture("etcd")
	f.status, f.running = result.Running, true
	return f
}

func TestKilledRunIsReadFromWhatEachSecondLeft(t *testing.T) {
	f := killed()
	f.failed = 3
	dir := write(t, t.TempDir(), f)
	for _, name := range []string{result.TimeseriesFile, result.HistogramLogFile, result.MemberMetricsFile(1), result.ClientMetricsFile} {
		cutOff(t, filepath.Join(dir, "etcd", name), 5)
	}
	report := run(t, "", dir)
	wantWarning(t, report, "1-server-system-metrics.csv")
	wantWarning(t, report, "the line is cut off")
	wantWarning(t, report, "stage 1 is not in the manifest")
	const ok = 40 + 1100 + 1200 + 1300 + 1400 + 1000 + 1100 + 1200 + 1300 + 1400 // the last second was cut off
	wantFigures(t, dir, "etcd", map[string]float64{
		result.RowTotalSeconds:  10,
		result.RowTotalRequests: ok + 3,
		result.RowMinThroughput: 1000,
		result.RowMaxThroughput: 1400,
		result.RowAvgThroughput: ok / 10,
		result.RowServerReceive: 3 * 10 * rxRate,
		result.RowServerMaxCPU:  250,
		result.RowClientErrors:  3,
	})
	wantPercentiles(t, dir, "etcd", result.RowLatencyPrefix, map[string]float64{"p50": 2, "p99": 2})
	for _, part := range []string{
		"*** INCOMPLETE *** etcd: the run was killed or is still going",
		"etcd errors:\nnot itemised, there is no summary file: 3 failed, 0 indeterminate",
	} {
		if !strings.Contains(report.Text, part) {
			t.Errorf("the text lacks %q:\n%s", part, report.Text)
		}
	}
	if points := records(t, filepath.Join(dir, result.ChartPointsFile(result.ChartLatencyByKey))); len(points) != 11 {
		t.Errorf("%d points by key, want one per second of the time series", len(points)-1)
	}
}

func TestRunKilledBeforeTheManifestKnewItsMembers(t *testing.T) {
	dir := write(t, t.TempDir(), killed())
	m := manifest(killed())
	m.Databases[0].Members = nil
	must(t, m.Write(dir))
	report := run(t, "", dir)
	wantWarning(t, report, "the manifest does not list the members")
	wantFigures(t, dir, "etcd", map[string]float64{result.RowServerReceive: 3 * 11 * rxRate, result.RowServerMaxCPU: 250})
}

// cutOff removes the last n bytes of a file.
func cutOff(t *testing.T, path string, n int64) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	must(t, os.Truncate(path, info.Size()-n))
}

func TestBannerOfAnInterruptedRunStandsInEveryOutput(t *testing.T) {
	f := newFixture("etcd")
	f.status, f.reason = result.Partial, "interrupted by the user <Ctrl-C>"
	dir := write(t, t.TempDir(), f)
	run(t, "", dir)
	for name, want := range map[string]string{
		result.AggregatedTXTFile: "*** PARTIAL *** etcd: interrupted by the user <Ctrl-C>",
		result.ReadmeFile:        "> **PARTIAL etcd: interrupted by the user &lt;Ctrl-C&gt;**",
		result.ReportFile:        "*** PARTIAL *** etcd: interrupted by the user &lt;Ctrl-C&gt;",
	} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		if !strings.Contains(string(data), want) {
			t.Errorf("%s lacks %q", name, want)
		}
	}
}

func TestUnreadableFilesOfACompleteRun(t *testing.T) {
	// Each breaks one file; the error names the place and all else is written.
	for _, test := range []struct {
		name   string
		file   string
		change func(string) string
		want   string
	}{
		{"cut off", result.TimeseriesFile, func(s string) string { return s[:len(s)-3] }, ":12: column 53: the line is cut off"},
		{"no number", result.MemberMetricsFile(2), replaceLine(4, "1,2,3"), ":4: "},
		{"wrong cell", result.TimeseriesFile, replaceLine(3, "1700000001,many,1,2,11,1100,0,0,1,true,2,11,0,"), ":3: column CONTROL-CLIENT-NUM"},
		{"no header", result.ByKeyFile, replaceLine(1, "KEYS"), ":1: the header lacks the columns"},
		{"empty", result.ClientMetricsFile, func(string) string { return "" }, "the file is empty"},
		{"histogram", result.HistogramLogFile, replaceLine(8, "nonsense"), ":8: "},
		{"summary", result.SummaryFile, replaceLine(8, "OK,lots"), ":8: column OK"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture("etcd")
			dir := write(t, t.TempDir(), f)
			path := filepath.Join(dir, "etcd", test.file)
			data, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path, []byte(test.change(string(data))), 0o644))
			report, err := analyze.Run(t.Context(), analyze.Options{Folders: []string{dir}})
			if err == nil || !strings.Contains(err.Error(), path+test.want) && !strings.Contains(err.Error(), path+": "+test.want) {
				t.Fatalf("error = %v, want %s%s", err, path, test.want)
			}
			if _, ok := errors.AsType[*result.SyntaxError](err); !ok {
				t.Errorf("error %v holds no *result.SyntaxError", err)
			}
			if len(report.Files) != 19*2+4 {
				t.Errorf("%d files written, want all 42", len(report.Files))
			}
			html, readErr := os.ReadFile(filepath.Join(dir, result.ReportFile))
			must(t, readErr)
			if !strings.Contains(string(html), "Not everything could be read") {
				t.Error("the report does not tell")
			}
		})
	}
}

// replaceLine puts text in the place of line n, 1 for the first.
func replaceLine(n int, text string) func(string) string {
	return func(s string) string {
		lines := strings.SplitAfter(s, "\n")
		lines[n-1] = text + "\n"
		return strings.Join(lines, "")
	}
}

func TestReadingGoesOnAfterABadLine(t *testing.T) {
	dir := write(t, t.TempDir(), newFixture("etcd"))
	path := filepath.Join(dir, "etcd", result.TimeseriesFile)
	data, err := os.ReadFile(path)
	must(t, err)
	bad := replaceLine(6, "nonsense")(replaceLine(3, "1,2")(string(data)))
	must(t, os.WriteFile(path, []byte(bad), 0o644))
	report, err := analyze.Run(t.Context(), analyze.Options{Folders: []string{dir}})
	for _, place := range []string{path + ":3:", path + ":6:"} {
		if err == nil || !strings.Contains(err.Error(), place) {
			t.Errorf("error = %v, want one at %s", err, place)
		}
	}
	wantWarning(t, report, "the manifest counts 12040 ok requests, the time series 9540")
	wantWarning(t, report, "2 seconds inside the load stages have no row")
	wantFigures(t, dir, "etcd", map[string]float64{result.RowMaxThroughput: 1400, result.RowTotalRequests: 12040})
}

func TestFoldersThatAreNoResults(t *testing.T) {
	empty, file := t.TempDir(), filepath.Join(t.TempDir(), "x")
	must(t, os.WriteFile(file, nil, 0o644))
	broken := t.TempDir()
	must(t, os.WriteFile(filepath.Join(broken, result.ManifestFile), []byte("{\n  \"seed\": x\n}"), 0o644))
	for _, test := range []struct{ name, folder, want string }{
		{"missing", filepath.Join(empty, "nowhere"), "open result folder"},
		{"file", file, "is a file"},
		{"no manifest", empty, "is not a result folder: it has no manifest.json"},
		{"bad manifest", broken, "manifest.json:2: column 12"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := analyze.Run(t.Context(), analyze.Options{Folders: []string{test.folder}})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want %q", err, test.want)
			}
		})
	}
	if _, err := analyze.Run(t.Context(), analyze.Options{}); err == nil {
		t.Error("no folder at all is no error")
	}
}

func TestOneBadFolderDoesNotKeepTheOthersOut(t *testing.T) {
	good, out := write(t, t.TempDir(), newFixture("etcd")), t.TempDir()
	report, err := analyze.Run(t.Context(), analyze.Options{Folders: []string{t.TempDir(), good}, Out: out})
	if err == nil || len(report.Files) == 0 {
		t.Errorf("error = %v and %d files, want both an error and the files", err, len(report.Files))
	}
}

func TestDatabaseThatNeverRan(t *testing.T) {
	f, never := newFixture("etcd"), newFixture("consul")
	never.status, never.reason, never.running = result.Failed, "port in use", true
	dir := write(t, t.TempDir(), f, never)
	must(t, os.RemoveAll(result.DatabaseDir(dir, "consul")))
	report := run(t, "", dir)
	wantWarning(t, report, "consul has no folder: its run did not begin")

	must(t, os.Mkdir(result.DatabaseDir(dir, "consul"), 0o755))
	report = run(t, "", dir)
	if !strings.Contains(report.Text, "*** FAILED *** consul: port in use") || !strings.Contains(report.Text, " n/a |") {
		t.Errorf("the text does not show an empty column under a banner:\n%s", report.Text)
	}
}
