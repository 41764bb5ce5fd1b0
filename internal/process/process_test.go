//go:build linux

package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestExitWords(t *testing.T) {
	tests := []struct {
		name string
		role string
		exit string
		code int
	}{
		{"ended well", "exit 0", "exit status 0", 0},
		{"ended badly", "exit 3", "exit status 3", 3},
		{"killed", "signal 9", "signal: killed", -1},
		{"terminated", "signal 15", "signal: terminated", -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := start(t, tt.role, Spec{})
			await(t, p)
			state, ended := p.State()
			if !ended || state.Exit != tt.exit || state.Code != tt.code {
				t.Errorf("State() = %+v, %t, want exit %q, code %d", state, ended, tt.exit, tt.code)
			}
			if state.MaxRSS < 1<<20 {
				t.Errorf("MaxRSS = %d bytes, want more than a MiB of a Go program", state.MaxRSS)
			}
		})
	}
}

func TestStateCountsCPU(t *testing.T) {
	p := start(t, "burn 300ms", Spec{})
	await(t, p)
	state, _ := p.State()
	if got := state.CPUSeconds(); got < 0.3 || got > 3 {
		t.Errorf("CPUSeconds() = %g of a child that burnt 0.3 s", got)
	}
}

func TestRunning(t *testing.T) {
	p := start(t, "sleep", Spec{})
	if state, ended := p.State(); ended {
		t.Errorf("State() of a running child = %+v, ended", state)
	}
	if err := p.Stop(t.Context(), time.Minute); err != nil {
		t.Error(err)
	}
	if state, _ := p.State(); state.Exit != "signal: terminated" {
		t.Errorf("Exit = %q, want the stop signal", state.Exit)
	}
	if err := p.Stop(t.Context(), time.Minute); err != nil {
		t.Errorf("second Stop: %v", err)
	}
}

func TestStopSignal(t *testing.T) {
	p := start(t, "sleep", Spec{StopSignal: syscall.SIGINT})
	if err := p.Stop(t.Context(), time.Minute); err != nil {
		t.Error(err)
	}
	if state, _ := p.State(); state.Exit != "signal: interrupt" {
		t.Errorf("Exit = %q, want signal: interrupt", state.Exit)
	}
}

func TestStubbornChild(t *testing.T) {
	t.Run("after the grace", func(t *testing.T) {
		stopStubborn(t, time.Hour, 50*time.Millisecond)
	})
	t.Run("after the context", func(t *testing.T) {
		stopStubborn(t, 50*time.Millisecond, time.Hour)
	})
}

func stopStubborn(t *testing.T, patience, grace time.Duration) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	p := start(t, "stubborn", Spec{Log: log})
	awaitText(t, log, "ready")
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := p.Stop(ctx, grace); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 20*time.Millisecond {
		t.Errorf("Stop took %v: the grace was not given", took)
	}
	if state, _ := p.State(); state.Exit != "signal: killed" {
		t.Errorf("Exit = %q, want signal: killed", state.Exit)
	}
}

// TestGroup checks that no way for the leader to end leaves its descendants.
func TestGroup(t *testing.T) {
	ends := map[string]func(t *testing.T, p *Process){
		"stopped": func(t *testing.T, p *Process) {
			t.Helper()
			if err := p.Stop(t.Context(), 10*time.Millisecond); err != nil {
				t.Error(err)
			}
		},
		"leader killed": func(t *testing.T, p *Process) {
			t.Helper()
			if err := unix.Kill(p.PID(), unix.SIGKILL); err != nil {
				t.Error(err)
			}
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "log")
			p := start(t, "grandchildren", Spec{Log: log})
			awaitText(t, log, "ready")
			pids := printedPIDs(t, log)
			if len(pids) != 2 {
				t.Fatalf("the child printed %v, want its two stubborn grandchildren", pids)
			}
			end(t, p)
			await(t, p)
			for _, pid := range pids {
				awaitGone(t, pid)
			}
		})
	}
}

// TestParentKilled kills the parent of a child that ignores SIGTERM.
func TestParentKilled(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	parent := start(t, "parent", Spec{Log: log})
	awaitText(t, log, "ready")
	child := printedPIDs(t, log)[0]
	if !alive(child) {
		t.Fatal("the grandchild does not run: the test tests nothing")
	}
	// Only the parent: the group of the child is another one.
	if err := unix.Kill(parent.PID(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, child)
}

// TestThreadStays checks that the child survives the end of the goroutine
// that started it and of every idle thread.
func TestThreadStays(t *testing.T) {
	started := make(chan *Process)
	go func() {
		p, err := Start(Spec{Argv: []string{os.Args[0]}, Env: []string{roleVariable + "=sleep"}})
		if err != nil {
			t.Error(err)
		}
		started <- p
	}()
	p := <-started
	if p == nil {
		t.FailNow()
	}
	endThreads()
	if !alive(p.PID()) {
		t.Error("the child ended with a thread of its parent")
	}
	if err := p.Stop(t.Context(), time.Minute); err != nil {
		t.Error(err)
	}
}

func TestOutput(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	if err := os.WriteFile(log, []byte("before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stderr, err := os.Create(filepath.Join(dir, "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, "print", Spec{Log: log, Stderr: stderr, Dir: dir, Env: []string{"COLOUR=green"}})
	if err := stderr.Close(); err != nil {
		t.Fatal(err)
	}
	await(t, p)
	want := "before\nCOLOUR=green\n" + roleVariable + "=print\nin " + dir + "\n"
	if got := read(t, log); got != want {
		t.Errorf("log = %q, want %q", got, want)
	}
	if got := read(t, stderr.Name()); got != "to stderr\n" {
		t.Errorf("stderr = %q", got)
	}
}

func TestStartErrors(t *testing.T) {
	defer goleak.VerifyNone(t)
	tests := []struct {
		name string
		spec Spec
		want string
	}{
		{"nothing", Spec{}, "want a program with its path"},
		{"without a path", Spec{Argv: []string{"etcd"}}, "want a program with its path"},
		{"not there", Spec{Argv: []string{"/nowhere/etcd"}}, "/nowhere/etcd: no such file"},
		{"log folder missing", Spec{Argv: []string{os.Args[0]}, Log: "/nowhere/log"}, "/nowhere/log"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Start(tt.spec)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Start = %v, %v, want an error with %q", p, err, tt.want)
			}
		})
	}
	if _, err := Start(Spec{Argv: []string{"/nowhere/etcd"}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Start = %v, want os.ErrNotExist", err)
	}
}

// TestNoLeak starts and ends many children and counts open files and goroutines.
func TestNoLeak(t *testing.T) {
	defer goleak.VerifyNone(t)
	cycle := func() {
		p := start(t, "exit 0", Spec{Log: filepath.Join(t.TempDir(), "log")})
		await(t, p)
		if _, err := Start(Spec{Argv: []string{"/nowhere/etcd"}}); err == nil {
			t.Error("a program that is not there was started")
		}
	}
	cycle()
	before := openFileCount(t)
	for range 10 {
		cycle()
	}
	if after := openFileCount(t); after > before {
		t.Errorf("%d open files after ten children, %d before", after, before)
	}
}

func openFileCount(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func printedPIDs(t *testing.T, log string) []int {
	t.Helper()
	var pids []int
	for word := range strings.FieldsSeq(read(t, log)) {
		if pid, err := strconv.Atoi(word); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
