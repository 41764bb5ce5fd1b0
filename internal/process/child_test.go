//go:build linux

package process

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// roleVariable makes the test binary play a child instead of running tests.
const roleVariable = "PROCESS_TEST_ROLE"

// childLife ends a child whose test forgot it.
const childLife = 30 * time.Second

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		syscall.Exit(play(role)) // without the hooks of coverage and race tests
	}
	os.Exit(m.Run())
}

// play is a child's whole life; it returns its exit status.
func play(role string) int {
	verb, argument, _ := strings.Cut(role, " ")
	switch verb {
	case "exit":
		status, _ := strconv.Atoi(argument)
		return status
	case "signal":
		number, _ := strconv.Atoi(argument)
		_ = unix.Kill(os.Getpid(), syscall.Signal(number))
	case "burn":
		d, _ := time.ParseDuration(argument)
		burn(d)
		return 0
	case "print":
		env := os.Environ()
		slices.Sort(env)
		dir, _ := os.Getwd()
		fmt.Printf("%s\nin %s\n", strings.Join(env, "\n"), dir)
		fmt.Fprintln(os.Stderr, "to stderr")
		return 0
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
	case "grandchildren":
		signal.Ignore(syscall.SIGTERM)
		for range 2 {
			fmt.Println(forkStubborn())
		}
		fmt.Println("ready")
	case "descendants": // one in the group without the mark, one with it in a session of its own
		signal.Ignore(syscall.SIGTERM)
		fmt.Println(forkStubborn())
		fmt.Println(forkAway())
		fmt.Println("ready")
	case "away":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println(forkAway())
		return 0
	case "limits":
		printLimits()
		return 0
	case "guarded":
		p, err := Start(Spec{
			Argv: []string{os.Args[0]}, Env: []string{roleVariable + "=descendants"}, Log: argument + ".child",
			Confinement: &Confinement{Nonce: rand.Text(), NoGroup: os.Getenv("NO_GROUP") != ""},
		})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Printf("%d\n%d\n%s\nready\n", p.PID(), p.Group(), p.Confined().Group)
	case "parent":
		p, err := Start(Spec{Argv: []string{os.Args[0]}, Env: []string{roleVariable + "=stubborn"}})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Printf("%d\nready\n", p.PID())
	}
	<-time.After(childLife)
	return 0
}

// burn uses d of processor time.
func burn(d time.Duration) {
	for {
		var used unix.Rusage
		if unix.Getrusage(unix.RUSAGE_SELF, &used) != nil || used.Utime.Nano()+used.Stime.Nano() >= int64(d) {
			return
		}
	}
}

// forkStubborn starts a grandchild in the same group, without any of this
// package's care, and returns its pid once it ignores SIGTERM.
func forkStubborn() int {
	cmd := exec.Command(os.Args[0]) // without a context: it must outlive everything but its group
	cmd.Env = []string{roleVariable + "=stubborn"}
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return -1
	}
	_, _ = bufio.NewReader(out).ReadString('\n')
	return cmd.Process.Pid
}

// forkAway leaves a stubborn grandchild behind in a session of its own, whose
// parent is gone: forked twice, as daemons do.
func forkAway() int {
	role := roleVariable + "=away"
	session := os.Getenv(roleVariable) == "away"
	if session {
		role = roleVariable + "=stubborn"
	}
	cmd := exec.Command(os.Args[0]) // without a context: it must outlive everything
	cmd.Env = append(os.Environ(), role)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return -1
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if session {
		return cmd.Process.Pid
	}
	_ = cmd.Wait()
	pid, _ := strconv.Atoi(strings.TrimSpace(line))
	return pid
}

func printLimits() {
	for _, resource := range []int{unix.RLIMIT_NOFILE, unix.RLIMIT_FSIZE, unix.RLIMIT_CORE} {
		var limit unix.Rlimit
		_ = unix.Getrlimit(resource, &limit)
		fmt.Println(limit.Cur, limit.Max)
	}
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "NoNewPrivs") || strings.HasPrefix(line, "Uid") || strings.HasPrefix(line, "Gid") || strings.HasPrefix(line, "Groups") {
			fmt.Println(strings.Join(strings.Fields(line), " "))
		}
	}
}

func start(t *testing.T, role string, spec Spec) *Process {
	t.Helper()
	spec.Argv = []string{os.Args[0]}
	spec.Env = append(spec.Env, roleVariable+"="+role)
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.kill(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func await(t *testing.T, p *Process) {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(10 * time.Second):
		t.Fatalf("process %d does not end", p.PID())
	}
}

// eventually polls a condition of the world outside until it holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(10 * time.Second)
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("after 10 s: %s", what)
		}
	}
}

func awaitText(t *testing.T, path, text string) {
	t.Helper()
	eventually(t, path+" has no "+text, func() bool { return strings.Contains(read(t, path), text) })
}

func awaitGone(t *testing.T, pid int) {
	t.Helper()
	eventually(t, fmt.Sprintf("process %d lives", pid), func() bool { return !alive(pid) })
}

// alive reports whether the process exists and is no zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// endThreads ends a number of operating-system threads: a goroutine that ends
// without unlocking its thread takes the thread with it.
func endThreads() {
	var all, ended sync.WaitGroup
	for range 20 {
		all.Add(1)
		ended.Go(func() {
			runtime.LockOSThread()
			all.Done()
			all.Wait() // all hold a thread at the same time
		})
	}
	ended.Wait()
}
