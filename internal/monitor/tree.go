//go:build linux

package monitor

import (
	"os"
	"strconv"
	"time"
)

// scanAgain is how often all processes are searched for those of the group,
// whatever else is known: who left its parent between two samples is found
// no later than this.
const scanAgain = 30 * time.Second

// A tree is a process with all that descend from it and all of its process
// group: what a member is, even if a wrapper started it and has ended since.
type tree struct {
	root   int
	whole  bool // else the root alone
	clock  cpuClock
	procs  map[int]*process
	seen   bool   // the root was there
	forks  uint64 // of the machine, when the tree was last searched
	scan   bool   // search all processes at the next sample
	scanAt time.Time

	gone  totals // of processes that ended and that nobody of the tree waited for
	total totals // as last told: it never falls
}

func newTree(root int, whole bool, clock cpuClock) *tree {
	return &tree{root: root, whole: whole, clock: clock, procs: map[int]*process{}, scan: true}
}

// A treeFigures is what the tree shows in one sample.
type treeFigures struct {
	main                       *process // nil if all have ended
	count                      int      // of living processes
	total                      totals
	threads, virtual, resident uint64
	openFiles                  uint64
	filesKnown, ioKnown        bool
	switchesKnown              bool
}

// read reads all processes. forks is how many the machine has ever started: if
// it stood still there is none to be found.
func (t *tree) read(s *source, now time.Time, forks uint64) treeFigures {
	if !t.seen {
		t.adopt(s, t.root)
	}
	fresh := forks == 0 || forks != t.forks
	t.forks = forks
	for pid, p := range t.procs {
		if !p.read(s, t.clock, fresh) {
			t.bury(pid)
		}
	}
	if t.whole {
		t.search(s, now, fresh)
	}
	return t.figures()
}

// adopt adds a process, and reports whether it is new and there.
func (t *tree) adopt(s *source, pid int) bool {
	if t.procs[pid] != nil || pid == t.root && t.seen {
		return false // the root's number with another start time is somebody else
	}
	p := newProcess(s, pid)
	if !p.identify(s, t.clock) || p.ended() {
		p.close()
		return false
	}
	t.seen = t.seen || pid == t.root
	t.procs[pid] = p
	return true
}

// bury forgets a process that is gone. What it used is in its parent's figures
// if that has waited for it, and is kept if nobody can.
func (t *tree) bury(pid int) {
	p := t.procs[pid]
	p.close()
	delete(t.procs, pid)
	if t.procs[p.parent] == nil {
		t.gone.add(p.used)
	} else {
		t.gone.add(totals{voluntary: p.used.voluntary, involuntary: p.used.involuntary})
	}
	t.scan = true
}

// search finds processes that are new.
func (t *tree) search(s *source, now time.Time, fresh bool) {
	if fresh {
		for _, p := range t.procs {
			t.searchBelow(s, p)
		}
	}
	if t.scan || now.Sub(t.scanAt) >= scanAgain {
		t.searchGroup(s)
		t.scan, t.scanAt = false, now
	}
}

// searchBelow adds the children of a process, and theirs.
func (t *tree) searchBelow(s *source, p *process) {
	for _, one := range p.threads.live {
		text, err := s.read(&one.children)
		if err != nil {
			continue // mostly empty: no children
		}
		var pids []int // the text is gone with the next read
		for w := (words{text}); ; {
			pid, ok := w.number()
			if !ok {
				break
			}
			pids = append(pids, int(pid))
		}
		for _, pid := range pids {
			if t.adopt(s, pid) {
				child := t.procs[pid]
				child.read(s, t.clock, true)
				t.searchBelow(s, child)
			}
		}
	}
}

// searchGroup adds the processes of the root's process group, if the root
// leads one.
func (t *tree) searchGroup(s *source) {
	if p := t.procs[t.root]; p != nil && p.group != t.root {
		return
	}
	folder, err := os.Open(s.root)
	if err != nil {
		return
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1) // those before an error will do
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || t.procs[pid] != nil || pid == t.root {
			continue
		}
		p := newProcess(s, pid)
		if !p.identify(s, t.clock) || p.group != t.root || p.ended() {
			p.close()
			continue
		}
		p.read(s, t.clock, true)
		t.procs[pid] = p
	}
}

// figures adds up what is known.
func (t *tree) figures() treeFigures {
	f := treeFigures{filesKnown: true, ioKnown: true, switchesKnown: true, total: t.gone}
	for _, p := range t.procs {
		f.total.add(p.used)
		if p.ended() {
			continue
		}
		f.count++
		if f.main == nil || p.pid == t.root || f.main.pid != t.root && p.before(f.main) {
			f.main = p
		}
		f.threads += p.threadCount
		f.virtual += p.virtual
		f.resident += p.resident
		f.openFiles += p.openFiles
		f.filesKnown = f.filesKnown && p.filesKnown
		f.ioKnown = f.ioKnown && p.ioKnown
		f.switchesKnown = f.switchesKnown && p.switchesKnown
	}
	// A child's ticks and its parent's clock are rounded differently, and
	// some children are never waited for: what was told once stays told.
	t.gone.add(t.total.beyond(f.total))
	f.total.add(t.total.beyond(f.total))
	t.total = f.total
	return f
}

// before reports whether p began before o.
func (p *process) before(o *process) bool {
	if p.start != o.start {
		return p.start < o.start
	}
	return p.pid < o.pid
}

// beyond returns by how much t is above o, figure by figure.
func (t totals) beyond(o totals) totals {
	above := func(a, b uint64) uint64 { return max(a, b) - b }
	return totals{
		cpu: max(t.cpu-o.cpu, 0), minor: above(t.minor, o.minor), major: above(t.major, o.major),
		read: above(t.read, o.read), written: above(t.written, o.written),
		voluntary: above(t.voluntary, o.voluntary), involuntary: above(t.involuntary, o.involuntary),
	}
}

func (t *tree) close() {
	for _, p := range t.procs {
		p.close()
	}
}
