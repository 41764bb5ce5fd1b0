//go:build linux

package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/internal/process"
)

// A life is one agent with a member that has a family.
type life struct {
	dir, port string
	agent     *process.Process
	client    dbtesterpb.AgentClient
	member    int
	marker    marker
}

// newLife returns when the member and all its family run.
func newLife(t *testing.T, noGroup bool) *life {
	t.Helper()
	l := &life{dir: t.TempDir(), port: freePort(t)}
	var env []string
	if noGroup {
		env = append(env, "NO_GROUP=1")
	}
	l.agent, l.client = runAgentProcess(t, l.dir, env...)
	resp, err := l.client.Start(t.Context(), request(fmt.Sprintf(`{"behaviour": "family", "port": %q}`, l.port)))
	if err != nil {
		t.Fatal(err)
	}
	if grouped := resp.GetHeldBy() == "control group"; grouped == noGroup && noGroup {
		t.Fatalf("held by %q", resp.GetHeldBy())
	} else if !grouped && !noGroup {
		t.Skipf("no control group here: %s", resp.GetHeldBy())
	}
	l.member = int(resp.GetPid())
	eventually(t, "the family is not complete", func() bool { return len(l.processes(t)) == 4 }) // with the guard
	l.marker = l.readMarker(t)
	return l
}

// nextPort is below those that the kernel hands out to connections and to
// listeners that leave the choice to it: what is free now stays free.
var nextPort atomic.Int32

func freePort(t *testing.T) string {
	t.Helper()
	const first, count = 20000, 10000
	for range count {
		port := first + (os.Getpid()*64+int(nextPort.Add(1)))%count
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address); err == nil {
			_ = listener.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}

func (l *life) path(elements ...string) string {
	return filepath.Join(append([]string{l.dir, "work", "run-1", "fake-db"}, elements...)...)
}

func (l *life) readMarker(t *testing.T) marker {
	t.Helper()
	root, err := os.OpenRoot(filepath.Join(l.dir, "work"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	m, err := readMarker(root, filepath.Join("run-1", "fake-db"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// processes are those of the member's tree, by what only they have in their
// environment, and its guard, by the nonce in its arguments.
func (l *life) processes(t *testing.T) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	nonce := l.marker.Nonce
	if nonce == "" {
		text, _ := os.ReadFile(l.path(markerFile))
		_, rest, _ := strings.Cut(string(text), `"nonce": "`)
		nonce, _, _ = strings.Cut(rest, `"`)
	}
	var found []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || !alive(int64(pid)) {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		cmdline, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if bytes.Contains(environ, []byte("STORE="+l.path())) || nonce != "" && bytes.Contains(cmdline, []byte(nonce)) {
			found = append(found, pid)
		}
	}
	return found
}

// nothingRuns asserts that within 10 s no process, port and control group is left.
func (l *life) nothingRuns(t *testing.T) {
	t.Helper()
	eventually(t, "processes are left", func() bool { return len(l.processes(t)) == 0 })
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", l.port)
	if err != nil {
		t.Errorf("the port is left: %v", err)
	} else {
		_ = listener.Close()
	}
	if l.marker.Group != "" {
		eventually(t, l.marker.Group+" is left", func() bool {
			_, err := os.Stat(l.marker.Group)
			return errors.Is(err, fs.ErrNotExist)
		})
	}
}

// resultsRemain asserts that log and metrics, and nothing else, are left.
func (l *life) resultsRemain(t *testing.T) {
	t.Helper()
	want := []string{"2-database.log", "2-server-system-metrics.csv", markerFile}
	got := slices.DeleteFunc(entries(t, l.path()), func(name string) bool {
		return strings.HasPrefix(name, "2-server") && name != want[1] // what a store tells of itself
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("left in the folder (-want +got):\n%s", diff)
	}
	if m := l.readMarker(t); m.State != stateStopped {
		t.Errorf("state %q", m.State)
	}
}

// However agent or member ends, nothing of the member's tree is left; and the
// next agent in the folder removes the data that a killed one could not.
func TestEveryWayToDie(t *testing.T) {
	sent := func(s syscall.Signal) func(t *testing.T, l *life) {
		return func(t *testing.T, l *life) {
			t.Helper()
			if err := syscall.Kill(l.agent.PID(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	ways := []struct {
		name  string
		end   func(t *testing.T, l *life)
		swept bool // the data are left to the next agent
	}{
		{"agent killed", sent(syscall.SIGKILL), true},
		{"agent panics", sent(syscall.SIGUSR1), true},
		{"agent terminated", sent(syscall.SIGTERM), false},
		{"agent interrupted", sent(syscall.SIGINT), false},
		{"member killed", func(t *testing.T, l *life) {
			t.Helper()
			if err := syscall.Kill(l.member, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			l.nothingRuns(t)
			if _, err := l.client.Stop(t.Context(), &dbtesterpb.StopRequest{}); err != nil {
				t.Error(err)
			}
		}, false},
		{"member stopped", func(t *testing.T, l *life) {
			t.Helper()
			if _, err := l.client.Stop(t.Context(), &dbtesterpb.StopRequest{}); err != nil {
				t.Error(err)
			}
		}, false},
		{"agent and guard killed", func(t *testing.T, l *life) {
			t.Helper()
			group, err := syscall.Getpgid(l.member)
			if err != nil {
				t.Fatal(err)
			}
			_ = syscall.Kill(l.agent.PID(), syscall.SIGSTOP) // it must not see the guard's end first
			_ = syscall.Kill(group, syscall.SIGKILL)
			_ = syscall.Kill(l.agent.PID(), syscall.SIGKILL)
			<-l.agent.Done()
			runAgentProcess(t, l.dir) // sweeps
		}, true},
	}
	for _, tt := range ways {
		for _, noGroup := range []bool{false, true} {
			name := tt.name
			if noGroup {
				name += ", no control group"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				l := newLife(t, noGroup)
				tt.end(t, l)
				l.nothingRuns(t)
				if tt.swept && tt.name != "agent and guard killed" {
					<-l.agent.Done()
					runAgentProcess(t, l.dir)
				}
				eventually(t, "the data are left", func() bool {
					_, err := os.Stat(l.path(dataFolder))
					return errors.Is(err, fs.ErrNotExist)
				})
				eventually(t, "the marker is not changed", func() bool { return l.readMarker(t).State == stateStopped })
				l.resultsRemain(t)
			})
		}
	}
}

// The agent is killed at any moment of a start.
func TestKilledDuringStart(t *testing.T) {
	for i := range 12 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			l := &life{dir: t.TempDir(), port: freePort(t)}
			var client dbtesterpb.AgentClient
			l.agent, client = runAgentProcess(t, l.dir)
			started := make(chan struct{})
			go func() {
				defer close(started)
				_, _ = client.Start(t.Context(), request(fmt.Sprintf(`{"behaviour": "family", "port": %q}`, l.port)))
			}()
			<-time.After(time.Duration(i) * 5 * time.Millisecond)
			if err := syscall.Kill(l.agent.PID(), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			<-started
			<-l.agent.Done()
			if _, err := os.Stat(l.path(markerFile)); err == nil {
				l.marker = l.readMarker(t)
			}
			l.nothingRuns(t)
		})
	}
}
