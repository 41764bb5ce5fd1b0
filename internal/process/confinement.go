//go:build linux

package process

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dbtester/dbtester/internal/process/lifeline"
)

// selfPath starts this very program again, also if its file was replaced.
const selfPath = "/proc/self/exe"

// guardReady bounds the wait for a guard to come up.
const guardReady = 10 * time.Second

// A Confinement is what a child lives in beyond its process group: limits,
// perhaps another user, a control group of its own where one may be made, and
// a guard that ends all of the child's tree when this process is gone.
type Confinement struct {
	// Nonce names the control group and marks the environment: letters and
	// digits that no other child has.
	Nonce string
	// Limits of the child.
	Limits Limits
	// User the child runs as; nil for that of this process.
	User *User
	// Program, if not nil, is run in place of what the path Argv[0] leads to
	// at that moment, unless it is a script. It stays the caller's.
	Program *os.File
	// NoGroup does without a control group.
	NoGroup bool
}

// Confined tells what a child lives in.
type Confined struct {
	// Group is the directory of the control group; empty if there is none.
	Group string
	// Ungrouped says why there is none.
	Ungrouped string
}

// A guarded is the confinement of one child while it lives.
type guarded struct {
	nonce string
	told  Confined
	group *lifeline.Group // nil without a control group
	guard *os.Process     // leads the process group
	life  *os.File        // the guard ends the tree when this is closed
	ended chan struct{}   // closed when the guard is dead; it is not reaped then

	mu       sync.RWMutex // held for reading while the group is used
	released bool
}

// confine starts the guard, which makes the control group.
func confine(c *Confinement) (*guarded, error) {
	g := &guarded{nonce: c.Nonce, ended: make(chan struct{})}
	parent, err := "", errors.New("not wanted")
	if !c.NoGroup {
		parent, err = lifeline.FindParent()
	}
	if err != nil {
		g.told.Ungrouped = err.Error()
	}
	if err = g.startGuard(parent); err == nil {
		return g, nil
	}
	err = fmt.Errorf("start the guard: %w", err)
	if g.guard == nil {
		return nil, err
	}
	return nil, errors.Join(err, g.release())
}

// startGuard returns when the guard is up, so that signals to its process
// group leave it alone.
func (g *guarded) startGuard(parent string) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	g.life = os.NewFile(uintptr(pair[0]), "lifeline")
	theirs := os.NewFile(uintptr(pair[1]), "lifeline")
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return errors.Join(err, g.life.Close(), theirs.Close())
	}
	// The child's copies are made at the fork.
	defer func() { _, _ = null.Close(), theirs.Close() }()
	arguments := append([]string{os.Args[0]}, lifeline.GuardArgs(g.nonce, parent)...)
	g.guard, err = os.StartProcess(selfPath, arguments, &os.ProcAttr{ //nolint:gosec // this very program
		Dir: "/", Env: []string{}, Files: []*os.File{null, null, null, theirs}, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return errors.Join(err, g.life.Close())
	}
	go func() {
		awaitZombie(g.guard.Pid)
		close(g.ended)
	}()
	return g.awaitReady(parent)
}

// awaitReady returns when the guard says that it is up, and opens the group it made.
func (g *guarded) awaitReady(parent string) error {
	wait := unix.NsecToTimeval(int64(guardReady))
	raw, err := g.life.SyscallConn()
	if err != nil {
		return err
	}
	if ctlErr := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptTimeval(int(fd), unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait)
	}); ctlErr != nil || err != nil {
		return errors.Join(ctlErr, err)
	}
	words := bufio.NewReader(g.life)
	word, err := words.ReadByte()
	if err != nil {
		return fmt.Errorf("it does not come up: %w", err)
	}
	switch {
	case word == lifeline.Ungrouped:
		why, err := words.ReadString('\n')
		g.told.Ungrouped = strings.TrimSuffix(why, "\n")
		return err
	case parent == "":
		return nil
	}
	if g.group, err = lifeline.OpenGroup(parent, g.nonce); err != nil {
		return err
	}
	g.told.Group = filepath.Join(parent, g.group.Name())
	return nil
}

// endTree kills all of the tree but what only the process group holds.
func (g *guarded) endTree() error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.released {
		return nil
	}
	if g.group != nil {
		return g.group.Kill(killWait)
	}
	return lifeline.EndMarked(g.nonce, killWait)
}

// release lets the guard end, which kills what is left of the process group
// and itself, removes the control group and reaps the guard. Nothing may be
// sent to the process group any more.
func (g *guarded) release() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.released = true
	_ = g.life.Close() // nothing was written
	timer := time.NewTimer(killWait)
	defer timer.Stop()
	select {
	case <-g.ended:
	case <-timer.C: // somebody stopped it
	}
	_ = unix.Kill(-g.guard.Pid, unix.SIGKILL) // if the guard was killed itself
	<-g.ended
	_, err := g.guard.Wait()
	return errors.Join(err, g.removeGroup())
}

func (g *guarded) removeGroup() error {
	if g.group == nil {
		return nil
	}
	defer g.group.Close()
	return g.group.End(killWait)
}

// Sweep ends what is left of a child whose parent and guard were both killed:
// by its control group, if it had one, and by the mark in the environment.
func Sweep(nonce, group string) error {
	var err error
	if group != "" {
		err = sweepGroup(nonce, group)
	}
	return errors.Join(err, lifeline.EndMarked(nonce, killWait))
}

func sweepGroup(nonce, path string) error {
	if filepath.Base(path) != lifeline.GroupPrefix+nonce {
		return fmt.Errorf("control group %s is kept: its name is not of this start", path)
	}
	group, err := lifeline.OpenGroup(filepath.Dir(path), nonce)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("control group %s is kept: %w", path, err)
	}
	defer group.Close()
	return group.End(killWait)
}

// GroupPath returns the directory that the control group of a nonce would be,
// and empty where there are none.
func GroupPath(nonce string) string {
	parent, err := lifeline.FindParent()
	if err != nil {
		return ""
	}
	return filepath.Join(parent, lifeline.GroupPrefix+nonce)
}
