//go:build linux

package lifeline

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestLaunchArgs(t *testing.T) {
	want := Launch{Parent: 7, OpenFiles: 1 << 20, FileBytes: 1 << 36, CoreBytes: 0, UID: -1, GID: 65534}
	argv := []string{"/databases/etcd", "", "--name=a b"}
	args := want.Args(argv)
	if args[0] != LaunchVerb {
		t.Errorf("verb %q", args[0])
	}
	got, gotArgv, err := parseLaunch(args[1:])
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff(argv, gotArgv); diff != "" {
		t.Error(diff)
	}
	for _, bad := range [][]string{nil, {"1", "2", "3", "4", "5", "6"}, {"x", "2", "3", "4", "5", "6", "p"}, {"1", "-2", "3", "4", "5", "6", "p"}} {
		if _, _, err := parseLaunch(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// newGroup makes a control group, where one can be made.
func newGroup(t *testing.T) (*Group, string) {
	t.Helper()
	parent, err := FindParent()
	if err != nil {
		t.Skip(err)
	}
	nonce := rand.Text()
	g, err := CreateGroup(parent, nonce)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(g.Close)
	return g, filepath.Join(parent, GroupPrefix+nonce)
}

// sleepIn starts a process inside the group that ignores nothing and ends late.
func sleepIn(t *testing.T, group int) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: group}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// A group goes with the groups that were made in it, and is ended once only.
func TestEndOfGroup(t *testing.T) {
	g, path := newGroup(t)
	if err := os.MkdirAll(filepath.Join(path, "own", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	deep, err := openGroupDir(unix.AT_FDCWD, filepath.Join(path, "own", "deep"))
	if err != nil {
		t.Fatal(err)
	}
	child := sleepIn(t, deep)
	_ = unix.Close(deep)
	for range 2 {
		if err := g.End(5 * time.Second); err != nil {
			t.Error(err)
		}
	}
	_ = child.Wait()
	if child.ProcessState.String() != "signal: killed" {
		t.Errorf("the process in it: %v", child.ProcessState)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the group is left: %v", err)
	}
	if _, err := OpenGroup(filepath.Dir(path), g.Name()[len(GroupPrefix):]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("OpenGroup = %v", err)
	}
}

// Kernels before 5.14 have no cgroup.kill.
func TestKillOneByOne(t *testing.T) {
	g, _ := newGroup(t)
	children := []*exec.Cmd{sleepIn(t, g.Dir()), sleepIn(t, g.Dir())}
	if pids, err := g.processes(); err != nil || len(pids) != 2 {
		t.Fatalf("processes = %v, %v", pids, err)
	}
	if err := g.killEach(); err != nil {
		t.Fatal(err)
	}
	for _, child := range children {
		_ = child.Wait()
		if child.ProcessState.String() != "signal: killed" {
			t.Errorf("a process in it: %v", child.ProcessState)
		}
	}
	if err := g.End(5 * time.Second); err != nil {
		t.Error(err)
	}
}

// Only what carries the very mark is ended.
func TestEndMarked(t *testing.T) {
	mark := rand.Text()
	start := func(env ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "sleep", "60")
		cmd.Env = env
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	marked := start("A=B", Mark(mark), "C=D")
	others := []*exec.Cmd{start(), start(Mark(mark) + "X"), start("X" + Mark(mark)), start("A=" + Mark(mark))}
	if err := EndMarked(mark, 5*time.Second); err != nil {
		t.Error(err)
	}
	_ = marked.Wait()
	if marked.ProcessState.String() != "signal: killed" {
		t.Errorf("the marked process: %v", marked.ProcessState)
	}
	for _, other := range others {
		if err := other.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("%q: %v", other.Env, err)
		}
		_ = other.Process.Kill()
		_ = other.Wait()
	}
}
