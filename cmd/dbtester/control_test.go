package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dbtester/dbtester/result"
)

func TestAnExperimentFromStartToTable(t *testing.T) {
	c := dbtester(t, "control", "--local", "-c", "test.yaml")
	if status := c.status(); status != exitDone {
		t.Fatalf("status %d, printed:\n%s", status, c.stderr)
	}
	c.nothingLeft()
	dir := c.resultDir()
	m, err := result.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := m.Databases[0]
	if m.Status != result.Complete || d.Keys == nil || d.Keys.Counted != 3000 || d.Keys.Acknowledged != 3000 {
		t.Errorf("status %q, keys %+v; want complete and 3,000 keys", m.Status, d.Keys)
	}
	if len(d.Stages) != 2 || d.Stages[0].OK != 1500 || d.Stages[1].Clients != 20 || d.Stages[1].Connections != 5 {
		t.Errorf("stages %+v, want 1,500 requests of 1 and of 20 clients", d.Stages)
	}
	if len(d.Settings) == 0 || len(d.Members) != 3 || d.Members[2].CPUSeconds == 0 || d.Members[0].DataBytes == 0 {
		t.Errorf("settings %v, members %+v: want what was set and how the members ended", d.Settings, d.Members)
	}
	for _, name := range []string{
		result.TimeseriesFile, result.PercentileFile, result.DistributionFile, result.SummaryFile, result.ByKeyFile,
		result.ClientMetricsFile, result.DiskSpaceFile, result.HistogramLogFile,
		result.MemberMetricsFile(1), result.MemberMetricsFile(3), result.MemberLogFile(2), result.MemberFiguresFile(2),
	} {
		if info, err := os.Stat(filepath.Join(dir, "etcd", name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, member := range d.Members {
		// Before and after; the run is too short for one in between.
		if len(member.Clocks) < 2 || member.Clocks[0].Bound <= 0 || member.Clocks[0].Bound > time.Second {
			t.Errorf("clock of member %d: %+v, want what was measured", member.Index, member.Clocks)
		}
	}
	if !strings.Contains(c.stdout.String(), result.RowServerLogSyncP99) {
		t.Error("the table lacks what the members tell of themselves")
	}
	for _, name := range []string{result.AggregatedCSVFile, result.AggregatedTXTFile, result.ReadmeFile, result.ReportFile, "AVG-THROUGHPUT.svg"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if !strings.Contains(c.stdout.String(), "TOTAL-REQUEST-NUMBER") || !strings.Contains(c.stdout.String(), "3,000") {
		t.Errorf("no table was printed:\n%s", c.stdout)
	}
	left, err := filepath.Glob(filepath.Join(c.dir, "results", ".*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestCtrlCKeepsAndAnalysesWhatThereIs(t *testing.T) {
	c := dbtester(t, "control", "--local", "-c", "test.yaml", "--set", "workload.requests=10000000")
	c.underLoad()
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if status := c.ProcessState.ExitCode(); status != exitInterrupted {
		t.Errorf("status %d, want %d; printed:\n%s", status, exitInterrupted, c.stderr)
	}
	c.nothingLeft()
	m, err := result.ReadManifest(c.resultDir())
	if err != nil {
		t.Fatal(err)
	}
	stage := m.Databases[0].Stages[0]
	if m.Status != result.Partial || stage.Unsent == 0 || stage.OK == 0 || stage.Attempted()+stage.Unsent != stage.Planned {
		t.Errorf("status %q, stage %+v; want partial, with requests left unsent", m.Status, stage)
	}
	if !strings.Contains(c.stdout.String(), "PARTIAL") {
		t.Errorf("the table has no PARTIAL banner:\n%s", c.stdout)
	}
}

func TestASecondCtrlCLeavesAtOnce(t *testing.T) {
	c := dbtester(t, "control", "--local", "-c", "test.yaml", "--set", "workload.requests=10000000")
	c.underLoad()
	for range 2 {
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		select { // two signals at the same moment would be one
		case <-time.After(50 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
	_ = c.Wait()
	if status := c.ProcessState.ExitCode(); status != exitInterrupted {
		t.Errorf("status %d, want %d", status, exitInterrupted)
	}
	c.nothingLeft()
}

func TestKilledInTheMiddleNothingIsLeft(t *testing.T) {
	for name, test := range map[string]struct {
		verb   string
		victim int
		status int
		says   string
	}{
		"control": {"control", 0, -1, ""},
		"agent":   {"agent", 1, exitFailed, "agent 127.0.0.2 died or cannot be reached"},
		"member":  {"embedded", 2, exitFailed, "died: signal: killed"},
	} {
		t.Run(name, func(t *testing.T) {
			c := dbtester(t, "control", "--local", "-c", "test.yaml", "--set", "workload.requests=60000", "--set", "workload.clients=20")
			c.underLoad()
			victim := victimOf(t, test.verb, test.victim)
			victim.signal(t, syscall.SIGKILL)
			_ = c.Wait()
			if status := c.ProcessState.ExitCode(); status != test.status || !strings.Contains(c.stderr.String(), test.says) {
				t.Errorf("status %d, want %d and %q; printed:\n%s", status, test.status, test.says, c.stderr)
			}
			c.nothingLeft()
			again := dbtester(t, "analyze", c.resultDir())
			if status := again.status(); status != exitDone || !strings.Contains(again.stdout.String(), "MAX-THROUGHPUT") {
				t.Errorf("analyze: status %d, printed:\n%s%s", status, again.stdout, again.stderr)
			}
		})
	}
}

// victimOf finds the process with that verb whose address is that of agent n.
func victimOf(t *testing.T, verb string, n int) proc {
	t.Helper()
	procs := running(t, verb)
	for _, p := range procs {
		if verb == "control" || strings.Contains(strings.Join(p.args, " "), fmt.Sprintf("127.0.0.%d:", n+1)) ||
			strings.Contains(strings.Join(p.args, " "), fmt.Sprintf("agent-%d.sock", n+1)) {
			if verb != "embedded" || strings.Contains(strings.Join(p.args, " "), fmt.Sprintf("listen-client-urls=http://127.0.0.%d:", n+1)) {
				return p
			}
		}
	}
	t.Fatalf("no process %s for 127.0.0.%d among %v", verb, n+1, procs)
	return proc{}
}

func TestBadInputIsToldAndNothingIsStarted(t *testing.T) {
	taken := func(t *testing.T, address string) {
		t.Helper()
		var config net.ListenConfig
		l, err := config.Listen(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
	}
	for name, test := range map[string]struct {
		yaml   string // instead of the experiment
		args   []string
		before func(t *testing.T, c *command)
		status int
		says   string
	}{
		"no experiment":      {args: []string{"control"}, status: exitUsage, says: "use -c FILE.yaml"},
		"no such file":       {args: []string{"control", "-c", "no.yaml"}, status: exitUsage, says: "no.yaml: no such file"},
		"unknown flag":       {args: []string{"control", "--lcoal"}, status: exitUsage, says: "unknown flag: --lcoal"},
		"unknown command":    {args: []string{"contorl"}, status: exitUsage, says: `unknown command "contorl"`},
		"unexpected word":    {args: []string{"control", "test.yaml"}, status: exitUsage, says: `unexpected argument "test.yaml"`},
		"unknown key":        {yaml: strings.Replace(experiment, "requests:", "request:", 1), status: exitUsage, says: "test.yaml:3:"},
		"wrong type":         {yaml: strings.Replace(experiment, "3000", "many", 1), status: exitUsage, says: "test.yaml:3:"},
		"negative count":     {args: []string{"control", "--local", "-c", "test.yaml", "--set", "workload.requests=-1"}, status: exitUsage, says: "--set workload.requests=-1"},
		"unknown kind":       {yaml: strings.Replace(experiment, "kind: etcd", "kind: edct", 1), status: exitUsage, says: `unknown kind "edct"; known are`},
		"unknown option":     {yaml: strings.Replace(experiment, "embedded}", "embedded, options: {snapshots: 1}}", 1), status: exitUsage, says: "test.yaml:5:"},
		"path in a flag":     {yaml: strings.Replace(experiment, "embedded}", "embedded, options: {flags: {data-dir: /tmp}}}", 1), status: exitUsage, says: "data-dir"},
		"unknown read":       {args: []string{"control", "--local", "-c", "test.yaml", "--set", "workload.consistency=eventual"}, status: exitUsage, says: "eventual"},
		"named like a file":  {yaml: strings.Replace(experiment, "name: etcd", "name: Report.HTML", 1), status: exitUsage, says: "test.yaml:5:12: "},
		"no agents":          {args: []string{"control", "-c", "test.yaml"}, status: exitUsage, says: "no agents"},
		"unreachable agent":  {args: []string{"control", "-c", "test.yaml", "--set", `agents=["127.0.0.1:1"]`}, status: exitFailed, says: "agent 127.0.0.1:1: not reached"},
		"no installation":    {yaml: strings.Replace(experiment, "embedded", "etcd-3.99.0", 1), status: exitFailed, says: "etcd-3.99.0"},
		"another machine":    {args: []string{"control", "-c", "test.yaml", "--set", `agents=["10.0.0.2:3500"]`}, status: exitUsage, says: "10.0.0.2:3500: an agent on another machine is reached with mutual TLS only"},
		"half a certificate": {args: []string{"control", "-c", "test.yaml", "--cert", "x", "--set", `agents=["10.0.0.2:3500"]`}, status: exitUsage, says: "give --key and --ca too"},
		"local certificates": {args: []string{"control", "-c", "test.yaml", "--local", "--cert", "x", "--key", "x", "--ca", "x"}, status: exitUsage, says: "leave --cert, --key and --ca out"},
		"no socket":          {args: []string{"control", "-c", "test.yaml", "--set", `agents=["unix:/nowhere/agent.sock"]`}, status: exitFailed, says: "agent unix:/nowhere/agent.sock: not reached"},
		"member port in use": {before: func(t *testing.T, _ *command) { t.Helper(); taken(t, "127.0.0.3:2379") }, status: exitFailed, says: "127.0.0.3:2379"},
		"results are a file": {before: func(_ *testing.T, c *command) { c.write("results", "") }, status: exitFailed, says: "--out"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.args == nil {
				test.args = []string{"control", "--local", "-c", "test.yaml"}
			}
			c := dbtester(t, test.args...)
			if test.yaml != "" {
				c.write("test.yaml", test.yaml)
			}
			if test.before != nil {
				test.before(t, c)
			}
			if status := c.status(); status != test.status || !strings.Contains(c.stderr.String(), test.says) {
				t.Errorf("status %d, want %d and %q; printed:\n%s", status, test.status, test.says, c.stderr)
			}
			c.nothingLeft()
			if left, err := filepath.Glob(filepath.Join(c.dir, "results", "*")); err != nil || len(left) != 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
