//go:build linux

// Package monitor samples one process, or a process with all its descendants,
// and the machine under it, at whole intervals of wall clock, into the rows of
// package result.
//
// It reads /proc, decides nothing and keeps no row. A figure it cannot read is
// a gap, never a zero: one that went missing must not look like an idle
// machine. What is special about a sample stands in its note.
package monitor

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"

	"github.com/dbtester/dbtester/result"
)

// DefaultProcRoot is where Linux shows its processes.
const DefaultProcRoot = "/proc"

// stepNoted is the least difference between wall clock and monotonic clock
// over one interval that is called a step. Slewing is 0.5 ms per second at most.
const stepNoted = 20 * time.Millisecond

// Config says what to sample.
type Config struct {
	// ProcRoot is a folder like /proc, which is the default.
	ProcRoot string
	// PID is the process, at least 1.
	PID int
	// Tree adds all that descends from the process, and all of the process
	// group that it leads: a member. Without it the process stands alone.
	Tree bool
	// Device is a block device by its name in diskstats, such as "sda1"; its
	// figures are gaps if it is empty. See [DeviceOf].
	Device string
	// Interface is a network interface, such as "eth0"; its figures are gaps
	// if it is empty. See [InterfaceOf].
	Interface string
	// Interval of [Monitor.Run]; [DefaultInterval] if 0. See [CheckInterval].
	Interval time.Duration
}

// A Monitor samples one process. It is not safe for concurrent use, and must
// be closed.
type Monitor struct {
	config   Config
	source   *source
	machine  machineFiles
	tree     *tree
	sockets  *socketDump
	cores    coreTicks
	blank    result.SystemRow // all gaps
	notes    []string         // of the sample that is being made
	before   counterReadings
	now      counterReadings
	lastMain int           // process id of the last sample; 0 before
	lastCPU  time.Duration // of the tree; negative if it was not known
	lastAt   time.Time     // on the monotonic clock; zero before the first sample
	lastWall time.Time
	missing  map[string]bool
}

// New returns a monitor. It reads no figure yet, and does not mind if the
// process is gone: its figures are gaps then.
func New(c Config) (*Monitor, error) {
	if c.PID < 1 {
		return nil, fmt.Errorf("monitor process %d: want a process id", c.PID)
	}
	c.ProcRoot = cmp.Or(c.ProcRoot, DefaultProcRoot)
	c.Interval = cmp.Or(c.Interval, DefaultInterval)
	if err := CheckInterval(c.Interval); err != nil {
		return nil, err
	}
	if _, _, err := openProc(c.ProcRoot); err != nil {
		return nil, err
	}
	real := filepath.Clean(c.ProcRoot) == DefaultProcRoot
	clock := statClock
	m := &Monitor{
		config: c, source: &source{root: c.ProcRoot, keep: real},
		blank: result.UnknownRow[result.SystemRow](), lastCPU: -1, missing: map[string]bool{},
	}
	if real {
		clock = kernelClock
		m.sockets = &socketDump{}
	}
	m.machine = newMachineFiles(m.source)
	m.tree = newTree(c.PID, c.Tree, clock)
	return m, nil
}

// Close closes the files that the monitor keeps open.
func (m *Monitor) Close() {
	m.machine.close()
	m.tree.close()
	if m.sockets != nil {
		m.sockets.close()
	}
}

// openProc opens a folder like /proc for both halves of procfs.
func openProc(root string) (procfs.FS, blockdevice.FS, error) {
	proc, err := procfs.NewFS(root)
	if err != nil {
		return procfs.FS{}, blockdevice.FS{}, fmt.Errorf("open proc file system: %w", err)
	}
	// Only diskstats is read, so the second folder, /sys, is not needed.
	block, err := blockdevice.NewFS(root, root)
	if err != nil {
		return procfs.FS{}, blockdevice.FS{}, fmt.Errorf("open proc file system: %w", err)
	}
	return proc, block, nil
}

// Sample reads all figures. Its rates and deltas refer to the sample before;
// now is the moment of this one.
func (m *Monitor) Sample(now time.Time) result.SystemRow {
	row := m.blank
	row.UnixNanosecond = now.UnixNano()
	row.UnixSecond = now.Unix()
	row.PID = m.config.PID
	row.Device = m.config.Device
	row.Interface = m.config.Interface
	m.notes = m.notes[:0]
	elapsed := m.readClock(&row, now)
	forks := m.readCores(&row, elapsed)
	m.readProcess(&row, now, elapsed, forks)
	m.readLoad(&row)
	m.readDevice(&row, elapsed)
	m.readInterface(&row)
	m.readSockets(&row, now)
	m.readPressure(&row)
	m.readMemory(&row)
	row.Note = strings.Join(m.notes, "; ")
	m.before, m.now = m.now, counterReadings{}
	m.lastAt, m.lastWall = now, now.Round(0)
	return row
}

// note adds a remark to the sample that is being made.
func (m *Monitor) note(format string, args ...any) {
	m.notes = append(m.notes, printable(fmt.Sprintf(format, args...)))
}

// readClock fills how long ago the last sample was, and tells of samples that
// are missing between and of a clock that was set.
func (m *Monitor) readClock(row *result.SystemRow, now time.Time) (elapsed time.Duration) {
	if m.lastAt.IsZero() {
		return 0
	}
	elapsed = now.Sub(m.lastAt)
	row.Interval = result.Number(elapsed.Seconds())
	if step := now.Round(0).Sub(m.lastWall) - elapsed; step.Abs() >= stepNoted {
		m.note("clock stepped %+.3f s", step.Seconds())
	}
	switch missed := int64((elapsed+m.config.Interval/2)/m.config.Interval) - 1; {
	case missed == 1:
		m.note("1 sample missed")
	case missed > 1:
		m.note("%d samples missed", missed)
	}
	return elapsed
}

// there tells when something sampled goes and comes back.
func (m *Monitor) there(what string, found bool) bool {
	if found == m.missing[what] {
		m.missing[what] = !found
		if found {
			m.note("%s back", what)
		} else {
			m.note("%s gone", what)
		}
	}
	return found
}

// readProcess fills the figures of the process and its tree, or leaves all of
// them gaps if it has ended.
func (m *Monitor) readProcess(row *result.SystemRow, now time.Time, elapsed time.Duration, forks uint64) {
	f := m.tree.read(m.source, now, forks)
	if f.main == nil {
		if m.lastMain != 0 {
			m.note("process %d ended", m.lastMain)
		}
		m.lastMain, m.lastCPU = 0, -1
		return
	}
	if m.lastMain != 0 && m.lastMain != f.main.pid {
		m.note("process %d ended, its group goes on as %d", m.lastMain, f.main.pid)
	}
	m.lastMain = f.main.pid
	row.PID, row.Program, row.State = f.main.pid, printable(f.main.name), string(f.main.state)
	row.Processes = result.Number(f.count)
	row.CPUSeconds = result.Number(f.total.cpu.Seconds())
	if m.lastCPU >= 0 {
		row.CPU = usage(f.total.cpu-m.lastCPU, elapsed)
	}
	m.lastCPU = f.total.cpu
	row.Threads, row.VMSize = result.Number(f.threads), result.Number(f.virtual)
	if f.resident > 0 {
		row.VMRSS = result.Number(f.resident)
	}
	if f.filesKnown {
		row.FD = result.Number(f.openFiles)
	}
	m.countProcess(row, f)
}

func (m *Monitor) countProcess(row *result.SystemRow, f treeFigures) {
	row.MinorFaults, row.MajorFaults = result.Number(f.total.minor), result.Number(f.total.major)
	row.MinorFaultsDelta = m.count(minorFaults, f.total.minor)
	row.MajorFaultsDelta = m.count(majorFaults, f.total.major)
	if f.switchesKnown {
		row.VoluntaryCtxt, row.NonVoluntaryCtxt = result.Number(f.total.voluntary), result.Number(f.total.involuntary)
		row.VoluntaryCtxtDelta = m.count(voluntarySwitches, f.total.voluntary)
		row.NonVoluntaryCtxtDelta = m.count(involuntarySwitches, f.total.involuntary)
	}
	if f.ioKnown {
		row.ProcessReadBytes, row.ProcessWriteBytes = result.Number(f.total.read), result.Number(f.total.written)
		row.ProcessReadBytesDelta = m.count(processRead, f.total.read)
		row.ProcessWriteBytesDelta = m.count(processWritten, f.total.written)
	}
}
