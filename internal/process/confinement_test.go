//go:build linux

package process

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/dbtester/dbtester/internal/process/lifeline"
)

// confinements are the ways a child can be held.
var confinements = []struct {
	name    string
	noGroup bool
}{
	{"control group", false},
	{"no control group", true},
}

// needGroup skips a test where no control group can be made.
func needGroup(t *testing.T) {
	t.Helper()
	parent, err := lifeline.FindParent()
	if err != nil {
		t.Skipf("no control groups: %v", err)
	}
	group, err := lifeline.CreateGroup(parent, rand.Text())
	if err != nil {
		t.Skipf("this user may make no control group: %v", err)
	}
	defer group.Close()
	if err := group.End(time.Second); err != nil {
		t.Fatal(err)
	}
}

// eachConfinement runs a test for every way a child can be held here.
func eachConfinement(t *testing.T, test func(t *testing.T, c *Confinement)) {
	t.Helper()
	for _, tt := range confinements {
		t.Run(tt.name, func(t *testing.T) {
			if !tt.noGroup {
				needGroup(t)
			}
			test(t, &Confinement{Nonce: rand.Text(), NoGroup: tt.noGroup})
		})
	}
}

func awaitNoGroup(t *testing.T, path string) {
	t.Helper()
	if path == "" {
		return
	}
	eventually(t, path+" is still there", func() bool {
		_, err := os.Stat(path)
		return errors.Is(err, fs.ErrNotExist)
	})
}

// However a confined child ends, nothing of its tree is left: neither what
// stayed in its process group nor what left it.
func TestConfinedTreeEnds(t *testing.T) {
	ends := []struct {
		name string
		end  func(t *testing.T, p *Process)
	}{
		{"stopped", func(t *testing.T, p *Process) {
			t.Helper()
			if err := p.Stop(t.Context(), 10*time.Millisecond); err != nil {
				t.Error(err)
			}
		}},
		{"killed", func(t *testing.T, p *Process) { t.Helper(); kill(t, p.PID()) }},
		{"guard killed", func(t *testing.T, p *Process) { t.Helper(); kill(t, p.Group()) }},
	}
	for _, tt := range ends {
		t.Run(tt.name, func(t *testing.T) {
			eachConfinement(t, func(t *testing.T, c *Confinement) {
				t.Helper()
				log := filepath.Join(t.TempDir(), "log")
				p := start(t, "descendants", Spec{Log: log, Confinement: c})
				awaitText(t, log, "ready")
				pids := printedPIDs(t, log)
				told := p.Confined()
				if len(pids) != 2 || (told.Group == "") != c.NoGroup || (told.Ungrouped == "") == c.NoGroup {
					t.Fatalf("descendants %v in %+v", pids, told)
				}
				tt.end(t, p)
				await(t, p)
				for _, pid := range append(pids, p.PID(), p.Group()) {
					awaitGone(t, pid)
				}
				if _, err := os.Stat(told.Group); told.Group != "" && err == nil {
					t.Errorf("control group %s is left", told.Group)
				}
			})
		})
	}
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// The parent is killed with SIGKILL: its guard ends the whole tree.
func TestConfinedParentKilled(t *testing.T) {
	eachConfinement(t, func(t *testing.T, c *Confinement) {
		t.Helper()
		log := filepath.Join(t.TempDir(), "log")
		spec := Spec{Log: log}
		if c.NoGroup {
			spec.Env = []string{"NO_GROUP=1"}
		}
		parent := start(t, "guarded "+log, spec)
		awaitText(t, log, "ready")
		awaitText(t, log+".child", "ready")
		pids := append(printedPIDs(t, log), printedPIDs(t, log+".child")...)
		if len(pids) != 4 {
			t.Fatalf("child, guard and two descendants: %v", pids)
		}
		for _, pid := range pids {
			if !alive(pid) {
				t.Fatalf("process %d does not run: the test tests nothing", pid)
			}
		}
		kill(t, parent.PID())
		for _, pid := range pids {
			awaitGone(t, pid)
		}
		for word := range strings.FieldsSeq(read(t, log)) {
			if filepath.IsAbs(word) {
				awaitNoGroup(t, word)
			}
		}
	})
}

// Parent and guard are killed at the same time: only a sweep finds the rest.
func TestSweep(t *testing.T) {
	eachConfinement(t, func(t *testing.T, c *Confinement) {
		t.Helper()
		log := filepath.Join(t.TempDir(), "log")
		p := start(t, "descendants", Spec{Log: log, Confinement: c})
		awaitText(t, log, "ready")
		away := printedPIDs(t, log)[1]
		if err := Sweep(rand.Text(), ""); err != nil || !alive(away) {
			t.Fatalf("Sweep of another mark: %v; alive %t", err, alive(away))
		}
		if err := Sweep(rand.Text(), p.Confined().Group); (err == nil) == (p.Confined().Group != "") || !alive(away) {
			t.Fatalf("Sweep of a group of another name: %v; alive %t", err, alive(away))
		}
		if err := Sweep(c.Nonce, p.Confined().Group); err != nil {
			t.Error(err)
		}
		awaitGone(t, away)
		await(t, p)
		if err := Sweep(c.Nonce, p.Confined().Group); err != nil {
			t.Errorf("a second time: %v", err)
		}
	})
}

// A directory that is no control group is never swept, whatever its name.
func TestSweepKeepsFolders(t *testing.T) {
	path := filepath.Join(t.TempDir(), lifeline.GroupPrefix+"NONCE")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Sweep("NONCE", path); err == nil || !strings.Contains(err.Error(), "is kept") {
		t.Errorf("Sweep = %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestLimits(t *testing.T) {
	eachConfinement(t, func(t *testing.T, c *Confinement) {
		t.Helper()
		c.Limits = Limits{OpenFiles: 1000, FileBytes: 1 << 20, CoreBytes: 0}
		log := filepath.Join(t.TempDir(), "log")
		await(t, start(t, "limits", Spec{Log: log, Confinement: c}))
		if got := read(t, log); !strings.HasPrefix(got, "1000 1000\n1048576 1048576\n0 0\n") || !strings.Contains(got, "NoNewPrivs: 1") {
			t.Errorf("limits of the child:\n%s", got)
		}
	})
}

func TestEffectiveLimits(t *testing.T) {
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &own); err != nil {
		t.Fatal(err)
	}
	got, err := Limits{}.Effective()
	want := Limits{OpenFiles: min(own.Max, MaxOpenFiles), FileBytes: MaxFileBytes}
	if err != nil || got != want {
		t.Errorf("Effective = %+v, %v, want %+v", got, err, want)
	}
	if own.Max == unix.RLIM_INFINITY {
		t.Skip("there is no hard limit on open files to exceed")
	}
	if _, err := (Limits{OpenFiles: own.Max + 1}).Effective(); err == nil || !strings.Contains(err.Error(), "hard limit") {
		t.Errorf("above the hard limit: %v", err)
	}
}

func TestOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start a child as another user")
	}
	user, err := LookupUser("nobody")
	if err != nil {
		t.Skip(err)
	}
	eachConfinement(t, func(t *testing.T, c *Confinement) {
		t.Helper()
		c.User = user
		log := filepath.Join(t.TempDir(), "log")
		p := start(t, "limits", Spec{Log: log, Confinement: c})
		await(t, p)
		lines := strings.Split(read(t, log), "\n")
		id, group := strings.Split(lines[3], " "), strings.Split(lines[4], " ")
		for _, got := range append(id[1:], group[1:]...) {
			if got != "65534" {
				t.Errorf("the child is of %q, %q; want nobody throughout", lines[3], lines[4])
				break
			}
		}
		if lines[5] != "Groups:" {
			t.Errorf("supplementary groups %q", lines[5])
		}
	})
	t.Run("killed with its parent", func(t *testing.T) {
		log := filepath.Join(t.TempDir(), "log")
		p := start(t, "stubborn", Spec{Log: log, Confinement: &Confinement{Nonce: rand.Text(), NoGroup: true, User: user}})
		awaitText(t, log, "ready")
		if err := p.Stop(t.Context(), 0); err != nil {
			t.Error(err)
		}
	})
}

// What runs is the file that was opened, not what has its name by then.
func TestProgramIsTheOpenFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "program")
	text, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o700); err != nil {
		t.Fatal(err)
	}
	program, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/false\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := Start(Spec{
		Argv: []string{path}, Env: []string{roleVariable + "=exit 5"},
		Confinement: &Confinement{Nonce: rand.Text(), NoGroup: true, Program: program},
	})
	if err != nil {
		t.Fatal(err)
	}
	await(t, p)
	if state, _ := p.State(); state.Code != 5 {
		t.Errorf("ended with %q, want what the open file does", state.Exit)
	}
}

// A script is run by its path.
func TestScript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho $0\nexit 6\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	log := path + ".log"
	p, err := Start(Spec{Argv: []string{path}, Log: log, Confinement: &Confinement{Nonce: rand.Text(), NoGroup: true}})
	if err != nil {
		t.Fatal(err)
	}
	await(t, p)
	if state, _ := p.State(); state.Code != 6 || read(t, log) != path+"\n" {
		t.Errorf("ended with %q, printed %q", state.Exit, read(t, log))
	}
}

func TestConfinedStartErrors(t *testing.T) {
	defer goleak.VerifyNone(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := openFileCount(t)
	eachConfinement(t, func(t *testing.T, c *Confinement) {
		t.Helper()
		for path, want := range map[string]string{"/nowhere/etcd": "no such file", file: "permission denied"} {
			p, err := Start(Spec{Argv: []string{path}, Confinement: c})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Start = %v, %v, want an error with %q", p, err, want)
			}
			awaitNoGroup(t, GroupPath(c.Nonce))
		}
	})
	if after := openFileCount(t); after > before {
		t.Errorf("%d open files, %d before", after, before)
	}
}

// What a child printed and how it ended are told as without a confinement.
func TestConfinedState(t *testing.T) {
	eachConfinement(t, func(t *testing.T, c *Confinement) {
		t.Helper()
		dir := t.TempDir()
		log := filepath.Join(dir, "log")
		p := start(t, "print", Spec{Log: log, Dir: dir, Env: []string{"COLOUR=green"}, Confinement: c})
		await(t, p)
		want := strings.Join([]string{"COLOUR=green", lifeline.Mark(c.Nonce), roleVariable + "=print", "in " + dir, "to stderr", ""}, "\n")
		if diff := cmp.Diff(want, read(t, log)); diff != "" {
			t.Error(diff)
		}
		for role, want := range map[string]string{"exit 3": "exit status 3", "signal 9": "signal: killed", "sleep": "signal: terminated"} {
			c.Nonce = rand.Text()
			p := start(t, role, Spec{Confinement: c})
			if role == "sleep" {
				if err := p.Stop(context.WithoutCancel(t.Context()), time.Minute); err != nil {
					t.Error(err)
				}
			}
			await(t, p)
			if state, _ := p.State(); state.Exit != want || state.MaxRSS < 1<<20 {
				t.Errorf("%s: %+v", role, state)
			}
		}
	})
}

// A guard that is told to end does not: only its agent's end ends it.
func TestGuardIgnoresSignals(t *testing.T) {
	p := start(t, "stubborn", Spec{Confinement: &Confinement{Nonce: rand.Text(), NoGroup: true}})
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if err := unix.Kill(p.Group(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Stop(t.Context(), 50*time.Millisecond); err != nil {
		t.Error(err)
	}
	if state, _ := p.State(); state.Exit != "signal: killed" && state.Exit != "signal: terminated" {
		t.Errorf("ended with %q", state.Exit)
	}
}
