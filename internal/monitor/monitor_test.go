//go:build linux

package monitor

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/dbtester/dbtester/result"
)

const fixturePID = 4242

var second = time.Unix(1_700_000_000, 0)

// fixture returns a private copy of the captured /proc.
func fixture(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "proc"))); err != nil {
		tb.Fatal(err)
	}
	return dir
}

func newFixtureMonitor(t *testing.T, root string) *Monitor {
	t.Helper()
	m, err := New(Config{ProcRoot: root, PID: fixturePID, Device: "nvme0n1p2", Interface: "eth0"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// edit replaces text in a file of the fixture.
func edit(t *testing.T, root, name, from, to string) {
	t.Helper()
	path := filepath.Join(root, name)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), from) {
		t.Fatalf("%s has no %q", name, from)
	}
	write(t, root, name, strings.ReplaceAll(string(data), from, to))
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func diffRows(want, got result.SystemRow) string {
	return cmp.Diff(want, got, cmp.Comparer(func(a, b result.Number) bool {
		return a.Known() == b.Known() && !(math.Abs(float64(a-b)) > 1e-9)
	}))
}

// firstRow is the fixture as it was captured.
func firstRow() result.SystemRow {
	row := gapRow()
	row.UnixNanosecond, row.UnixSecond = second.UnixNano(), second.Unix()
	row.PID, row.Program, row.State = fixturePID, "etcd (v3) x", "S"
	row.CPUSeconds = 2
	row.VMRSS, row.VMSize = 25600*1024, 1288490188
	row.FD, row.Threads = 4, 2
	row.VoluntaryCtxt, row.NonVoluntaryCtxt = 2100, 37
	row.LoadAverage1, row.LoadAverage5, row.LoadAverage15 = 0.52, 1.25, 2.75
	row.Device = "nvme0n1p2"
	row.ReadsCompleted, row.SectorsRead = 4000, 300000
	row.WritesCompleted, row.SectorsWritten = 8000, 800000
	row.Interface = "eth0"
	row.ReceiveBytes, row.TransmitBytes = 709559959, 4381745
	row.ReceivePackets, row.TransmitPackets = 52354, 39369
	return row
}

func TestFirstSample(t *testing.T) {
	got := newFixtureMonitor(t, fixture(t)).Sample(second)
	if diff := diffRows(firstRow(), got); diff != "" {
		t.Errorf("first sample (-want +got):\n%s", diff)
	}
}

func TestDeltas(t *testing.T) {
	root := fixture(t)
	m := newFixtureMonitor(t, root)
	m.Sample(second)
	edit(t, root, "4242/stat", " 150 50 0 0 20", " 250 75 0 0 20")
	edit(t, root, "4242/task/4243/status", "\t2000", "\t2050")
	edit(t, root, "4242/task/4242/status", "\t7", "\t9")
	edit(t, root, "diskstats", "nvme0n1p2 4000 10 300000 300 8000 900 800000", "nvme0n1p2 4001 10 300008 300 8010 900 800160")
	edit(t, root, "net/dev", "709559959   52354", "709560959   52364")
	edit(t, root, "net/dev", "4381745   39369", "4382245   39373")
	got := m.Sample(second.Add(2500 * time.Millisecond))

	want := firstRow()
	want.UnixNanosecond, want.UnixSecond = second.UnixNano()+2_500_000_000, second.Unix()+2
	want.CPU, want.CPUSeconds = 50, 3.25
	want.VoluntaryCtxt, want.VoluntaryCtxtDelta = 2150, 50
	want.NonVoluntaryCtxt, want.NonVoluntaryCtxtDelta = 39, 2
	want.ReadsCompleted, want.ReadsCompletedDelta = 4001, 1
	want.SectorsRead, want.SectorsReadDelta, want.ReadBytesDelta = 300008, 8, 4096
	want.WritesCompleted, want.WritesCompletedDelta = 8010, 10
	want.SectorsWritten, want.SectorsWrittenDelta, want.WriteBytesDelta = 800160, 160, 81920
	want.ReceiveBytes, want.ReceiveBytesDelta = 709560959, 1000
	want.ReceivePackets, want.ReceivePacketsDelta = 52364, 10
	want.TransmitBytes, want.TransmitBytesDelta = 4382245, 500
	want.TransmitPackets, want.TransmitPacketsDelta = 39373, 4
	if diff := diffRows(want, got); diff != "" {
		t.Errorf("second sample (-want +got):\n%s", diff)
	}
}

// TestGaps takes one source away at a time: its figures, and no others, are gaps.
func TestGaps(t *testing.T) {
	process := func(row *result.SystemRow) {
		gap := gapRow()
		row.Program, row.State = "", ""
		row.CPUSeconds, row.VMRSS, row.VMSize, row.FD, row.Threads = gap.CPU, gap.CPU, gap.CPU, gap.CPU, gap.CPU
		row.VoluntaryCtxt, row.NonVoluntaryCtxt = gap.CPU, gap.CPU
	}
	device := func(row *result.SystemRow) {
		gap := result.Gap()
		row.ReadsCompleted, row.SectorsRead, row.WritesCompleted, row.SectorsWritten = gap, gap, gap, gap
	}
	network := func(row *result.SystemRow) {
		gap := result.Gap()
		row.ReceiveBytes, row.TransmitBytes, row.ReceivePackets, row.TransmitPackets = gap, gap, gap, gap
	}
	remove := func(name string) func(t *testing.T, root string) {
		return func(t *testing.T, root string) {
			t.Helper()
			if err := os.RemoveAll(filepath.Join(root, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	change := func(name, from, to string) func(t *testing.T, root string) {
		return func(t *testing.T, root string) {
			t.Helper()
			edit(t, root, name, from, to)
		}
	}
	tests := []struct {
		name  string
		spoil func(t *testing.T, root string)
		want  func(row *result.SystemRow)
	}{
		{"process gone", remove("4242"), process},
		{"zombie", change("4242/stat", ") S ", ") Z "), process},
		{"another process with its number", change("4242/stat", " 987654 ", " 987655 "), process},
		{"stat cut off", change("4242/stat", " 150 50 0 0 20", " x"), process},
		{"no status", remove("4242/status"), func(row *result.SystemRow) { row.VMRSS = result.Gap() }},
		{"files of another user", remove("4242/fd"), func(row *result.SystemRow) { row.FD = result.Gap() }},
		{"no load", remove("loadavg"), func(row *result.SystemRow) {
			row.LoadAverage1, row.LoadAverage5, row.LoadAverage15 = result.Gap(), result.Gap(), result.Gap()
		}},
		{"no diskstats", remove("diskstats"), device},
		{"device gone", change("diskstats", "nvme0n1p2", "nvme0n1p3"), device},
		{"no net", remove("net"), network},
		{"interface gone", change("net/dev", "eth0", "eth1"), network},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := fixture(t)
			m := newFixtureMonitor(t, root)
			m.Sample(second)
			tt.spoil(t, root)
			got := m.Sample(second.Add(time.Second))
			want := firstRow()
			want.UnixNanosecond, want.UnixSecond = got.UnixNanosecond, got.UnixSecond
			want.CPU = 0
			setDeltas(&want, &want)
			tt.want(&want)
			cleared := want
			setDeltas(&cleared, &want) // a gap in a figure is a gap in its delta
			cleared.CPU = usage(want.CPUSeconds, want.CPUSeconds, time.Second)
			if diff := diffRows(cleared, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCounterReset(t *testing.T) {
	root := fixture(t)
	m := newFixtureMonitor(t, root)
	m.Sample(second)
	edit(t, root, "net/dev", "709559959", "12")
	row := m.Sample(second.Add(time.Second))
	if row.ReceiveBytesDelta.Known() || row.ReceiveBytes != 12 {
		t.Errorf("after a reset: %v, delta %v, want 12 and a gap", row.ReceiveBytes, row.ReceiveBytesDelta)
	}
	edit(t, root, "net/dev", " 12 ", " 30 ")
	if row := m.Sample(second.Add(2 * time.Second)); row.ReceiveBytesDelta != 18 {
		t.Errorf("the second after a reset: delta %v, want 18", row.ReceiveBytesDelta)
	}
}

func TestShortWindowHasNoRate(t *testing.T) {
	m := newFixtureMonitor(t, fixture(t))
	m.Sample(second)
	if row := m.Sample(second.Add(3 * time.Millisecond)); row.CPU.Known() {
		t.Errorf("CPU over 3 ms = %v, want a gap: a tick is 10 ms", row.CPU)
	}
}

func TestProgramStaysInItsLine(t *testing.T) {
	root := fixture(t)
	edit(t, root, "4242/stat", "etcd (v3) x", "a\nb\xff")
	row := newFixtureMonitor(t, root).Sample(second)
	if row.Program != "a?b?" {
		t.Errorf("Program = %q, want it without line end", row.Program)
	}
}

func TestNewErrors(t *testing.T) {
	for _, c := range []Config{{PID: 0}, {PID: -1}, {PID: 1, ProcRoot: "testdata/nowhere"}} {
		if _, err := New(c); err == nil {
			t.Errorf("New(%+v): want an error", c)
		}
	}
}

// TestOwnProcess samples the test itself and asks the kernel twice.
func TestOwnProcess(t *testing.T) {
	m, err := New(Config{PID: os.Getpid(), Interface: "lo"})
	if err != nil {
		t.Fatal(err)
	}
	before, first := usedCPU(t), m.Sample(time.Now())
	began := time.Now()
	for usedCPU(t)-before < 300*time.Millisecond {
		hashID("work")
	}
	row := m.Sample(time.Now())
	elapsed, used := time.Since(began), usedCPU(t)-before

	got := float64(row.CPUSeconds - first.CPUSeconds)
	if diff := got - used.Seconds(); diff > 0.015 || diff < -0.015 {
		t.Errorf("CPU-SECONDS grew by %.4f, getrusage says %.4f", got, used.Seconds())
	}
	if want := used.Seconds() / elapsed.Seconds() * 100; float64(row.CPU) < want*0.9 || float64(row.CPU) > want*1.1 {
		t.Errorf("CPU = %.1f %%, getrusage says %.1f %%", float64(row.CPU), want)
	}
	for name, n := range map[string]result.Number{
		"VMRSS": row.VMRSS, "VMSIZE": row.VMSize, "FD": row.FD, "THREADS": row.Threads, "VOLUNTARY": row.VoluntaryCtxt,
		"RECEIVE-BYTES-NUM": row.ReceiveBytes + 1,
	} {
		if !(n > 0) {
			t.Errorf("%s = %v of a running process", name, n)
		}
	}
	var self unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &self); err != nil {
		t.Fatal(err)
	}
	if got, want := int64(row.VoluntaryCtxt), self.Nvcsw; got > want || got < want/2 {
		t.Errorf("VOLUNTARY-CTXT-SWITCHES = %d, getrusage says %d", got, want)
	}
}

func usedCPU(t *testing.T) time.Duration {
	t.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
