//go:build linux

package monitor

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
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

func newFixtureMonitor(tb testing.TB, root string) *Monitor {
	tb.Helper()
	m, err := New(Config{ProcRoot: root, PID: fixturePID, Tree: true, Device: "nvme0n1p2", Interface: "eth0"})
	if err != nil {
		tb.Fatal(err)
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
	row := result.UnknownRow[result.SystemRow]()
	row.UnixNanosecond, row.UnixSecond = second.UnixNano(), second.Unix()
	row.PID, row.Program, row.State, row.Processes = fixturePID, "etcd (v3) x", "S", 1
	row.CPUSeconds = 2
	row.VMRSS, row.VMSize = 25600*1024, 1288490188
	row.FD, row.Threads = 4, 2
	row.VoluntaryCtxt, row.NonVoluntaryCtxt = 2100, 37
	row.MinorFaults, row.MajorFaults = 5212, 3
	row.ProcessReadBytes, row.ProcessWriteBytes = 40960, 8192000
	row.LoadAverage1, row.LoadAverage5, row.LoadAverage15 = 0.52, 1.25, 2.75
	row.Device = "nvme0n1p2"
	row.ReadsCompleted, row.SectorsRead = 4000, 300000
	row.WritesCompleted, row.SectorsWritten = 8000, 800000
	row.DiskInFlight = 0
	row.Interface = "eth0"
	row.ReceiveBytes, row.TransmitBytes = 709559959, 4381745
	row.ReceivePackets, row.TransmitPackets = 52354, 39369
	row.SocketsInUse, row.SocketsOrphaned, row.SocketsTimeWait = 301, 19, 5
	row.TCPRetransmits = 77
	row.MemoryFree, row.MemoryAvailable, row.PageCache = 15381420<<10, 22724748<<10, 6993192<<10
	row.Dirty, row.Writeback = 5972<<10, 4<<10
	return row
}

// restedRow is the fixture sampled again after a second in which nothing moved.
func restedRow() result.SystemRow {
	row := firstRow()
	row.UnixNanosecond, row.UnixSecond = second.UnixNano()+1e9, second.Unix()+1
	row.Interval, row.CPU = 1, 0
	row.VoluntaryCtxtDelta, row.NonVoluntaryCtxtDelta = 0, 0
	row.MinorFaultsDelta, row.MajorFaultsDelta = 0, 0
	row.ProcessReadBytesDelta, row.ProcessWriteBytesDelta = 0, 0
	row.ReadsCompletedDelta, row.SectorsReadDelta, row.ReadBytesDelta = 0, 0, 0
	row.WritesCompletedDelta, row.SectorsWrittenDelta, row.WriteBytesDelta = 0, 0, 0
	row.DiskReadTimeDelta, row.DiskWriteTimeDelta, row.DiskBusyTimeDelta, row.DiskQueueTimeDelta = 0, 0, 0, 0
	row.DiskFlushesDelta, row.DiskFlushTimeDelta = 0, 0
	row.DiskUtilisation, row.DiskQueueLength = 0, 0
	row.ReceiveBytesDelta, row.TransmitBytesDelta, row.ReceivePacketsDelta, row.TransmitPacketsDelta = 0, 0, 0, 0
	row.TCPRetransmitsDelta = 0
	row.PressureCPUSomeDelta, row.PressureCPUFullDelta = 0, 0
	row.PressureIOSomeDelta, row.PressureIOFullDelta = 0, 0
	row.PressureMemorySomeDelta, row.PressureMemoryFullDelta = 0, 0
	row.MachineCPU, row.MaxCoreCPU, row.StealCPU, row.IOWaitCPU, row.CoreCPU = 0, 0, 0, 0, "0 0"
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
	edit(t, root, "4242/stat", " 5212 0 3 0 150 50 0 0 20", " 5300 0 5 0 200 40 0 0 20")
	edit(t, root, "4242/io", "read_bytes: 40960\nwrite_bytes: 8192000", "read_bytes: 45056\nwrite_bytes: 8196096")
	edit(t, root, "4242/task/4243/status", "\t2000", "\t2050")
	edit(t, root, "4242/task/4242/status", "\t7", "\t9")
	edit(t, root, "diskstats", "nvme0n1p2 4000 10 300000 300 8000 900 800000 4000 0 1000 6000 9 3 174 8 0 0",
		"nvme0n1p2 4001 10 300008 304 8009 900 800160 4016 5 1400 6800 9 3 174 8 3 12")
	edit(t, root, "net/dev", "709559959   52354", "709560959   52364")
	edit(t, root, "net/dev", "4381745   39369", "4382245   39373")
	edit(t, root, "net/snmp", " 77 0 12 0", " 80 0 12 0")
	edit(t, root, "pressure/io", "total=700000", "total=710000")
	edit(t, root, "pressure/memory", "total=90000", "total=90500")
	edit(t, root, "stat", "cpu  30000 10 10000 900000 500 20 300 70", "cpu  30080 10 10010 900080 505 20 310 75")
	edit(t, root, "stat", "cpu0 20000 10 6000 440000 300 10 200 40", "cpu0 20076 10 6010 440000 305 10 204 45")
	edit(t, root, "stat", "cpu1 10000 0 4000", "cpu1 10004 0 4000")
	got := m.Sample(second.Add(time.Second))

	want := restedRow()
	want.CPU, want.CPUSeconds = 40, 2.4
	want.MinorFaults, want.MinorFaultsDelta, want.MajorFaults, want.MajorFaultsDelta = 5300, 88, 5, 2
	want.ProcessReadBytes, want.ProcessReadBytesDelta = 45056, 4096
	want.ProcessWriteBytes, want.ProcessWriteBytesDelta = 8196096, 4096
	want.VoluntaryCtxt, want.VoluntaryCtxtDelta = 2150, 50
	want.NonVoluntaryCtxt, want.NonVoluntaryCtxtDelta = 39, 2
	want.ReadsCompleted, want.ReadsCompletedDelta = 4001, 1
	want.SectorsRead, want.SectorsReadDelta, want.ReadBytesDelta = 300008, 8, 4096
	want.WritesCompleted, want.WritesCompletedDelta = 8009, 9
	want.SectorsWritten, want.SectorsWrittenDelta, want.WriteBytesDelta = 800160, 160, 81920
	want.DiskInFlight, want.DiskReadTimeDelta, want.DiskWriteTimeDelta = 5, 4, 16
	want.DiskBusyTimeDelta, want.DiskQueueTimeDelta = 400, 800
	want.DiskFlushesDelta, want.DiskFlushTimeDelta = 3, 12
	want.DiskUtilisation, want.DiskQueueLength, want.DiskAwait = 40, 0.8, 2
	want.ReceiveBytes, want.ReceiveBytesDelta = 709560959, 1000
	want.ReceivePackets, want.ReceivePacketsDelta = 52364, 10
	want.TransmitBytes, want.TransmitBytesDelta = 4382245, 500
	want.TransmitPackets, want.TransmitPacketsDelta = 39373, 4
	want.TCPRetransmits, want.TCPRetransmitsDelta = 80, 3
	want.PressureIOSomeDelta, want.PressureMemoryFullDelta = 10000, 500
	want.MachineCPU, want.IOWaitCPU, want.StealCPU = 100, 5, 5
	want.MaxCoreCPU, want.CoreCPU = 90, "90 4"
	if diff := diffRows(want, got); diff != "" {
		t.Errorf("second sample (-want +got):\n%s", diff)
	}
}

// TestGaps takes one source away at a time: its figures, and no others, are
// gaps, and what was sampled before and is gone now has a note.
func TestGaps(t *testing.T) {
	without := func(name string) func(t *testing.T, root string) {
		return func(t *testing.T, root string) {
			t.Helper()
			remove(t, root, name)
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
		gone  string // columns that are gaps, and no others: a pattern
		note  string
	}{
		{"process gone", without("4242"), processColumns, "process 4242 ended"},
		{"zombie", change("4242/stat", ") S ", ") Z "), processColumns, "process 4242 ended"},
		{"another process with its number", change("4242/stat", " 987654 ", " 987655 "), processColumns, "process 4242 ended"},
		{"stat cut off", change("4242/stat", " 150 50 0 0 20", " x"), processColumns, "process 4242 ended"},
		{"files of another user", without("4242/fd"), "^FD$", ""},
		{"input and output of another user", without("4242/io"), "^PROCESS-(READ|WRITE)", ""},
		{"no load", without("loadavg"), "^LOAD", ""},
		{"no stat", without("stat"), "^(MACHINE|MAX-CORE|CORE|STEAL|IOWAIT)-CPU$", ""},
		{"no memory", without("meminfo"), "^(MEMORY|PAGE-CACHE|DIRTY|WRITEBACK)", ""},
		{"no pressure", without("pressure"), "^PRESSURE", ""},
		{"no full pressure of cpu", change("pressure/cpu", "full", "fool"), "^PRESSURE-CPU-FULL", ""},
		{"no diskstats", without("diskstats"), diskColumns, "device nvme0n1p2 gone"},
		{"device gone", change("diskstats", "nvme0n1p2", "nvme0n1p3"), diskColumns, "device nvme0n1p2 gone"},
		{"device of an old kernel", change("diskstats", " 6000 9 3 174 8 0 0", " 6000"), "^DISK-FLUSH", ""},
		{"no net", without("net"), "^(RECEIVE|TRANSMIT|SOCKETS|TCP)", "interface eth0 gone"},
		{"interface gone", change("net/dev", "eth0", "eth1"), "^(RECEIVE|TRANSMIT)", "interface eth0 gone"},
		{"no retransmits", change("net/snmp", "RetransSegs", "Others"), "^TCP", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := fixture(t)
			m := newFixtureMonitor(t, root)
			m.Sample(second)
			tt.spoil(t, root)
			want := restedRow()
			want.Note = tt.note
			spoil(&want, tt.gone)
			if diff := diffRows(want, m.Sample(second.Add(time.Second))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Columns of the process and of the device, as patterns.
const (
	processColumns = "^(PROGRAM|STATE|PROCESSES|PROCESS-.*|CPU|CPU-SECONDS|VMRSS-NUM|VMSIZE-NUM|FD|THREADS|.*CTXT.*|.*FAULTS.*)$"
	diskColumns    = "^(READS-COMPLETED|SECTORS|WRITES-COMPLETED|READ-BYTES|WRITE-BYTES|DISK)"
)

// spoil makes the columns that match gaps.
func spoil(row *result.SystemRow, columns string) {
	pattern := regexp.MustCompile(columns)
	value := reflect.ValueOf(row).Elem()
	for i := range value.NumField() {
		if !pattern.MatchString(value.Type().Field(i).Tag.Get("csv")) {
			continue
		}
		switch field := value.Field(i); field.Kind() {
		case reflect.Float64:
			field.SetFloat(math.NaN())
		case reflect.String:
			field.SetString("")
		default:
		}
	}
}

func TestCounterReset(t *testing.T) {
	root := fixture(t)
	m := newFixtureMonitor(t, root)
	m.Sample(second)
	edit(t, root, "net/dev", "709559959", "12")
	row := m.Sample(second.Add(time.Second))
	if row.ReceiveBytesDelta.Known() || row.ReceiveBytes != 12 || row.Note != "the counter of bytes received was reset" {
		t.Errorf("after a reset: %v, delta %v, note %q, want 12, a gap and a note", row.ReceiveBytes, row.ReceiveBytesDelta, row.Note)
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
	for _, c := range []Config{{PID: 0}, {PID: -1}, {PID: 1, ProcRoot: "testdata/nowhere"}, {PID: 1, Interval: 300 * time.Millisecond}} {
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
