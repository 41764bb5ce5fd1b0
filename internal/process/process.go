//go:build linux

// Package process starts one child and ends it together with its descendants.
//
// The child has a process group of its own, so that a signal reaches what it
// forked, and the kernel kills it with its parent, whatever ends the parent. It
// knows nothing of databases, agents or files other than the child's output.
//
// That alone leaves two gaps: a descendant that leaves the process group
// escapes, and when the parent itself is killed with SIGKILL the kernel ends
// the child but not what the child forked. A [Confinement] closes both. What it
// cannot close: where no control group may be made, a descendant that leaves
// the process group and clears its environment as well.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// killWait bounds the wait for a process that was sent SIGKILL.
const killWait = 10 * time.Second

// ErrUnkillable says that a process was still there long after SIGKILL, which
// happens when it hangs inside the kernel.
var ErrUnkillable = errors.New("still there after SIGKILL: it hangs in the kernel, look at its disk")

// A Spec says how to start a child.
type Spec struct {
	// Argv is the program, as a path with a slash in it, and its arguments.
	Argv []string
	// Env is the whole environment, KEY=value; the child inherits nothing.
	Env []string
	// Dir is the working directory; the parent's own if empty.
	Dir string
	// Log is a file that standard output and standard error are appended to
	// where Stdout or Stderr is nil. Empty means /dev/null.
	Log string
	// Stdout and Stderr stay the caller's, who closes them after Start.
	Stdout, Stderr *os.File
	// StopSignal asks the child to end; 0 means SIGTERM.
	StopSignal syscall.Signal
	// Confinement, if not nil, is what the child lives in beyond its process
	// group.
	Confinement *Confinement
}

// A Process is a child that was started. It is safe for concurrent use.
type Process struct {
	pid        int
	stopSignal syscall.Signal
	guarded    *guarded      // nil without a confinement
	done       chan struct{} // closed when state holds

	mu     sync.Mutex // held while signalling, and while reaping ends the pid's validity
	reaped bool
	state  State
	err    error // why state could not be told
}

// Start starts the child. It returns once the program runs, or an error that
// names the program.
func Start(spec Spec) (*Process, error) {
	if len(spec.Argv) == 0 || !strings.ContainsRune(spec.Argv[0], filepath.Separator) {
		return nil, fmt.Errorf("start %q: want a program with its path", spec.Argv)
	}
	p := &Process{stopSignal: spec.StopSignal, done: make(chan struct{})}
	if p.stopSignal == 0 {
		p.stopSignal = syscall.SIGTERM
	}
	started := make(chan error, 1)
	go p.own(spec, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Argv[0], err)
	}
	return p, nil
}

// PID returns the child's process id.
func (p *Process) PID() int { return p.pid }

// Group returns the number of the process group the child was started in: its
// own process id, or that of its guard.
func (p *Process) Group() int {
	if p.guarded != nil {
		return p.guarded.guard.Pid
	}
	return p.pid
}

// Confined tells what the child lives in; the zero value without a confinement.
func (p *Process) Confined() Confined {
	if p.guarded == nil {
		return Confined{}
	}
	return p.guarded.told
}

// Done returns a channel that is closed when the child has ended and its
// [State] is known.
func (p *Process) Done() <-chan struct{} { return p.done }

// State tells how the child ended; false while it runs.
func (p *Process) State() (State, bool) {
	select {
	case <-p.done:
		return p.state, true
	default:
		return State{}, false
	}
}

// Stop ends the child and its group: the stop signal, up to grace for it to
// end by itself, SIGKILL, and a bounded wait. When ctx ends the grace ends
// with it, the kill does not. It returns nil as soon as the child has ended,
// also if it had ended before, and otherwise [ErrUnkillable].
func (p *Process) Stop(ctx context.Context, grace time.Duration) error {
	if err := p.signal(p.stopSignal); err != nil {
		return err
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return p.err
	case <-timer.C:
	case <-ctx.Done():
	}
	return p.kill()
}

// kill ends the child and its descendants at once and waits for the child's end.
func (p *Process) kill() error {
	if err := p.killTree(); err != nil {
		return err
	}
	timer := time.NewTimer(killWait)
	defer timer.Stop()
	select {
	case <-p.done:
		return p.err
	case <-timer.C:
		return fmt.Errorf("process %d: %w", p.pid, ErrUnkillable)
	}
}

func (p *Process) killTree() error {
	if p.guarded == nil {
		return p.signal(syscall.SIGKILL)
	}
	if err := p.guarded.endTree(); err != nil {
		return fmt.Errorf("process %d: %w: %w", p.pid, ErrUnkillable, err)
	}
	return nil
}

// signal sends s to the whole group, unless its leader was reaped: from then on
// the number may belong to somebody else.
func (p *Process) signal(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return nil
	}
	group := p.Group()
	if err := unix.Kill(-group, s); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("send %v to process group %d: %w", s, group, err)
	}
	return nil
}
