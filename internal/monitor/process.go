//go:build linux

package monitor

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/prometheus/procfs"

	"github.com/dbtester/dbtester/result"
)

// readProcess fills the figures of the process, or leaves all of them gaps if
// it has ended: a zombie, or another process that was given its number.
func (m *Monitor) readProcess(row *result.SystemRow) {
	proc, err := m.proc.Proc(m.config.PID)
	if err != nil {
		return
	}
	stat, err := readStat(proc)
	if err != nil || !m.same(stat) {
		return
	}
	row.CPUSeconds = result.Number(m.cpu(m.config.PID, stat))
	row.Program = printable(stat.Comm)
	row.State = stat.State
	row.Threads = result.Number(stat.NumThreads)
	row.VMSize = result.Number(stat.VSize)
	if status, err := proc.NewStatus(); err == nil && status.VmRSS > 0 {
		row.VMRSS = result.Number(status.VmRSS)
	}
	if open, err := proc.FileDescriptorsLen(); err == nil {
		row.FD = result.Number(open)
	}
	if sum, err := m.switches.read(m.proc, m.config.PID); err == nil {
		row.VoluntaryCtxt = result.Number(sum.voluntary)
		row.NonVoluntaryCtxt = result.Number(sum.nonVoluntary)
	}
}

// readStat reads /proc/PID/stat. The library panics at one that is cut off.
func readStat(proc procfs.Proc) (stat procfs.ProcStat, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("stat of process %d: %v", proc.PID, cause)
		}
	}()
	return proc.Stat()
}

// same reports whether stat is of the process that was seen first, and alive.
func (m *Monitor) same(stat procfs.ProcStat) bool {
	if stat.State == "Z" || stat.State == "X" {
		return false
	}
	if m.start == 0 {
		m.start = stat.Starttime
	}
	return m.start == stat.Starttime
}

// printable keeps a name in one line of a CSV: a program may call itself
// anything, line ends and broken UTF-8 included.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(name, "?"))
}
