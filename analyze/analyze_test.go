package analyze_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dbtester/dbtester/analyze"
	"github.com/dbtester/dbtester/result"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// run analyses folders and fails the test on an error.
func run(t *testing.T, out string, folders ...string) *analyze.Report {
	t.Helper()
	report, err := analyze.Run(t.Context(), analyze.Options{Folders: folders, Out: out})
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return report
}

// wantFigures compares rows of a column with what arithmetic says.
func wantFigures(t *testing.T, dir, column string, want map[string]float64) {
	t.Helper()
	rows := aggregated(t, dir)
	for name, w := range want {
		got, err := strconv.ParseFloat(rows[name][column], 64)
		if err != nil || math.Abs(got-w) > 1e-9*math.Max(1, math.Abs(w)) {
			t.Errorf("%s = %q, want %v", name, rows[name][column], w)
		}
	}
}

func wantWarning(t *testing.T, report *analyze.Report, part string) {
	t.Helper()
	for _, w := range report.Warnings {
		if strings.Contains(w.Error(), part) {
			return
		}
	}
	t.Errorf("no warning contains %q; there are %v", part, report.Warnings)
}

func TestEveryPublishedRowIsWhatTheArithmeticSays(t *testing.T) {
	f := newFixture("etcd-v3.6")
	f.failed, f.unknown = 5, 2
	dir := write(t, t.TempDir(), f)
	report := run(t, "", dir)
	if len(report.Warnings) > 0 {
		t.Errorf("warnings = %v, want none", report.Warnings)
	}
	// Seconds 0 to 10 answer 40, 1100, 1200, 1300, 1400, 1000, … requests; 0 and 10 are partly load.
	const ok = 40 + 1100 + 1200 + 1300 + 1400 + 1000 + 1100 + 1200 + 1300 + 1400 + 1000
	wantFigures(t, dir, "etcd-v3.6", map[string]float64{
		result.RowTotalSeconds:   10.25,
		result.RowTotalRequests:  ok + 7,
		result.RowMaxThroughput:  1400,
		result.RowAvgThroughput:  ok / 10.25,
		result.RowMinThroughput:  1000, // in second 5, not the 40 of second 0
		result.RowFastestLatency: 1,
		result.RowAvgLatency:     (2.0*ok + 11*(-1+9)) / ok,
		result.RowSlowestLatency: 11,
		result.RowServerReceive:  3 * 11 * rxRate,
		result.RowServerTransmit: 3 * 11 * txRate,
		result.RowClientReceive:  11 * clientRxRate,
		result.RowClientTransmit: 11 * clientTxRate,
		result.RowServerMaxCPU:   (100+200+300)/3.0 + 50,
		// The sample that covers second 10 is taken in second 11; its middle lies
		// behind the end of the load at 10.5 s, so second 9 counts.
		result.RowServerMaxMemory:      20e6 + 10e6,
		result.RowClientMaxCPU:         300,
		result.RowClientMaxMemory:      10e6,
		result.RowClientErrors:         7,
		result.RowServerReads:          3 * 11 * readRate,
		result.RowServerSectorsRead:    3 * 11 * sectorReadRate,
		result.RowServerWrites:         3 * 11 * writeRate,
		result.RowServerSectorsWritten: 3 * 11 * sectorsRate,
		result.RowServerDiskSpace:      200e6,
		result.RowFailed:               5,
		result.RowIndeterminate:        2,
		result.RowUnsent:               7,
		result.RowKeysCounted:          ok,
		result.RowKeysAcknowledged:     ok,
		result.RowClients:              100,
		result.RowConnections:          10,
	})
	wantPercentiles(t, dir, "etcd-v3.6", result.RowLatencyPrefix, map[string]float64{
		"p10": 2, "p25": 2, "p50": 2, "p75": 2, "p90": 2, "p95": 2, "p99": 2, "p99.9": 2,
	})
	wantPercentiles(t, dir, "etcd-v3.6", result.RowResponsePrefix, map[string]float64{"p50": 2, "p99": 2, "p99.9": 2})
}

// wantPercentiles allows the 0.1 % that a histogram bucket is wide.
func wantPercentiles(t *testing.T, dir, column, prefix string, want map[string]float64) {
	t.Helper()
	rows := aggregated(t, dir)
	for p, w := range want {
		got, err := strconv.ParseFloat(rows[prefix+p][column], 64)
		if err != nil || math.Abs(got-w) > 0.001*w {
			t.Errorf("%s%s = %q, want %v", prefix, p, rows[prefix+p][column], w)
		}
	}
}

func TestTableIsDrawnLikeThePublishedOnes(t *testing.T) {
	plain, paced := newFixture("etcd-v3.6"), newFixture("zookeeper-r3.5.3-beta-java8-paced")
	paced.rate, paced.response, paced.clients = 2000, true, []int{1, 1000}
	paced.failed, paced.unknown = 1550, 808
	dir := write(t, t.TempDir(), plain, paced)
	report := run(t, "", dir)
	golden(t, "table.txt", report.Text)
	names := rowNames(report.Text)
	if got, want := strings.Join(names[:30], "\n"), strings.Join(publishedNames(t), "\n"); got != want {
		t.Errorf("first thirty rows:\n%s", cmp.Diff(want, got))
	}
}

// rowNames are the first cells of the table's rows.
func rowNames(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		if cells := strings.Split(line, "|"); len(cells) > 1 {
			names = append(names, strings.TrimSpace(cells[1]))
		}
	}
	return names[1:]
}

// publishedNames are the rows of a table published in 2018.
func publishedNames(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "published.txt"))
	must(t, err)
	return rowNames(string(data))
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); -update rewrites it:\n%s", path, diff)
	}
}

func TestMembersOnOneMachineCountItsDeviceAndInterfaceOnce(t *testing.T) {
	f := newFixture("etcd")
	f.machine = func(int) string { return "one" }
	f.client = "one"
	dir := write(t, t.TempDir(), f)
	report := run(t, "", dir)
	wantFigures(t, dir, "etcd", map[string]float64{
		result.RowServerReceive:        11 * rxRate,
		result.RowServerSectorsWritten: 11 * sectorsRate,
		result.RowServerMaxCPU:         250,
	})
	for _, part := range []string{
		"members 1, 2 and 3 share one machine: the operations of its device sda are counted once",
		"interface eth0 is counted once and includes that of the client",
	} {
		if !strings.Contains(report.Text, part) {
			t.Errorf("the text lacks %q:\n%s", part, report.Text)
		}
	}
}

// Hosts that are network namespaces have one disk between them, and each its
// own eth0.
func TestNamespacesOfOneMachineHaveInterfacesOfTheirOwn(t *testing.T) {
	f := newFixture("etcd")
	f.machine = func(int) string { return "one" }
	f.network = func(n int) string { return fmt.Sprint("network-", n) }
	f.client = "one"
	dir := write(t, t.TempDir(), f)
	report := run(t, "", dir)
	wantFigures(t, dir, "etcd", map[string]float64{
		result.RowServerReceive:        3 * 11 * rxRate,
		result.RowServerSectorsWritten: 11 * sectorsRate,
	})
	if strings.Contains(report.Text, "the traffic of its interface") {
		t.Errorf("the text says that the interface is shared:\n%s", report.Text)
	}
}

func TestTwoOfThreeMembersOnOneMachine(t *testing.T) {
	f := newFixture("etcd")
	f.machine = func(n int) string { return []string{"", "a", "b", "a"}[n] }
	dir := write(t, t.TempDir(), f)
	run(t, "", dir)
	wantFigures(t, dir, "etcd", map[string]float64{result.RowServerReceive: 2 * 11 * rxRate, result.RowServerWrites: 2 * 11 * writeRate})
}

func TestClockOffsetsAreTakenOutBeforeJoining(t *testing.T) {
	f := newFixture("etcd")
	f.offset = func(n int) time.Duration { return time.Duration(n) * 7 * time.Second }
	dir := write(t, t.TempDir(), f)
	report := run(t, "", dir)
	if len(report.Warnings) > 0 {
		t.Errorf("warnings = %v, want none", report.Warnings)
	}
	wantFigures(t, dir, "etcd", map[string]float64{
		result.RowServerReceive: 3 * 11 * rxRate,
		result.RowServerMaxCPU:  250, // the peaks of all three fall into second 4
	})
}

func TestCountersBridgeGapsInTheSamples(t *testing.T) {
	f := newFixture("etcd")
	f.skip = func(_, second int) bool { return second >= 2 && second <= 8 }
	dir := write(t, t.TempDir(), f)
	run(t, "", dir)
	wantFigures(t, dir, "etcd", map[string]float64{
		result.RowServerReceive: 3 * 11 * rxRate,
		result.RowServerWrites:  3 * 11 * writeRate,
		result.RowServerMaxCPU:  200, // the peak was not sampled, and is not made up
	})
	// In the chart the seconds without samples are a gap: one empty point, no zeros.
	empty := 0
	for _, record := range records(t, filepath.Join(dir, result.ChartPointsFile(result.ChartCPU)))[1:] {
		second, err := strconv.Atoi(record[1])
		must(t, err)
		switch {
		case record[2] == "":
			empty++
		case second > 1 && second < 9-1:
			t.Errorf("second %d has CPU %s, though nothing was sampled", second, record[2])
		}
	}
	if empty != 1 {
		t.Errorf("%d empty points, want one gap", empty)
	}
}

func TestMissingSamplesAtTheEndAreTold(t *testing.T) {
	f := newFixture("etcd")
	f.skip = func(n, second int) bool { return n == 2 && second > 5 }
	dir := write(t, t.TempDir(), f)
	report := run(t, "", dir)
	wantWarning(t, report, "the samples of member 2 leave 5.4 s of the measured window uncovered")
	wantWarning(t, report, "some members have no sample")
	wantFigures(t, dir, "etcd", map[string]float64{result.RowServerReceive: (2*11 + 5) * rxRate})
}

func TestLadderHasChartsByClientNumber(t *testing.T) {
	f := newFixture("etcd")
	f.length, f.clients = 4, []int{1, 10, 100}
	dir := write(t, t.TempDir(), f)
	run(t, "", dir)
	wantFigures(t, dir, "etcd", map[string]float64{
		result.RowTotalSeconds:         12,
		result.RowServerSectorsWritten: 3 * 13 * sectorsRate,
	})
	if got := aggregated(t, dir)[result.RowClients]["etcd"]; got != "1 10 100" {
		t.Errorf("clients = %q, want all steps", got)
	}
	got := records(t, filepath.Join(dir, result.ChartPointsFile(result.ChartThroughputByClients)))[1:]
	for i, stage := range f.stages() {
		want := float64(stage.OK) / 4
		if y, err := strconv.ParseFloat(got[i][2], 64); err != nil || math.Abs(y-want) > 1e-9 || got[i][1] != strconv.Itoa(stage.Clients) {
			t.Errorf("point %d = %v, want %d clients and %v req/sec", i, got[i], stage.Clients, want)
		}
	}
	// Four seconds of each stage at an even rate; the last one ends behind the last full rise.
	sectors := records(t, filepath.Join(dir, result.ChartPointsFile(result.ChartSectorsWrittenByClients)))[1:]
	if y, err := strconv.ParseFloat(sectors[1][2], 64); err != nil || math.Abs(y-3*4*sectorsRate) > 1e-6 {
		t.Errorf("sectors of stage 2 = %v, want %v", sectors[1], 3*4*sectorsRate)
	}
}

func TestSeveralFoldersGiveOneColumnPerDatabase(t *testing.T) {
	a, b := newFixture("etcd"), newFixture("consul")
	first := write(t, filepath.Join(t.TempDir(), "first"), a, b)
	second := write(t, filepath.Join(t.TempDir(), "second"), newFixture("etcd"))
	out := filepath.Join(t.TempDir(), "both")
	report := run(t, out, first, second, result.DatabaseDir(first, "consul"))
	want := []string{result.AggregatedNameColumn, result.AggregatedUnitColumn, "etcd@first", "consul@first", "etcd@second", "consul@first#2"}
	if diff := cmp.Diff(want, records(t, filepath.Join(out, result.AggregatedCSVFile))[0]); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	if report.Out != out {
		t.Errorf("Out = %q, want %q", report.Out, out)
	}
	if _, err := os.Stat(filepath.Join(first, result.ReportFile)); !errors.Is(err, os.ErrNotExist) {
		t.Error("an analysis with a folder of its own wrote into the results")
	}
}

func TestSeveralFoldersNeedNoOutputFolder(t *testing.T) {
	first := write(t, filepath.Join(t.TempDir(), "first"), newFixture("etcd"))
	t.Chdir(t.TempDir())
	report, err := analyze.Run(t.Context(), analyze.Options{Folders: []string{first, first}, Now: func() time.Time { return time.Unix(epoch, 0) }})
	must(t, err)
	if want := "analysis-20231114T221320Z"; report.Out != want {
		t.Errorf("Out = %q, want %q", report.Out, want)
	}
}

func TestAnalysingAgainReplacesTheDerivedFilesOnly(t *testing.T) {
	dir := write(t, t.TempDir(), newFixture("etcd"))
	before := snapshot(t, dir)
	run(t, "", dir)
	once := snapshot(t, dir)
	report := run(t, "", dir)
	if diff := cmp.Diff(once, snapshot(t, dir)); diff != "" {
		t.Errorf("the second analysis differs (-first +second):\n%s", diff)
	}
	for path, content := range before {
		if once[path] != content {
			t.Errorf("the analysis changed %s", path)
		}
	}
	if got, want := len(once), len(before)+len(report.Files); got != want {
		t.Errorf("%d files, want %d: nothing but what the report lists", got, want)
	}
}

// snapshot reads all files below dir.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	}))
	return files
}
