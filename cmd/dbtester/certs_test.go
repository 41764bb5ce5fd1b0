package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCertificatesFromTheCommandLine(t *testing.T) {
	c := dbtester(t, "certs", "--agent", "127.0.0.1,localhost", "--controller", "alice")
	if status := c.status(); status != exitDone || !strings.Contains(c.stdout.String(), "127.0.0.1, localhost") || !strings.Contains(c.stderr.String(), "certs/ca") {
		t.Fatalf("status %d, printed:\n%s%s", status, c.stdout, c.stderr)
	}
	for name, test := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"listed":           {nil, exitDone, "kept"},
		"added":            {[]string{"--controller", "bob"}, exitDone, "bob"},
		"renewed":          {[]string{"--renew", "--controller", "alice"}, exitDone, "renewed"},
		"other names":      {[]string{"--agent", "127.0.0.1,db1.lab"}, exitFailed, "--renew replaces it"},
		"nothing there":    {[]string{"--dir", "empty"}, exitFailed, "--controller alice"},
		"a path as a name": {[]string{"--controller", "../alice"}, exitFailed, "want a name"},
		"a port":           {[]string{"--agent", "10.0.0.2:3500"}, exitFailed, "without a port"},
		"too short":        {[]string{"--valid", "1s", "--controller", "carol"}, exitUsage, "--valid 1s"},
	} {
		t.Run(name, func(t *testing.T) {
			again := dbtester(t, append([]string{"certs"}, test.args...)...)
			again.Dir = c.dir
			if status := again.status(); status != test.status || !strings.Contains(again.stdout.String()+again.stderr.String(), test.says) {
				t.Errorf("status %d, want %d and %q; printed:\n%s%s", status, test.status, test.says, again.stdout, again.stderr)
			}
		})
	}
}

// An agent on a socket and one with certificates serve one experiment each: the
// same binary, the same files as in the README.
func TestAnExperimentOnAnAgentWithCertificates(t *testing.T) {
	certs := dbtester(t, "certs", "--agent", "127.0.0.1", "--controller", "alice")
	if status := certs.status(); status != exitDone {
		t.Fatalf("status %d, printed:\n%s", status, certs.stderr)
	}
	identify := func(holder string) []string {
		dir := filepath.Join(certs.dir, "certs", holder)
		return []string{"--cert", filepath.Join(dir, "cert.pem"), "--key", filepath.Join(dir, "key.pem"), "--ca", filepath.Join(dir, "ca.pem")}
	}
	const address = "127.0.0.1:3517"
	socket := filepath.Join(t.TempDir(), "agent.sock")
	for name, test := range map[string]struct{ agent, control []string }{
		"TLS": {
			append(identify("agent-127.0.0.1"), "--allow", "alice", "--listen", address),
			append(identify("controller-alice"), "--set", `agents=["`+address+`"]`),
		},
		"socket": {[]string{"--listen", "unix:" + socket}, []string{"--set", `agents=["unix:` + socket + `"]`}},
	} {
		t.Run(name, func(t *testing.T) {
			agent := dbtester(t, append([]string{"agent"}, test.agent...)...)
			if err := agent.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = agent.Process.Kill() })
			c := dbtester(t, append([]string{"control", "-c", "test.yaml"}, test.control...)...)
			if status := c.status(); status != exitDone {
				t.Errorf("status %d, printed:\n%s", status, c.stderr)
			}
			if err := agent.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = agent.Wait()
			c.until("no agent left", 10*time.Second, func() bool { return len(running(t, "agent")) == 0 })
		})
	}
	if _, err := os.Lstat(socket); err == nil {
		t.Error("the socket is there still")
	}
}

// Wrong options of an agent are wrong usage, and nothing is begun.
func TestAgentRefusesWrongOptions(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"every address": {[]string{"--listen", "0.0.0.0:3500"}, "only with mutual TLS"},
		"no port":       {[]string{"--listen", "127.0.0.1"}, "want host:port or unix:/path"},
		"interval":      {[]string{"--interval", "1ms"}, "--interval"},
		"lease":         {[]string{"--lease", "1ms"}, "--lease"},
	} {
		t.Run(name, func(t *testing.T) {
			c := dbtester(t, append([]string{"agent", "--dir", "work"}, test.args...)...)
			if status := c.status(); status != exitUsage || !strings.Contains(c.stderr.String(), test.says) {
				t.Errorf("status %d, want %d and %q; printed:\n%s", status, exitUsage, test.says, c.stderr)
			}
		})
	}
}
