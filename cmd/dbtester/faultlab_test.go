package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dbtester/dbtester/internal/identity"
)

// The hosts of a lab: three database machines and the controller's.
const (
	labHosts    = 3
	controlHost = "control"
	labScript   = "../../scripts/netns-lab.sh"
	labPrefix   = "dbt-fault-"
)

// A lab is four hosts, each a network namespace of its own, with an agent on
// three of them. Nothing in it can be reached from another lab, so that cases
// run beside each other; and whatever is started in it is found by its
// namespace, whoever is its parent.
type lab struct {
	t      *testing.T
	name   string
	dir    string // everything of the case is below it
	agents []*labProcess
}

// newLab makes the hosts and removes them at the end of the test, whatever
// runs in them then. The number tells it from the other labs of this process.
func newLab(t *testing.T, number int) *lab {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a lab needs root: it is made of network namespaces")
	}
	l := &lab{t: t, name: labPrefix + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(number), dir: t.TempDir()}
	t.Cleanup(func() { l.script("down", l.name) })
	l.script("up", l.name)
	for _, dir := range []string{"tmp", "results"} {
		l.must(os.Mkdir(filepath.Join(l.dir, dir), 0o755))
	}
	l.makeCertificates()
	return l
}

// labController is the name in the controller's certificate.
const labController = "fault-table"

// makeCertificates gives every host its own.
func (l *lab) makeCertificates() {
	l.t.Helper()
	holders := []identity.Holder{{Role: identity.Controller, Names: []string{labController}}}
	for n := range labHosts {
		holders = append(holders, identity.Holder{Role: identity.Agent, Names: []string{l.address(n + 1)}})
	}
	_, err := identity.Lab{Dir: filepath.Join(l.dir, "certs")}.Issue(holders)
	l.must(err)
}

// certificates are the files of one host.
func (l *lab) certificates(holder string) identity.Files {
	dir := filepath.Join(l.dir, "certs", holder)
	return identity.Files{
		Certificate: filepath.Join(dir, identity.CertificateFile),
		Key:         filepath.Join(dir, identity.KeyFile),
		CA:          filepath.Join(dir, identity.CAFile),
	}
}

// identify are the flags that say who a dbtester is.
func (l *lab) identify(holder string) []string {
	f := l.certificates(holder)
	return []string{"--cert", f.Certificate, "--key", f.Key, "--ca", f.CA}
}

// sweepLabs removes the labs of tests that were killed.
func sweepLabs(t *testing.T) {
	t.Helper()
	found, _ := filepath.Glob("/run/netns/" + labPrefix + "*-switch")
	for _, path := range found {
		name := strings.TrimSuffix(filepath.Base(path), "-switch")
		pid, _, _ := strings.Cut(strings.TrimPrefix(name, labPrefix), "-")
		if _, err := os.Stat("/proc/" + pid); err == nil {
			continue // its test still runs
		}
		(&lab{t: t, name: name}).script("down", name)
	}
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// script runs a verb of the script that makes labs.
func (l *lab) script(args ...string) {
	l.t.Helper()
	out, err := exec.CommandContext(context.WithoutCancel(l.t.Context()), labScript, args...).CombinedOutput()
	if err != nil {
		l.t.Errorf("%s %v: %v\n%s", labScript, args, err, out)
	}
}

// address is that of an agent's machine, 1 for the first.
func (l *lab) address(n int) string { return fmt.Sprintf("10.0.0.%d", n+1) }

// hostDir is the --dir of an agent.
func (l *lab) hostDir(n int) string { return filepath.Join(l.dir, "host-"+strconv.Itoa(n)) }

func (l *lab) namespace(host string) string { return l.name + "-" + host }

// A labProcess is dbtester on one of the hosts.
type labProcess struct {
	*exec.Cmd
	printed *printout
	ended   chan struct{}
}

// start runs dbtester on a host.
func (l *lab) start(host string, args ...string) *labProcess {
	l.t.Helper()
	// ip becomes the program it runs: the process is dbtester itself.
	words := append([]string{"netns", "exec", l.namespace(host), binary}, args...)
	c := exec.CommandContext(context.WithoutCancel(l.t.Context()), "ip", words...)
	c.Dir = l.dir
	c.Env = append(os.Environ(), "TMPDIR="+filepath.Join(l.dir, "tmp"))
	p := &labProcess{Cmd: c, printed: &printout{arrived: make(chan struct{})}, ended: make(chan struct{})}
	c.Stdout, c.Stderr = p.printed, p.printed
	l.must(c.Start())
	go func() {
		_ = c.Wait()
		close(p.ended)
	}()
	return p
}

// startAgent starts the agent of a host and waits until it listens.
func (l *lab) startAgent(n int, databases string) *labProcess {
	l.t.Helper()
	args := append(l.identify("agent-"+l.address(n)), "--allow", labController, "--lease", labLease.String())
	a := l.start(strconv.Itoa(n), append([]string{"agent", "--listen", l.address(n) + ":3500", "--dir", l.hostDir(n), "--databases", databases}, args...)...)
	if !a.printed.await("agent is listening", 20*time.Second, a.ended) {
		l.t.Fatalf("agent %d does not listen; printed:\n%s", n, a.printed)
	}
	return a
}

// signal sends a signal to the process itself and to nothing else.
func (p *labProcess) signal(s os.Signal) error {
	err := p.Process.Signal(s)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// endsWithin reports whether the process has ended in time.
func (p *labProcess) endsWithin(d time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(d):
		return false
	}
}

// processes are those on a host, told by their network namespace.
func (l *lab) processes(host string) []proc {
	var home unix.Stat_t
	if err := unix.Stat("/run/netns/"+l.namespace(host), &home); err != nil {
		l.t.Errorf("the host %s is gone: %v", host, err)
		return nil
	}
	entries, err := os.ReadDir("/proc")
	l.must(err)
	var found []proc
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() { // which may be visiting
			continue
		}
		var its unix.Stat_t
		if err := unix.Stat(filepath.Join("/proc", e.Name(), "ns/net"), &its); err != nil || its.Ino != home.Ino {
			continue
		}
		cmdline, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if len(cmdline) == 0 {
			continue // a zombie
		}
		found = append(found, proc{pid: pid, args: strings.Split(strings.TrimRight(string(cmdline), "\x00"), "\x00")})
	}
	return found
}

// member is the store's process on a host; false if none runs.
func (l *lab) member(n int, s store) (proc, bool) {
	for _, p := range l.processes(strconv.Itoa(n)) {
		if s.isMember(p) {
			return p, true
		}
	}
	return proc{}, false
}

// isMember tells the store's server from the agent and what it starts beside.
func (s store) isMember(p proc) bool {
	if filepath.Base(p.args[0]) == filepath.Base(binary) && len(p.args) > 1 && p.args[1] != embeddedCommand {
		return false
	}
	return strings.Contains(strings.Join(p.args, " "), s.program)
}

// A printout is what a process printed until now. It is safe for concurrent use.
type printout struct {
	mu      sync.Mutex
	text    bytes.Buffer
	timed   bytes.Buffer  // the same, each piece with its time
	arrived chan struct{} // closed, and replaced, with each write
}

func (w *printout) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.arrived)
	w.arrived = make(chan struct{})
	fmt.Fprintf(&w.timed, "%s %s", time.Now().UTC().Format("15:04:05.000"), p)
	return w.text.Write(p)
}

// whens is what was printed, and when.
func (w *printout) whens() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.timed.String()
}

func (w *printout) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// await returns true once a word was printed, false if the process ended or
// the time was up before.
func (w *printout) await(word string, in time.Duration, ended <-chan struct{}) bool {
	deadline := time.After(in)
	for {
		w.mu.Lock()
		seen, arrived := strings.Contains(w.text.String(), word), w.arrived
		w.mu.Unlock()
		if seen {
			return true
		}
		select {
		case <-arrived:
		case <-ended:
			return strings.Contains(w.String(), word)
		case <-deadline:
			return false
		}
	}
}

// within polls a condition and reports whether it came true in time.
func within(in time.Duration, condition func() bool) bool {
	deadline := time.After(in)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-deadline:
			return false
		case <-tick.C:
		}
	}
	return true
}

// sockets are the listening and established sockets of a host.
func (l *lab) sockets(host string) string {
	out, err := exec.CommandContext(l.t.Context(), "ip", "netns", "exec", l.namespace(host), "ss", "-H", "-a", "-n", "-t", "-u", "-x").CombinedOutput()
	if err != nil {
		return fmt.Sprintf("ss: %v: %s", err, out)
	}
	var left []string
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 1 && (f[1] == "LISTEN" || f[1] == "ESTAB" || f[1] == "UNCONN") {
			left = append(left, strings.TrimSpace(line))
		}
	}
	return strings.Join(left, "\n")
}

// kill ends a process at once, told by a handle that can mean no other.
func (p proc) kill(t *testing.T, s syscall.Signal) {
	t.Helper()
	if handle, err := os.FindProcess(p.pid); err == nil {
		_ = handle.Signal(s) // it may have ended by itself
	}
}
