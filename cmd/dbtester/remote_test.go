package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dbtester/dbtester/result"
)

// remote is an experiment on agents of its own, behind the ports of proxies.
const remote = `
title: Remote
agents: ["127.0.0.1:4500", "127.0.0.2:4500", "127.0.0.3:4500"]
workload: {operation: write, requests: 3000, rate: 500, clients: 20, connections: 5, key: {size: 32}, value: {size: 64}}
databases:
  - {name: etcd, kind: etcd, installation: embedded}
`

// machines are three agents that outlive control, each behind a proxy.
type machines struct {
	agents  []*command
	proxies []*proxy
}

func newMachines(t *testing.T, lease string) *machines {
	t.Helper()
	l := &machines{}
	for n := 1; n <= 3; n++ {
		host := fmt.Sprintf("127.0.0.%d", n)
		a := dbtester(t, "agent", "--listen", host+":3500", "--dir", "work", "--lease", lease)
		if err := a.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = a.Process.Signal(syscall.SIGTERM)
			_ = a.Wait()
			if t.Failed() {
				t.Logf("agent %d printed:\n%s", n, a.stderr)
			}
		})
		l.agents = append(l.agents, a)
		l.proxies = append(l.proxies, newProxy(t, host+":4500", host+":3500"))
	}
	return l
}

func remoteCommand(t *testing.T, args ...string) *command {
	t.Helper()
	c := dbtester(t, args...)
	c.write("test.yaml", remote)
	return c
}

// kept is a file as the agent of member n has it.
func (l *machines) kept(t *testing.T, run, database string, n int, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(l.agents[n-1].dir, "work", run, database, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sameRows asserts that what the agents sampled is in the result, byte for byte.
func (l *machines) sameRows(t *testing.T, run, dir string) {
	t.Helper()
	for n := 1; n <= 3; n++ {
		for _, name := range []string{result.MemberMetricsFile(n), result.MemberFiguresFile(n), result.MemberLogFile(n)} {
			got, err := os.ReadFile(filepath.Join(dir, name))
			if want := l.kept(t, run, "etcd", n, name); err != nil || string(got) != want {
				t.Errorf("%s has %d bytes and differs from the agent's of %d bytes, error %v", name, len(got), len(want), err)
			}
		}
	}
}

// TestNoRowIsLostOverABrokenConnection resets all connections to the agents
// every 300 ms while an experiment runs, and cuts them for two seconds.
func TestNoRowIsLostOverABrokenConnection(t *testing.T) {
	l := newMachines(t, "10s")
	c := remoteCommand(t, "control", "-c", "test.yaml")
	c.underLoad()
	resets := 0
	for range 8 {
		for _, p := range l.proxies {
			resets += p.reset()
		}
		pause(t, 300*time.Millisecond)
	}
	for _, p := range l.proxies {
		p.setCut(true)
	}
	pause(t, 2*time.Second)
	for _, p := range l.proxies {
		p.setCut(false)
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("%v, printed:\n%s", err, c.stderr)
	}
	dir := c.resultDir()
	t.Logf("%d connections were reset", resets)
	m, err := result.ReadManifest(dir)
	if err != nil || m.Status != result.Complete || m.Databases[0].Keys.Counted != 3000 {
		t.Errorf("status %q, %s, error %v", m.Status, m.Reason, err)
	}
	l.sameRows(t, filepath.Base(dir), filepath.Join(dir, "etcd"))
}

// TestAVanishedControlIsResumed kills a control whose agents live on: after the
// lease's time the members are gone, and a resumed run has all they left.
func TestAVanishedControlIsResumed(t *testing.T) {
	for name, lease := range map[string]string{"after the lease": "2s", "within the lease": "90s"} {
		t.Run(name, func(t *testing.T) {
			l := newMachines(t, lease)
			c := remoteCommand(t, "control", "-c", "test.yaml")
			c.underLoad()
			if err := c.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			dir := c.resultDir()
			if lease == "2s" {
				c.until("no member left", 15*time.Second, func() bool { return len(running(t, "embedded")) == 0 })
			} else {
				other := remoteCommand(t, "control", "-c", "test.yaml")
				if status := other.status(); status != exitFailed || !strings.Contains(other.stderr.String(), "the lease is held by control of run "+filepath.Base(dir)) {
					t.Errorf("another control: status %d, printed:\n%s", status, other.stderr)
				}
			}
			again := dbtester(t, "control", "--resume", dir)
			if status := again.status(); status != exitDone {
				t.Fatalf("status %d, printed:\n%s", status, again.stderr)
			}
			m, err := result.ReadManifest(dir)
			if err != nil || m.Status != result.Complete || m.Databases[0].Keys.Counted != 3000 {
				t.Errorf("status %q, %s, error %v", m.Status, m.Reason, err)
			}
			l.sameRows(t, m.Resumptions[0].Run, filepath.Join(dir, "etcd"))
			l.sameRows(t, filepath.Base(dir), filepath.Join(dir, m.Resumptions[0].Again[0].Folder))
			if exists(filepath.Join(dir, result.LeaseKeyFile)) {
				t.Error("the key of the leases is left")
			}
			if left := running(t, "embedded"); len(left) > 0 {
				t.Errorf("members are left: %v", left)
			}
		})
	}
}

// TestALostLeaseIsToldOf suspends control for longer than the lease.
func TestALostLeaseIsToldOf(t *testing.T) {
	newMachines(t, "1s")
	c := remoteCommand(t, "control", "-c", "test.yaml")
	c.underLoad()
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	c.until("no member left", 15*time.Second, func() bool { return len(running(t, "embedded")) == 0 })
	if err := c.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if status := c.ProcessState.ExitCode(); status != exitFailed || !strings.Contains(c.stderr.String(), "was not heard of for 1s") {
		t.Errorf("status %d, printed:\n%s", status, c.stderr)
	}
	m, err := result.ReadManifest(c.resultDir())
	if err != nil || m.Status != result.Failed || m.Databases[0].Status != result.Failed || !strings.Contains(m.Databases[0].Reason, "lease") {
		t.Errorf("manifest %q %q, %v; want failed, with the lease as the reason", m.Status, m.Databases[0].Reason, err)
	}
}

func pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}
