package databasetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/dbtester/dbtester/database"
)

// logTail is how much of a member's log a failed test prints, in bytes.
const logTail = 4 << 10

// member is one process of a cluster.
type member struct {
	launch database.Launch
	log    string // file of both its output streams

	process *os.Process
	done    chan struct{} // closed once the process is gone; nil before start
	err     error         // how it ended; read after done
}

// start starts the process in a group of its own. One goroutine starts it and
// waits for it, and keeps its thread: the kernel kills the child when the
// thread that forked it ends.
func (m *member) start() error {
	log, err := os.OpenFile(m.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	started := make(chan error)
	done := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(done)
		defer func() { m.err = errors.Join(m.err, log.Close()) }()
		cmd := exec.CommandContext(context.Background(), m.launch.Argv[0], m.launch.Argv[1:]...)
		cmd.Env, cmd.Stdout, cmd.Stderr = m.launch.Env, log, log
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
		err := cmd.Start()
		m.process = cmd.Process
		started <- err
		if err == nil {
			m.err = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	m.done = done
	return nil
}

// signal sends to the whole group.
func (m *member) signal(s syscall.Signal) error {
	select {
	case <-m.done:
		return fmt.Errorf("it has ended: %w", os.ErrProcessDone)
	default:
		return syscall.Kill(-m.process.Pid, s)
	}
}

// ended returns how the process ended, or nil if it runs.
func (m *member) ended() error {
	select {
	case <-m.done:
		return fmt.Errorf("it ended: %w", errors.Join(m.err, errors.New("see its log")))
	default:
		return nil
	}
}

// tail returns the end of a log.
func tail(file string) []byte {
	log, err := os.ReadFile(file)
	if err != nil {
		return []byte(err.Error())
	}
	return log[max(0, len(log)-logTail):]
}
