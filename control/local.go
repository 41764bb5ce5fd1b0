package control

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/dbtester/dbtester/config"
	"github.com/dbtester/dbtester/internal/process"
	"github.com/dbtester/dbtester/internal/removal"
)

const (
	agentGrace  = 45 * time.Second // an agent first stops its member
	workPattern = ".local-*"
	lockFile    = "lock"
)

// A localCluster is the agents of a local run. They end with this process,
// whatever ends it.
type localCluster struct {
	work   string // directory of the agents; the members' data is below it
	lock   *os.File
	agents []*process.Process
}

// startLocal starts one agent per host on this machine, with their data below
// the folder for results: a temporary directory may be in memory, where an
// fsync costs nothing. They listen on sockets in the work directory, which only
// this user may enter: a port would be open to every user of the machine. The
// cluster must be stopped even after an error.
func startLocal(out string, command, hosts []string) (*localCluster, []place, error) {
	l, err := newLocal(out)
	if err != nil {
		return l, nil, err
	}
	var all []place
	for i, host := range hosts {
		socket := filepath.Join(l.work, fmt.Sprintf("agent-%d.sock", i+1))
		agent, err := process.Start(process.Spec{
			Argv: append(slices.Clip(command), "--listen", "unix:"+socket, "--dir", filepath.Join(l.work, fmt.Sprint(i+1))),
			Env:  os.Environ(),
			Log:  l.logOf(i),
		})
		if err != nil {
			return l, nil, fmt.Errorf("local agent: %w", err)
		}
		l.agents = append(l.agents, agent)
		all = append(all, place{config.Agent{Host: host, Socket: socket}, host})
	}
	return l, all, nil
}

// newLocal makes the work directory and removes those of runs that were killed.
func newLocal(out string) (*localCluster, error) {
	l := &localCluster{}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return l, fmt.Errorf("make the folder for results: %w; choose another with --out", err)
	}
	if err := sweep(out); err != nil {
		return l, err
	}
	work, err := os.MkdirTemp(out, workPattern)
	if err != nil {
		return l, fmt.Errorf("make a work directory for local agents: %w; choose another place with --out", err)
	}
	if l.work, err = filepath.Abs(work); err != nil {
		return l, fmt.Errorf("work directory: %w", err)
	}
	l.lock, err = lock(l.work, os.O_CREATE)
	return l, err
}

// sweep removes the work directories whose run is gone: they have a lock, and
// it is free.
func sweep(out string) error {
	found, err := filepath.Glob(filepath.Join(out, workPattern))
	if err != nil {
		return fmt.Errorf("look for old work directories: %w", err)
	}
	for _, dir := range found {
		held, err := lock(dir, 0)
		if err != nil {
			continue // a run is under way there, or it is none of ours
		}
		if err := errors.Join(removeWork(dir), held.Close()); err != nil {
			return fmt.Errorf("remove the work directory of a run that was killed: %w", err)
		}
	}
	return nil
}

// removeWork deletes a work directory, unless something is mounted in it.
func removeWork(dir string) error {
	out, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	return errors.Join(removal.All(out, filepath.Base(dir)), out.Close())
}

// lock takes the lock of a work directory; it is free again when this process
// ends, however it ends. The flag is os.O_CREATE for a new one, or 0.
func lock(dir string, flag int) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|flag, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), file.Close())
	}
	return file, nil
}

func (l *localCluster) logOf(i int) string {
	return filepath.Join(l.work, fmt.Sprintf("agent-%d.log", i+1))
}

// words returns what the agents have printed, to explain why one does not answer.
func (l *localCluster) words() string {
	var all strings.Builder
	for i := range l.agents {
		text, err := os.ReadFile(l.logOf(i))
		if err == nil && len(text) > 0 {
			fmt.Fprintf(&all, "\nagent %d printed:\n%s", i+1, text)
		}
	}
	return all.String()
}

// stop ends the agents, all at once, and removes the work directory unless the
// members' data in it is to be kept.
func (l *localCluster) stop(keep bool) error {
	var group errgroup.Group
	for _, a := range l.agents {
		group.Go(func() error { return a.Stop(context.Background(), agentGrace) })
	}
	err := group.Wait()
	if l.work != "" && !keep {
		err = errors.Join(err, removeWork(l.work))
	}
	if l.lock != nil {
		err = errors.Join(err, l.lock.Close())
	}
	return err
}
