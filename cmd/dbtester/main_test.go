package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dbtester/dbtester/result"
)

// binary is dbtester itself: these tests run it as a user does, with real
// agents and a real etcd cluster on the usual ports of 127.0.0.1 to 127.0.0.3.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "dbtester-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "dbtester")
	out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput()
	status := 1
	if err == nil {
		status = m.Run()
	} else {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
	}
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// experiment is what the tests run: small, on the embedded etcd.
const experiment = `
title: Test
workload: {operation: write, requests: 3000, clients: [1, 20], connections: 5, key: {size: 32}, value: {size: 64}}
databases:
  - {name: etcd, kind: etcd, installation: embedded}
`

// A command is dbtester run in a folder of its own.
type command struct {
	*exec.Cmd
	t              *testing.T
	dir            string
	stdout, stderr *bytes.Buffer
}

// dbtester prepares a command; in dir stands the experiment as test.yaml.
func dbtester(t *testing.T, args ...string) *command {
	t.Helper()
	c := &command{t: t, dir: t.TempDir(), stdout: new(bytes.Buffer), stderr: new(bytes.Buffer)}
	c.write("test.yaml", experiment)
	// A context of its own: the tests look at what is left when it has ended.
	c.Cmd = exec.CommandContext(context.WithoutCancel(t.Context()), binary, args...)
	c.Dir, c.Stdout, c.Stderr = c.dir, c.stdout, c.stderr
	return c
}

func (c *command) write(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// status runs the command to its end and returns its exit status.
func (c *command) status() int {
	c.t.Helper()
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	return c.ProcessState.ExitCode()
}

// resultDir is the one result folder the command made.
func (c *command) resultDir() string {
	c.t.Helper()
	found, err := filepath.Glob(filepath.Join(c.dir, "results", "*-*Z"))
	if err != nil || len(found) != 1 {
		c.t.Fatalf("result folders %v, error %v; want one. Printed:\n%s", found, err, c.stderr)
	}
	return found[0]
}

// until polls the condition and fails the test if it does not come true in time.
func (c *command) until(what string, in time.Duration, condition func() bool) {
	c.t.Helper()
	deadline := time.After(in)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-deadline:
			c.t.Fatalf("not within %v: %s. Printed:\n%s", in, what, c.stderr)
		case <-tick.C:
		}
	}
}

// underLoad starts the command and returns when rows of the load are on disk.
func (c *command) underLoad() {
	c.t.Helper()
	if err := c.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = c.Process.Kill() })
	c.until("rows of the load on disk", 40*time.Second, func() bool {
		rows, _ := filepath.Glob(filepath.Join(c.dir, "results", "*", "*", result.TimeseriesFile))
		if len(rows) == 0 {
			return false
		}
		got, _ := result.ReadTable[result.TimeseriesRow](rows[0])
		return len(got) > 1
	})
}

// A proc is a process, told apart from a later one with the same pid.
type proc struct {
	pid, parent int
	started     string
	args        []string
}

// processes returns all processes of the binary under test.
func processes(t *testing.T) []proc {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var procs []proc
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		cmdline, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		args := strings.Split(strings.TrimRight(string(cmdline), "\x00"), "\x00")
		if err != nil || args[0] != binary {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if fields[0] == "Z" {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		procs = append(procs, proc{pid: pid, parent: parent, started: fields[19], args: args[1:]})
	}
	return procs
}

// running returns the processes with that first argument.
func running(t *testing.T, verb string) []proc {
	t.Helper()
	return slices.DeleteFunc(processes(t), func(p proc) bool { return len(p.args) == 0 || p.args[0] != verb })
}

// nothingLeft asserts that within 10 s no process and no port of the run is left.
func (c *command) nothingLeft() {
	c.t.Helper()
	c.until("no process left", 10*time.Second, func() bool { return len(processes(c.t)) == 0 })
}

// signal sends a signal to the process.
func (p proc) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(p.pid, s); err != nil {
		t.Fatalf("signal %v: %v", p.args, err)
	}
}
