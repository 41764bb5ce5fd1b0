package analyze_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dbtester/dbtester/result"
)

// onSeconds are the samples of the fixture as an agent takes them now: on the
// second, with the figures that older ones lack.
func (f fixture) onSeconds(n int) []result.SystemRow {
	rows := f.sampled(n)
	for i := range rows {
		rows[i].UnixNanosecond -= int64(100 * time.Millisecond)
		if i == 0 {
			continue
		}
		rows[i].Interval = 1
		rows[i].DiskUtilisation, rows[i].StealCPU = 10*rows[i].ReadsCompletedDelta, 3
		rows[i].DiskReadTimeDelta, rows[i].DiskWriteTimeDelta = 40, 60
		rows[i].PressureIOSomeDelta = 20_000 * rows[i].ReadsCompletedDelta
		rows[i].TCPRetransmits, rows[i].TCPRetransmitsDelta = rows[i-1].TCPRetransmits+4, 4
	}
	return rows
}

// tenths divides each interval in ten, in which all counters rise evenly.
func tenths(rows []result.SystemRow) []result.SystemRow {
	fine := rows[:1:1]
	for i := 1; i < len(rows); i++ {
		before, row := rows[i-1], rows[i]
		for k := int64(1); k <= 10; k++ {
			part, share := row, result.Number(k)/10
			part.UnixNanosecond = before.UnixNanosecond + (row.UnixNanosecond-before.UnixNanosecond)*k/10
			part.UnixSecond = part.UnixNanosecond / 1e9
			part.Interval = row.Interval / 10
			between := func(b, r result.Number) result.Number { return b + (r-b)*share }
			part.ReceiveBytes = between(before.ReceiveBytes, row.ReceiveBytes)
			part.TransmitBytes = between(before.TransmitBytes, row.TransmitBytes)
			part.ReadsCompleted, part.WritesCompleted = between(before.ReadsCompleted, row.ReadsCompleted), between(before.WritesCompleted, row.WritesCompleted)
			part.SectorsRead, part.SectorsWritten = between(before.SectorsRead, row.SectorsRead), between(before.SectorsWritten, row.SectorsWritten)
			part.TCPRetransmits = between(before.TCPRetransmits, row.TCPRetransmits)
			for _, delta := range []*result.Number{
				&part.VoluntaryCtxtDelta, &part.ReadsCompletedDelta, &part.SectorsReadDelta, &part.WritesCompletedDelta,
				&part.SectorsWrittenDelta, &part.ReadBytesDelta, &part.WriteBytesDelta, &part.ReceiveBytesDelta, &part.TransmitBytesDelta,
				&part.DiskReadTimeDelta, &part.DiskWriteTimeDelta, &part.PressureIOSomeDelta, &part.TCPRetransmitsDelta,
			} {
				*delta /= 10
			}
			if k <= 5 { // as much CPU as the second had, but not evenly
				part.CPU *= 1.5
			} else {
				part.CPU *= 0.5
			}
			fine = append(fine, part)
		}
	}
	return fine
}

// writeSampled writes the fixture with other samples.
func writeSampled(t *testing.T, f fixture, sampled func(n int) []result.SystemRow) string {
	t.Helper()
	dir := write(t, t.TempDir(), f)
	for n := range 4 {
		path := filepath.Join(result.DatabaseDir(dir, f.name), result.ClientMetricsFile)
		if n > 0 {
			path = filepath.Join(result.DatabaseDir(dir, f.name), result.MemberMetricsFile(n))
		}
		must(t, os.Remove(path))
		must(t, result.WriteTable(path, sampled(n)))
	}
	return dir
}

// TestTableIsTheSameAtTenTimesTheSamples compares all that is computed.
func TestTableIsTheSameAtTenTimesTheSamples(t *testing.T) {
	f := newFixture("etcd")
	coarse := writeSampled(t, f, f.onSeconds)
	fine := writeSampled(t, f, func(n int) []result.SystemRow { return tenths(f.onSeconds(n)) })
	report := run(t, "", coarse)
	run(t, "", fine)
	for _, w := range report.Warnings {
		t.Error(w)
	}
	names := []string{result.AggregatedCSVFile, result.AggregatedTXTFile}
	for _, chart := range []string{result.ChartCPU, result.ChartMaxCPU, result.ChartWriteBytes, result.ChartReceiveBytes, result.ChartDiskUtilisation, result.ChartIOPressure, result.ChartRetransmits} {
		names = append(names, result.ChartPointsFile(chart))
	}
	for _, name := range names {
		if diff := cmp.Diff(rounded(t, filepath.Join(coarse, name)), rounded(t, filepath.Join(fine, name))); diff != "" {
			t.Errorf("%s (-each second +each 100 ms):\n%s", name, diff)
		}
	}
	wantFigures(t, coarse, "etcd", map[string]float64{
		result.RowServerDiskBusy: 20, result.RowServerSteal: 3, result.RowServerIOStall: 4,
		result.RowServerAwait: 100.0 / 52, result.RowServerRetransmits: 3 * 4 * 11,
	})
}

// rounded reads a CSV or a text; sums of tenths may differ in their last digits.
func rounded(t *testing.T, path string) []string {
	t.Helper()
	if filepath.Ext(path) != ".csv" {
		text, err := os.ReadFile(path)
		must(t, err)
		return []string{string(text)}
	}
	var cells []string
	for _, record := range records(t, path) {
		for _, cell := range record {
			var figure float64
			if n, err := fmt.Sscan(cell, &figure); n == 1 && err == nil {
				cell = fmt.Sprintf("%.6g", figure)
			}
			cells = append(cells, cell)
		}
	}
	return cells
}

// TestSampledEveryTenSeconds leaves nine of ten samples out: sums are as exact
// as before, and no second is called a gap.
func TestSampledEveryTenSeconds(t *testing.T) {
	f := newFixture("etcd")
	f.length = 60.25
	dir := writeSampled(t, f, func(n int) []result.SystemRow {
		var rows []result.SystemRow
		for i, row := range f.onSeconds(n) {
			if i%10 == 3 { // from second 0 on
				row.Interval *= 10
				rows = append(rows, row)
			}
		}
		return rows
	})
	report := run(t, "", dir)
	for _, w := range report.Warnings {
		t.Error(w)
	}
	wantFigures(t, dir, "etcd", map[string]float64{result.RowServerReceive: 3 * rxRate * 60})
}

// TestClockStepsAndWraps has the clock of member 2 set forward by a minute and
// back, and its disk's counter wrap: nothing is lost, and all of it is told.
func TestClockStepsAndWraps(t *testing.T) {
	f := newFixture("etcd")
	straight := writeSampled(t, f, f.onSeconds)
	bent := writeSampled(t, f, func(n int) []result.SystemRow {
		rows := f.onSeconds(n)
		for i := range rows {
			if n != 2 {
				continue
			}
			if i > 5 && i < 9 {
				rows[i].UnixNanosecond += int64(time.Minute)
			}
			if i == 6 {
				rows[i].Note = "clock stepped +60.000 s"
			}
			if i >= 7 {
				rows[i].SectorsWritten -= 10_000 // its delta is known all the same
			}
		}
		return rows
	})
	run(t, "", straight)
	report := run(t, "", bent)
	if diff := cmp.Diff(aggregated(t, straight), aggregated(t, bent)); diff != "" {
		t.Errorf("table (-straight +bent):\n%s", diff)
	}
	wantWarning(t, report, "samples of member 2: second 3: clock stepped +60.000 s")
	if len(report.Warnings) != 1 {
		t.Errorf("warnings = %v, want one", report.Warnings)
	}
}
