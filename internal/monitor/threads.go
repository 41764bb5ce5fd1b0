//go:build linux

package monitor

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// switchCounts are context switches since a thread or a process began.
type switchCounts struct {
	voluntary, nonVoluntary uint64
}

func (c *switchCounts) add(o switchCounts) {
	c.voluntary += o.voluntary
	c.nonVoluntary += o.nonVoluntary
}

// A thread is one thread of a process, as it was last read.
type thread struct {
	status   keptFile
	children keptFile // the processes that this thread started
	counts   switchCounts
}

func (t *thread) close() {
	t.status.close()
	t.children.close()
}

// threads sum context switches over all threads of a process, for
// /proc/PID/status has only those of the first. The kernel forgets a thread's
// count when the thread ends, so the last count seen of each is kept and the
// sum never falls; what a thread did after its last sample is lost.
type threads struct {
	dir   string          // /proc/PID/task
	live  map[int]*thread // by thread id
	ended switchCounts    // of threads that are gone
	sum   switchCounts
}

func newThreads(dir string) threads { return threads{dir: dir, live: map[int]*thread{}} }

func (t *threads) close() {
	for _, one := range t.live {
		one.close()
	}
}

// read brings the sum up to date; with list it looks for new threads first.
func (t *threads) read(s *source, list bool) error {
	if list || len(t.live) == 0 {
		if err := t.list(); err != nil {
			return err
		}
	}
	sum := switchCounts{}
	for id, one := range t.live {
		now, err := one.read(s)
		if err != nil {
			t.end(id) // it ended since it was listed
			continue
		}
		if now.voluntary < one.counts.voluntary || now.nonVoluntary < one.counts.nonVoluntary {
			t.ended.add(one.counts) // another thread was given its number
		}
		one.counts = now
		sum.add(now)
	}
	sum.add(t.ended)
	t.sum = sum
	return nil
}

// list adds the threads that are new.
func (t *threads) list() error {
	folder, err := os.Open(t.dir)
	if err != nil {
		return fmt.Errorf("list threads: %w", err)
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("list threads: %w", err)
	}
	for _, name := range names {
		id, err := strconv.Atoi(name)
		if err != nil || t.live[id] != nil {
			continue
		}
		dir := filepath.Join(t.dir, name)
		t.live[id] = &thread{
			status:   keptFile{path: filepath.Join(dir, "status")},
			children: keptFile{path: filepath.Join(dir, "children")},
		}
	}
	return nil
}

func (t *threads) end(id int) {
	t.ended.add(t.live[id].counts)
	t.live[id].close()
	delete(t.live, id)
}

func (t *thread) read(s *source) (switchCounts, error) {
	text, err := s.read(&t.status)
	if err != nil {
		return switchCounts{}, err
	}
	return parseSwitches(text)
}

// parseSwitches reads the last lines of /proc/PID/task/TID/status.
func parseSwitches(text []byte) (switchCounts, error) {
	const key = "\nvoluntary_ctxt_switches:"
	if at := bytes.LastIndex(text, []byte(key)); at >= 0 {
		text = text[at+1:]
	}
	voluntary, known := numberAfter(text, "voluntary_ctxt_switches:")
	involuntary, both := numberAfter(text, "nonvoluntary_ctxt_switches:")
	if !known || !both {
		return switchCounts{}, fmt.Errorf("no context switches in %q", text)
	}
	return switchCounts{voluntary, involuntary}, nil
}
