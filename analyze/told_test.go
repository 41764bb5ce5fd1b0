package analyze_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dbtester/dbtester/result"
)

func toldFigures() []result.Figure {
	return []result.Figure{
		{Name: "fsync_seconds", Kind: result.FigureHistogram, Unit: "s", Meaning: result.MeaningLogSync},
		{Name: "commit_time", Kind: result.FigureSummary, Unit: "ms", Meaning: result.MeaningQuorumCommit},
		{Name: "pending", Kind: result.FigureGauge, Meaning: result.MeaningPending},
		{Name: "committed", Kind: result.FigureCounter, Meaning: result.MeaningCommittedIndex},
		{Name: "applied", Kind: result.FigureCounter, Meaning: result.MeaningAppliedIndex},
		{Name: "changes", Kind: result.FigureCounter, Meaning: result.MeaningLeaderChanges},
		{Name: "pause_ns", Kind: result.FigureCounter, Unit: "ns", Meaning: result.MeaningCollectionPause},
	}
}

// writeTold writes what member n tells at the times at which it is sampled. In
// each second of load it syncs its log 100·n times: half of them take 1.5 ms,
// half 6 ms, and 3.75 ms on average. Before the load ten syncs took 900 ms each.
// Commits take 2·n ms. In second 6 member 2 has 40 requests waiting and 7
// entries not applied; each member sees a change of leader in seconds 0 and 3, and
// stands for 3 ms in all. The ask at second 8 comes to nothing.
func (f fixture) writeTold(t *testing.T, path string, n int) {
	t.Helper()
	table, err := result.CreateFigures(path, toldFigures())
	must(t, err)
	for i, sample := range f.sampled(n) {
		second := i - 3
		row := result.FigureRow{UnixNanosecond: sample.UnixNanosecond, UnixSecond: sample.UnixSecond}
		for range toldFigures() {
			row.Values = append(row.Values, result.UnknownFigure())
		}
		if second != 8 {
			f.tell(row.Values, n, second)
		}
		must(t, table.Append(row))
	}
	must(t, table.Close())
}

func (f fixture) tell(values []result.FigureValue, n, second int) {
	loaded := float64(min(max(second, 0), f.seconds()))
	syncs := 100 * float64(n) * loaded
	fsync := &values[0]
	fsync.Count, fsync.Sum = result.Number(10+syncs), result.Number(9+0.00375*syncs)
	fsync.Buckets = result.Buckets{
		{Edge: 0.001, Count: 0},
		{Edge: 0.002, Count: syncs / 2},
		{Edge: 0.004, Count: syncs / 2},
		{Edge: 0.008, Count: syncs},
		{Edge: 1, Count: 10 + syncs},
		{Edge: math.Inf(1), Count: 10 + syncs},
	}
	values[1].Count, values[1].Sum = result.Number(loaded), result.Number(2*float64(n)*loaded)
	values[2].Value, values[3].Value, values[4].Value = 3, result.Number(1000*loaded), result.Number(1000*loaded)
	if n == 2 && second == 6 {
		values[2].Value, values[4].Value = 40, values[3].Value-7
	}
	values[5].Value = 1
	if second >= 1 {
		values[5].Value = 2 // in the second in which the load begins
	}
	if second >= 3 {
		values[5].Value = 3
	}
	values[6].Value = result.Number(1e6 * min(loaded, 3))
}

func TestToldFigures(t *testing.T) {
	f, silent := newFixture("etcd"), newFixture("memory")
	f.told = true
	dir := write(t, t.TempDir(), f, silent)
	report := run(t, "", dir)
	if len(report.Warnings) > 0 {
		t.Errorf("warnings = %v, want none", report.Warnings)
	}
	wantFigures(t, dir, "etcd", map[string]float64{
		result.RowServerLogSync: 3.75,
		// 98 % of the way through the events between 4 and 8 ms.
		result.RowServerLogSyncP99:      7.92,
		result.RowServerQuorumCommit:    4,
		result.RowServerMaxPending:      40,
		result.RowServerMaxApplyLag:     7,
		result.RowServerLeaderChanges:   1,
		result.RowServerCollectionPause: 9,
	})
	for name, figures := range aggregated(t, dir) {
		if strings.HasPrefix(name, "SERVER-LOG-SYNC") && figures["memory"] != "" {
			t.Errorf("%s of a store that tells nothing = %s, want a gap", name, figures["memory"])
		}
		if name == result.RowServerBackendCommit || name == result.RowServerSlowApplies {
			t.Errorf("there is a row %s, though no store tells it", name)
		}
	}
	if !strings.Contains(report.Text, "note: etcd: member 2 told nothing of itself at 1 of 10 asks while the load ran") {
		t.Errorf("no note of the gap in\n%s", report.Text)
	}
	if strings.Index(report.Text, result.RowServerLogSync) < strings.Index(report.Text, result.RowServerDiskSpace) {
		t.Error("the added rows do not stand below the published ones")
	}
	points := records(t, filepath.Join(dir, result.ChartPointsFile(result.ChartLogSyncP99)))[1:]
	for _, record := range points {
		second, err := strconv.Atoi(record[1])
		must(t, err)
		// The ask at second 8 would have covered second 7; the next covers both.
		want := "7.92"
		if record[0] != "etcd" {
			t.Errorf("%s has a point", record[0])
		}
		if record[2] == "" || !near(record[2], want) {
			t.Errorf("p99 in second %d is %q, want %s", second, record[2], want)
		}
	}
	if len(points) != 11 {
		t.Errorf("%d points, want one for each second of load", len(points))
	}
}

func near(got, want string) bool {
	a, errA := strconv.ParseFloat(got, 64)
	b, errB := strconv.ParseFloat(want, 64)
	return errors.Join(errA, errB) == nil && math.Abs(a-b) < 1e-9
}

// TestToldFiguresAreCutShort reads what a killed run left: half a line.
func TestToldFiguresAreCutShort(t *testing.T) {
	f := newFixture("etcd")
	f.told, f.status, f.reason = true, result.Partial, "interrupted"
	dir := write(t, t.TempDir(), f)
	path := filepath.Join(dir, "etcd", result.MemberFiguresFile(2))
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = file.WriteString("17000000200000")
	must(t, errors.Join(err, file.Close()))
	report := run(t, "", dir)
	wantWarning(t, report, filepath.Base(path)+":20: column 15: the line is cut off")
	wantFigures(t, dir, "etcd", map[string]float64{result.RowServerLogSync: 3.75})
}

// TestDriftingClocksAreTakenOutBeforeJoining has agents whose clocks are 3.4 s
// ahead and drift by 400 ppm, and joins samples and figures all the same.
func TestDriftingClocksAreTakenOutBeforeJoining(t *testing.T) {
	f := newFixture("etcd")
	f.told, f.drift = true, 400e-6
	f.offset = func(n int) time.Duration { return time.Duration(n) * 3400 * time.Millisecond }
	dir := write(t, t.TempDir(), f)
	report := run(t, "", dir)
	wantFigures(t, dir, "etcd", map[string]float64{
		result.RowServerReceive:    3 * 11 * rxRate,
		result.RowServerMaxCPU:     250, // the peaks of all three fall into second 4
		result.RowServerLogSyncP99: 7.92,
		result.RowServerMaxPending: 40,
	})
	const note = "note: CLOCK: drifting against the controller's"
	if !strings.Contains(report.Text, note) || !strings.Contains(report.Text, "member 1 by +10.000 ms in 25 s") {
		t.Errorf("no note of the drift in\n%s", report.Text)
	}
	for _, name := range []string{result.ReadmeFile, result.ReportFile} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		if !strings.Contains(string(text), "member 1 by ") {
			t.Errorf("%s does not tell of the drift", name)
		}
	}
}
