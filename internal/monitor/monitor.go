//go:build linux

// Package monitor samples one process and the machine under it, once per
// second of wall clock, into the rows of package result.
//
// It reads /proc, decides nothing and keeps no row. A figure it cannot read is
// a gap, never a zero: one that went missing must not look like an idle
// machine.
package monitor

import (
	"cmp"
	"fmt"
	"path/filepath"
	"time"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"

	"github.com/dbtester/dbtester/result"
)

// DefaultProcRoot is where Linux shows its processes.
const DefaultProcRoot = "/proc"

// Config says what to sample.
type Config struct {
	// ProcRoot is a folder like /proc, which is the default.
	ProcRoot string
	// PID is the process, at least 1.
	PID int
	// Device is a block device by its name in diskstats, such as "sda1"; its
	// figures are gaps if it is empty. See [DeviceOf].
	Device string
	// Interface is a network interface, such as "eth0"; its figures are gaps
	// if it is empty. See [InterfaceOf].
	Interface string
}

// A Monitor samples one process. It is not safe for concurrent use.
type Monitor struct {
	config   Config
	proc     procfs.FS
	block    blockdevice.FS
	cpu      cpuClock
	switches switchCounter
	// start tells the process from a later one with the same id; 0 until seen.
	start  uint64
	last   result.SystemRow
	lastAt time.Time
}

// New returns a monitor. It reads no figure yet, and does not mind if the
// process is gone: its figures are gaps then.
func New(c Config) (*Monitor, error) {
	if c.PID < 1 {
		return nil, fmt.Errorf("monitor process %d: want a process id", c.PID)
	}
	c.ProcRoot = cmp.Or(c.ProcRoot, DefaultProcRoot)
	proc, block, err := openProc(c.ProcRoot)
	if err != nil {
		return nil, err
	}
	m := &Monitor{config: c, proc: proc, block: block, last: gapRow(), switches: newSwitchCounter()}
	m.cpu = statClock
	if filepath.Clean(c.ProcRoot) == DefaultProcRoot {
		m.cpu = kernelClock
	}
	return m, nil
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

// Sample reads all figures. Its rate and deltas refer to the sample before;
// now is the moment of this one.
func (m *Monitor) Sample(now time.Time) result.SystemRow {
	row := gapRow()
	row.UnixNanosecond = now.UnixNano()
	row.UnixSecond = now.Unix()
	row.PID = m.config.PID
	row.Device = m.config.Device
	row.Interface = m.config.Interface
	m.readProcess(&row) // first, to be near now
	m.readLoad(&row)
	m.readDevice(&row)
	m.readInterface(&row)
	setDeltas(&row, &m.last)
	row.CPU = usage(row.CPUSeconds, m.last.CPUSeconds, now.Sub(m.lastAt))
	m.last, m.lastAt = row, now
	return row
}
