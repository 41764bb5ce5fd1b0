//go:build linux

package monitor

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sys/unix"
)

// clockTick is the unit of processor time in /proc/PID/stat and /proc/stat:
// USER_HZ, which is 100 on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// totals are what a process has used since it began. They include what its
// children used, once it has waited for them: so the kernel counts.
type totals struct {
	cpu                    time.Duration
	minor, major           uint64 // faults
	read, written          uint64 // bytes
	voluntary, involuntary uint64 // context switches, of its own threads alone
}

func (t *totals) add(o totals) {
	t.cpu += o.cpu
	t.minor, t.major = t.minor+o.minor, t.major+o.major
	t.read, t.written = t.read+o.read, t.written+o.written
	t.voluntary, t.involuntary = t.voluntary+o.voluntary, t.involuntary+o.involuntary
}

// A process is one process of the tree, as it was last read.
type process struct {
	pid   int
	start uint64 // clock ticks since boot: with pid it names a process for good

	dir                 string
	statFile, ioFile    keptFile
	threads             threads
	parent, group       int
	name                string
	state               byte
	used                totals
	threadCount         uint64
	virtual, resident   uint64 // bytes
	openFiles           uint64
	filesKnown, ioKnown bool
	switchesKnown       bool
}

func newProcess(s *source, pid int) *process {
	dir := s.path(fmt.Sprint(pid))
	return &process{
		pid: pid, dir: dir,
		statFile: keptFile{path: filepath.Join(dir, "stat")},
		ioFile:   keptFile{path: filepath.Join(dir, "io")},
		threads:  newThreads(filepath.Join(dir, "task")),
	}
}

func (p *process) close() {
	p.statFile.close()
	p.ioFile.close()
	p.threads.close()
}

// ended reports whether the process is a zombie: its figures no longer move.
func (p *process) ended() bool { return p.state == 'Z' || p.state == 'X' }

// identify reads who the process is. It is false if there is none, or another
// one with its number.
func (p *process) identify(s *source, clock cpuClock) bool {
	text, err := s.read(&p.statFile)
	if err != nil {
		return false
	}
	return p.parseStat(text, clock)
}

// read reads what the process has used. It is false once the process is gone.
func (p *process) read(s *source, clock cpuClock, listThreads bool) bool {
	before := p.threadCount
	if !p.identify(s, clock) {
		return false
	}
	if p.ended() {
		return true
	}
	p.readIO(s)
	p.readFiles(s)
	if err := p.threads.read(s, listThreads || p.threadCount != before); err == nil {
		p.used.voluntary, p.used.involuntary = p.threads.sum.voluntary, p.threads.sum.nonVoluntary
		p.switchesKnown = true
	}
	return true
}

// parseStat takes /proc/PID/stat apart, see proc_pid_stat(5).
func (p *process) parseStat(text []byte, clock cpuClock) bool {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return false
	}
	w := words{text[end+1:]}
	state := w.next()
	var field [22]uint64 // ppid, the 4th, first
	for i := range field {
		word := w.next()
		if len(word) > 0 && word[0] == '-' {
			continue // tpgid, priority and nice may be negative; none is needed
		}
		n, ok := parseNumber(word)
		if !ok {
			return false
		}
		field[i] = n
	}
	const (
		ppid, pgrp                             = 0, 1
		minflt, cminflt, majflt, cmajflt       = 6, 7, 8, 9
		utime, stime, cutime, cstime           = 10, 11, 12, 13
		numThreads, startTime, vsize, rssPages = 16, 18, 19, 20
	)
	if len(state) != 1 || p.start != 0 && p.start != field[startTime] {
		return false
	}
	p.start, p.state = field[startTime], state[0]
	p.parent, p.group = int(field[ppid]), int(field[pgrp])
	if name := text[open+1 : end]; p.name == "" || string(name) != p.name {
		p.name = string(name)
	}
	if p.ended() {
		return true // its last figures stand
	}
	own := clock(p.pid, time.Duration(field[utime]+field[stime])*clockTick)
	p.used.cpu = max(p.used.cpu, own+time.Duration(field[cutime]+field[cstime])*clockTick)
	p.used.minor, p.used.major = field[minflt]+field[cminflt], field[majflt]+field[cmajflt]
	p.threadCount, p.virtual = field[numThreads], field[vsize]
	p.resident = field[rssPages] * uint64(os.Getpagesize())
	return true
}

// readIO reads what the process moved from and to disks. Only who may trace
// it can.
func (p *process) readIO(s *source) {
	p.ioKnown = false
	text, err := s.read(&p.ioFile)
	if err != nil {
		return
	}
	read, readKnown := numberAfter(text, "read_bytes:")
	written, writtenKnown := numberAfter(text, "write_bytes:")
	if readKnown && writtenKnown {
		p.used.read, p.used.written, p.ioKnown = read, written, true
	}
}

// readFiles counts the open files. Since Linux 6.2 the folder's size tells it;
// before, its entries do.
func (p *process) readFiles(s *source) {
	p.filesKnown = false
	path := filepath.Join(p.dir, "fd")
	if s.keep {
		var info unix.Stat_t
		if err := unix.Stat(path, &info); err == nil && info.Size > 0 {
			p.openFiles, p.filesKnown = uint64(info.Size), true
			return
		}
	}
	if entries, err := os.ReadDir(path); err == nil {
		p.openFiles, p.filesKnown = uint64(len(entries)), true
	}
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
