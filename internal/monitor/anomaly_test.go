//go:build linux

package monitor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDifference(t *testing.T) {
	const top32, top64 = 1<<32 - 1, 1<<64 - 1
	tests := []struct {
		name        string
		now, before uint64
		bits        int
		step        uint64
		how         turn
	}{
		{"stands", 7, 7, 64, 0, rose},
		{"rises", 9, 7, 64, 2, rose},
		{"rises near the top", top64, top64 - 5, 64, 5, rose},
		{"wraps at 32 bits", 4, top32 - 5, 32, 10, wrapped},
		{"wraps at 64 bits", 4, top64 - 5, 64, 10, wrapped},
		{"rises over 32 bits, being wider", top32 + 5, top32 - 5, 64, 10, rose},
		{"is reset although near the top of 32 bits", 4, top32 - 5, 64, 0, fell},
		{"is reset", 4, 1 << 20, 32, 0, fell},
		{"falls a little", top32 - 9, top32 - 5, 32, 0, fell},
		{"falls a little, 64 bits", top64 - 9, top64 - 5, 64, 0, fell},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if step, how := difference(tt.now, tt.before, tt.bits); step != tt.step || how != tt.how {
				t.Errorf("difference(%d, %d) = %d, %v, want %d, %v", tt.now, tt.before, step, how, tt.step, tt.how)
			}
		})
	}
}

// TestDiskTimeWraps has the device busy across the 49th day of its counters.
func TestDiskTimeWraps(t *testing.T) {
	root := fixture(t)
	edit(t, root, "diskstats", " 0 1000 6000 9 3 174 8 0 0", " 0 4294967200 4294967000 9 3 174 8 0 0")
	m := newFixtureMonitor(t, root)
	m.Sample(second)
	edit(t, root, "diskstats", " 4294967200 4294967000 ", " 404 704 ")
	row := m.Sample(second.Add(time.Second))
	if row.DiskBusyTimeDelta != 500 || row.DiskQueueTimeDelta != 1000 || row.DiskUtilisation != 50 ||
		row.Note != "the counter of busy time of the disk wrapped; the counter of queue time of the disk wrapped" {
		t.Errorf("busy %v ms, queue %v ms, utilisation %v %%, note %q: want 500, 1000, 50 and the wraps",
			row.DiskBusyTimeDelta, row.DiskQueueTimeDelta, row.DiskUtilisation, row.Note)
	}
}

// TestDeviceAndInterfaceComeBack takes both away for a second. What they did
// meanwhile is not told as the work of one second.
func TestDeviceAndInterfaceComeBack(t *testing.T) {
	root := fixture(t)
	m := newFixtureMonitor(t, root)
	m.Sample(second)
	edit(t, root, "diskstats", "nvme0n1p2", "gone")
	edit(t, root, "net/dev", "eth0", "gone")
	m.Sample(second.Add(time.Second))
	edit(t, root, "diskstats", "gone 4000", "nvme0n1p2 9000")
	edit(t, root, "net/dev", "gone", "eth0")
	back := m.Sample(second.Add(2 * time.Second))
	if back.Note != "device nvme0n1p2 back; interface eth0 back" || back.ReadsCompletedDelta.Known() ||
		back.ReceiveBytesDelta.Known() || back.ReadsCompleted != 9000 {
		t.Errorf("back: note %q, reads %v, delta %v, received %v", back.Note, back.ReadsCompleted, back.ReadsCompletedDelta, back.ReceiveBytesDelta)
	}
	after := m.Sample(second.Add(3 * time.Second))
	if after.Note != "" || after.ReadsCompletedDelta != 0 || after.ReceiveBytesDelta != 0 {
		t.Errorf("after that: note %q, reads %v, received %v: want 0 and 0", after.Note, after.ReadsCompletedDelta, after.ReceiveBytesDelta)
	}
}

// TestClockAndMissedSamples takes samples at the given times of both clocks.
func TestClockAndMissedSamples(t *testing.T) {
	tests := []struct {
		name       string
		wall, mono time.Duration // since the sample before
		note       string
	}{
		{"on time", time.Second, time.Second, ""},
		{"slewed", time.Second, time.Second - 500*time.Microsecond, ""},
		{"forward", 4200 * time.Millisecond, time.Second, "clock stepped +3.200 s"},
		{"back", -2 * time.Second, time.Second, "clock stepped -3.000 s"},
		{"missed", 3 * time.Second, 3 * time.Second, "2 samples missed"},
		{"stopped and set", 5 * time.Second, 2 * time.Second, "clock stepped +3.000 s; 1 sample missed"},
		{"suspended", time.Hour, time.Second, "clock stepped +3599.000 s"},
		{"late", 1400 * time.Millisecond, 1400 * time.Millisecond, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newFixtureMonitor(t, fixture(t))
			synctest.Test(t, func(t *testing.T) {
				m.Sample(time.Now())
				<-time.After(tt.mono)
				// Time.Add moves both clocks; a Time whose wall clock was set
				// cannot be made, so the sample before is moved instead.
				now := time.Now()
				m.lastWall = m.lastWall.Add(tt.mono - tt.wall)
				row := m.Sample(now)
				if row.Note != tt.note {
					t.Errorf("note %q, want %q", row.Note, tt.note)
				}
				if want := tt.mono.Seconds(); float64(row.Interval) != want {
					t.Errorf("interval %v s, want %v", row.Interval, want)
				}
			})
		})
	}
}

// A fakeProcess is what the fixture shows of a process.
type fakeProcess struct {
	pid, parent, group int
	ticks, waited      int // own, and of children waited for
	children           string
	start              int
}

func (p fakeProcess) put(t *testing.T, root string) {
	t.Helper()
	task := fmt.Sprintf("%d/task/%d", p.pid, p.pid)
	if err := os.MkdirAll(filepath.Join(root, task), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, fmt.Sprint(p.pid), "fd"), 0o750); err != nil {
		t.Fatal(err)
	}
	write(t, root, fmt.Sprintf("%d/stat", p.pid), fmt.Sprintf(
		"%d (p%d) S %d %d %d 0 -1 0 10 0 1 0 %d 0 %d 0 20 0 1 0 %d 1000 5 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0",
		p.pid, p.pid, p.parent, p.group, p.group, p.ticks, p.waited, p.start))
	write(t, root, task+"/status", "voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t1\n")
	write(t, root, task+"/children", p.children)
	write(t, root, fmt.Sprintf("%d/io", p.pid), "read_bytes: 100\nwrite_bytes: 200\n")
}

// forked has the machine start a process more.
func forked(t *testing.T, root string, n int) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "stat"))
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(data), "processes ")
	write(t, root, "stat", head+fmt.Sprintf("processes %d\n", n))
}

func treeFixture(t *testing.T) (string, *Monitor) {
	t.Helper()
	root := fixture(t)
	m, err := New(Config{ProcRoot: root, PID: 100, Tree: true})
	if err != nil {
		t.Fatal(err)
	}
	return root, m
}

// TestTree follows a wrapper that starts a server, which starts a helper.
func TestTree(t *testing.T) {
	root, m := treeFixture(t)
	fakeProcess{pid: 100, parent: 1, group: 100, ticks: 10, start: 5, children: "101 "}.put(t, root)
	fakeProcess{pid: 101, parent: 100, group: 100, ticks: 200, start: 6, children: "102 103"}.put(t, root)
	fakeProcess{pid: 102, parent: 101, group: 102, ticks: 30, start: 7}.put(t, root) // a session of its own
	fakeProcess{pid: 900, parent: 1, group: 900, ticks: 9999, start: 5}.put(t, root) // not ours
	row := m.Sample(second)
	if row.Processes != 3 || row.CPUSeconds != 2.4 || row.PID != 100 || row.Threads != 3 || row.ProcessWriteBytes != 600 ||
		row.VoluntaryCtxt != 15 || row.MinorFaults != 30 {
		t.Fatalf("three processes: %+v", row)
	}

	fakeProcess{pid: 103, parent: 101, group: 100, ticks: 5, start: 8}.put(t, root)
	if row = m.Sample(second.Add(time.Second)); row.Processes != 3 {
		t.Errorf("%v processes although nothing was started on the machine", row.Processes)
	}
	forked(t, root, 60000)
	row = m.Sample(second.Add(2 * time.Second))
	if row.Processes != 4 || row.CPU != 5 {
		t.Errorf("a fourth: %v processes, CPU %v %%, want 4 and 5", row.Processes, row.CPU)
	}

	// The helper ends, its parent waits for it: nothing is counted twice.
	remove(t, root, "103")
	fakeProcess{pid: 101, parent: 100, group: 100, ticks: 200, waited: 5, start: 6, children: "102"}.put(t, root)
	row = m.Sample(second.Add(3 * time.Second))
	if row.Processes != 3 || row.CPU != 0 || row.CPUSeconds != 2.45 || row.VoluntaryCtxtDelta != 0 {
		t.Errorf("the fourth ended: %v processes, CPU %v %%, %v s, switches %v", row.Processes, row.CPU, row.CPUSeconds, row.VoluntaryCtxtDelta)
	}
}

// TestGroupGoesOn ends the process that was started. What it started goes on,
// also what it started in its last second, and what both used is kept.
func TestGroupGoesOn(t *testing.T) {
	root, m := treeFixture(t)
	fakeProcess{pid: 100, parent: 1, group: 100, ticks: 10, start: 5, children: "101"}.put(t, root)
	fakeProcess{pid: 101, parent: 100, group: 100, ticks: 200, start: 6}.put(t, root)
	m.Sample(second)
	remove(t, root, "100")
	fakeProcess{pid: 101, parent: 1, group: 100, ticks: 220, start: 6}.put(t, root)
	fakeProcess{pid: 105, parent: 1, group: 100, ticks: 10, start: 9}.put(t, root)
	row := m.Sample(second.Add(time.Second))
	if row.PID != 101 || row.Processes != 2 || row.CPU != 30 || row.CPUSeconds != 2.4 || row.Program != "p101" ||
		row.Note != "process 100 ended, its group goes on as 101" {
		t.Errorf("the group: process %d %s of %v, CPU %v %%, %v s, note %q", row.PID, row.Program, row.Processes, row.CPU, row.CPUSeconds, row.Note)
	}
	// Another process that is given the number of the first is not ours.
	fakeProcess{pid: 100, parent: 1, group: 100, ticks: 7000, start: 99}.put(t, root)
	forked(t, root, 60001)
	if row = m.Sample(second.Add(2 * time.Second)); row.PID != 101 || row.CPU != 0 || row.Note != "" {
		t.Errorf("its number given away: process %d, CPU %v %%, note %q", row.PID, row.CPU, row.Note)
	}
	remove(t, root, "101")
	remove(t, root, "105")
	if row = m.Sample(second.Add(3 * time.Second)); row.CPU.Known() || row.VMRSS.Known() || row.Note != "process 101 ended" {
		t.Errorf("all ended: CPU %v, memory %v, note %q: want gaps", row.CPU, row.VMRSS, row.Note)
	}
}

// TestAlone leaves the children of a process out that is sampled alone.
func TestAlone(t *testing.T) {
	root := fixture(t)
	fakeProcess{pid: 100, parent: 1, group: 100, ticks: 10, start: 5, children: "101"}.put(t, root)
	fakeProcess{pid: 101, parent: 100, group: 100, ticks: 200, start: 6}.put(t, root)
	m, err := New(Config{ProcRoot: root, PID: 100})
	if err != nil {
		t.Fatal(err)
	}
	if row := m.Sample(second); row.Processes != 1 || row.CPUSeconds != 0.1 {
		t.Errorf("%v processes, %v s, want 1 and 0.1", row.Processes, row.CPUSeconds)
	}
}

func TestCheckInterval(t *testing.T) {
	const ms = time.Millisecond
	var good []time.Duration
	for _, d := range []time.Duration{0, 99 * ms, 100 * ms, 125 * ms, 250 * ms, 300 * ms, 500 * ms, time.Second, 1500 * ms, 7 * time.Second, 10 * time.Second, 11 * time.Second, -time.Second} {
		if CheckInterval(d) == nil {
			good = append(good, d)
		}
	}
	want := []time.Duration{100 * ms, 125 * ms, 250 * ms, 500 * ms, time.Second, 7 * time.Second, 10 * time.Second}
	if diff := cmp.Diff(want, good); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func remove(t *testing.T, root, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(root, name)); err != nil {
		t.Fatal(err)
	}
}
