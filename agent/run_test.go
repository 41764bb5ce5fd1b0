//go:build linux

package agent

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/internal/process"
)

// runAgentProcess runs an agent as a process of its own.
func runAgentProcess(t *testing.T, dir string, env ...string) (*process.Process, dbtesterpb.AgentClient) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "agent.log")
	agent, err := process.Start(process.Spec{
		Argv: []string{executable()}, Env: append(env, roleVariable+"=agent "+dir), Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := agent.Stop(context.Background(), 0); err != nil {
			t.Error(err)
		}
	})
	var address []string
	eventually(t, "the agent tells no address", func() bool {
		text, err := os.ReadFile(log)
		address = regexp.MustCompile(`address=(\S+)`).FindStringSubmatch(string(text))
		return err == nil && len(address) == 2
	})
	return agent, dbtesterpb.NewAgentClient(dial(t, address[1]))
}

// startAgentProcess runs an agent as a process of its own and a member on it.
func startAgentProcess(t *testing.T, dir string) (*process.Process, dbtesterpb.AgentClient, int64) {
	t.Helper()
	agent, client := runAgentProcess(t, dir)
	started, err := client.Start(t.Context(), request(""))
	if err != nil {
		t.Fatal(err)
	}
	if !alive(started.GetPid()) {
		t.Fatal("the member does not run")
	}
	return agent, client, started.GetPid()
}

func TestKilledAgentLeavesNoMember(t *testing.T) {
	agent, _, member := startAgentProcess(t, t.TempDir())
	if err := syscall.Kill(agent.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, member)
}

func TestTerminatedAgentStopsMember(t *testing.T) {
	dir := t.TempDir()
	agent, client, member := startAgentProcess(t, dir)
	stream, err := client.Metrics(t.Context(), &dbtesterpb.MetricsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the member is not ready", func() bool {
		resp, err := client.Status(t.Context(), &dbtesterpb.StatusRequest{})
		return err == nil && resp.GetMember().GetLastLog() == "ready"
	})
	if err := syscall.Kill(agent.PID(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-agent.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the agent does not end")
	}
	if state, _ := agent.State(); state.Exit != "exit status 0" {
		t.Errorf("the agent ended with %q", state.Exit)
	}
	if alive(member) {
		t.Error("the member outlived the agent")
	}
	folder := filepath.Join(dir, "work", "run-1", "fake-db")
	if log, err := os.ReadFile(filepath.Join(folder, "2-database.log")); err != nil || string(log) != "ready\nbye\n" {
		t.Errorf("the member's log = %q, %v: want it asked to end", log, err)
	}
	if _, err := os.Stat(filepath.Join(folder, dataFolder)); err == nil {
		t.Error("the data are still there")
	}
}

func TestRunErrors(t *testing.T) {
	busy, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		change func(*Options)
		want   []string
	}{
		{"all addresses", func(o *Options) { o.Listen = ":0" }, []string{"--listen :0", "mutual TLS", "dbtester certs"}},
		{"all addresses of IPv4", func(o *Options) { o.Listen = "0.0.0.0:0" }, []string{"--listen 0.0.0.0:0", "mutual TLS"}},
		{"all addresses of IPv6", func(o *Options) { o.Listen = "[::]:0" }, []string{"--listen [::]:0", "mutual TLS"}},
		{"all addresses, mapped", func(o *Options) { o.Listen = "[::ffff:0.0.0.0]:0" }, []string{"mutual TLS"}},
		{"address of the network", func(o *Options) { o.Listen = "10.0.0.1:0" }, []string{"--listen 10.0.0.1:0", "mutual TLS"}},
		{"host name", func(o *Options) { o.Listen = "db1.example:0" }, []string{"mutual TLS"}},
		{"no port", func(o *Options) { o.Listen = "127.0.0.1" }, []string{"--listen 127.0.0.1", "host:port"}},
		{"port in use", func(o *Options) { o.Listen = busy.Addr().String() }, []string{"--listen " + busy.Addr().String(), "address already in use"}},
		{"not this machine's", func(o *Options) { o.Listen = "240.0.0.1:0"; withTLS(t, o) }, []string{"--listen 240.0.0.1:0", "cannot assign"}},
		{"nobody allowed", func(o *Options) { withTLS(t, o); o.Allow = nil }, []string{"--allow alice"}},
		{"allowed without certificates", func(o *Options) { o.Allow = []string{"alice"} }, []string{"--allow", "--cert, --key and --ca"}},
		{"no key", func(o *Options) { withTLS(t, o); o.TLS.Key = "" }, []string{"give --key too"}},
		{"key others read", func(o *Options) { withTLS(t, o); openUp(t, o.TLS.Key) }, []string{"key.pem", "chmod 600"}},
		{"socket with certificates", func(o *Options) { withTLS(t, o); o.Listen = "unix:/x" }, []string{"--listen unix:/x", "leave --cert"}},
		{"no socket's path", func(o *Options) { o.Listen = "unix:" }, []string{"unix:/run/"}},
		{"socket is a file", func(o *Options) { o.Listen = "unix:" + file }, []string{file, "no socket"}},
		{"socket in no folder", func(o *Options) { o.Listen = "unix:" + file + "/s" }, []string{file}},
		{"dir is a file", func(o *Options) { o.Dir = file }, []string{"--dir " + file}},
		{"unknown device", func(o *Options) { o.Device = "tape0" }, []string{"--device tape0", "this machine has"}},
		{"unknown interface", func(o *Options) { o.Interface = "eth77" }, []string{"--interface eth77", "lo"}},
		{"negative grace", func(o *Options) { o.Grace = -1 }, []string{"grace"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := testOptions(t.TempDir())
			tt.change(&o)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			err := Run(ctx, o)
			if err == nil {
				t.Fatal("Run: want an error")
			}
			for _, word := range tt.want {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("Run = %v: does not say %q", err, word)
				}
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	o, err := Options{}.withDefaults()
	if err != nil || o.Listen != "127.0.0.1:3500" || o.Grace != 30*time.Second || !filepath.IsAbs(o.Dir) || o.Log == nil {
		t.Errorf("defaults = %+v, %v", o, err)
	}
}
