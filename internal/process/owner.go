//go:build linux

package process

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// own starts the child, reports that on started, and waits for its end.
//
// It keeps one operating-system thread from the fork to the end of the wait:
// the kernel sends the parent-death signal when the forking *thread* ends, so
// that on a thread of Go's pool the child could be killed at any time.
func (p *Process) own(spec Spec, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var child *os.Process
	var err error
	if spec.Confinement == nil {
		child, err = fork(spec)
	} else {
		child, p.guarded, err = forkConfined(spec)
	}
	if err != nil {
		started <- err
		return
	}
	p.pid = child.Pid
	if p.guarded != nil {
		go p.mourn()
	}
	started <- nil
	p.wait(child)
}

// mourn ends the child with its guard: without one its tree could outlive us.
func (p *Process) mourn() {
	select {
	case <-p.guarded.ended:
		_ = p.killTree() // what is left is for wait to say
	case <-p.done:
	}
}

// fork starts the child with its three files.
func fork(spec Spec) (*os.Process, error) {
	files, closeFiles, err := openFiles(spec)
	if err != nil {
		return nil, err
	}
	defer closeFiles()
	env := spec.Env
	if env == nil {
		env = []string{} // nil would mean: inherit
	}
	return os.StartProcess(spec.Argv[0], spec.Argv, &os.ProcAttr{
		Dir:   spec.Dir,
		Env:   env,
		Files: files,
		Sys: &syscall.SysProcAttr{
			Setpgid: true,
			// If the parent is gone before the child can ask for this signal,
			// the child sees another parent and kills itself: see
			// forkAndExecInChild1 in package syscall.
			Pdeathsig: syscall.SIGKILL,
		},
	})
}

// openFiles returns the child's standard files, and a function that closes
// those which are not the caller's.
func openFiles(spec Spec) (files []*os.File, closeFiles func(), err error) {
	var ours []*os.File
	closeFiles = func() {
		for _, f := range ours {
			_ = f.Close() // the child has its own copy, nothing was written here
		}
	}
	stdin, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	ours = append(ours, stdin)
	stdout, stderr := spec.Stdout, spec.Stderr
	if stdout == nil || stderr == nil {
		log, err := openLog(spec.Log)
		if err != nil {
			closeFiles()
			return nil, nil, err
		}
		ours = append(ours, log)
		if stdout == nil {
			stdout = log
		}
		if stderr == nil {
			stderr = log
		}
	}
	return []*os.File{stdin, stdout, stderr}, closeFiles, nil
}

func openLog(path string) (*os.File, error) {
	if path == "" {
		path = os.DevNull
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

// wait ends with the child's end. What is left of the group is killed while
// the dead child, or its guard, still holds the group's number: after it was
// reaped the number could be somebody else's.
func (p *Process) wait(child *os.Process) {
	defer close(p.done)
	awaitZombie(p.pid)
	var left error
	if p.guarded != nil {
		left = p.guarded.endTree()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
	if p.guarded != nil {
		left = errors.Join(left, p.guarded.release())
	} else {
		_ = unix.Kill(-p.pid, unix.SIGKILL) // its group may be empty already
	}
	state, err := child.Wait()
	if err != nil {
		p.err = fmt.Errorf("wait for process %d: %w", p.pid, err)
		p.state = State{Exit: "unknown", Code: -1}
		return
	}
	p.state = newState(state)
	if left != nil {
		p.err = fmt.Errorf("process %d ended, but not all it started: %w", p.pid, left)
	}
}

// awaitZombie returns when the child has ended, and leaves it to be reaped.
func awaitZombie(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
