package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dbtester/dbtester/result"
)

// A moment of the run at which a fault strikes.
type moment string

const (
	// atStart is between the first word of a member's start and its readiness;
	// a fault that is there beforehand is there before control begins.
	atStart moment = "start"
	// underLoad is when two seconds of the load are on disk.
	underLoad moment = "load"
	// atStop is when the members begin to be stopped.
	atStop moment = "stop"
)

// What a case may come to.
const (
	complete = "complete" // all was measured, and the manifest says so
	partial  = "partial"  // what was measured is there, and is marked as not being all
	refused  = "refused"  // nothing was measured, and why is told
)

// Times of a case.
const (
	labLease   = 5 * time.Second  // the agents'
	goneWithin = 10 * time.Second // what died takes its own with it
	// labReady is longer than is usual: several clusters start at once, and
	// ZooKeeper asks for votes ever less often.
	labReady     = 2 * time.Minute
	caseDeadline = 4 * time.Minute
)

// A fault is what is done to a run.
type fault struct {
	name string
	// prepare is called before the agents start, strike at the moment, heal
	// when control has ended. All but strike may be nil.
	prepare, strike, heal func(*faultCase)
	beforehand            bool // atStart means: before control begins
	local                 bool // control brings its agents
	start, load, stop     string
	vanishes              bool // control does not see the end
	hurts                 int  // the agent that cannot give its rows any more; 0 for none
	stepsClock            bool
	keepsData             bool // the data cannot be removed
	sweeps                bool // the agent that was hurt removes the data once it is started again
}

func (f fault) expected(m moment) string {
	return map[moment]string{atStart: f.start, underLoad: f.load, atStop: f.stop}[m]
}

// A faultCase is one fault at one moment on one store.
type faultCase struct {
	*lab
	fault   fault
	moment  moment
	store   store
	control *labProcess
	began   time.Time
	struck  time.Time
	times   []string // how far it had come when
	took    time.Duration
	outcome string
	note    string
	files   []string        // what fills a disk
	later   []chan struct{} // closed when what strike does later is done
}

func (c *faultCase) out() string { return filepath.Join(c.dir, "results") }

// faultLoad is five seconds of requests that ask little of a machine.
const faultLoad = `
title: Fault
agents: ["10.0.0.2:3500", "10.0.0.3:3500", "10.0.0.4:3500"]
workload: {operation: write, requests: 1000, rate: 200, clients: 6, key: {size: 32}, value: {size: 256}, timeout: 2s}
databases:
  - %s
`

// lightLine is the store's entry of the experiment; a JVM that compiles little
// starts in a third of the processor time.
func lightLine(s store) string {
	const light = ", options: {heap: 256m, jvm_flags: [\"-XX:TieredStopAtLevel=1\", \"-XX:+UseSerialGC\"]}}"
	if s.name != "zookeeper" {
		return s.line
	}
	return strings.TrimSuffix(s.line, "}") + light
}

// run runs the case and checks everything that holds for all of them.
func (c *faultCase) run() {
	c.began = time.Now()
	c.must(os.WriteFile(filepath.Join(c.dir, "fault.yaml"), fmt.Appendf(nil, faultLoad, lightLine(c.store)), 0o600))
	if c.fault.prepare != nil {
		c.fault.prepare(c)
	}
	databases := installed(c.t)
	args := []string{"control", "-c", "fault.yaml", "--out", c.out(), "--no-analyze", "--ready", labReady.String()}
	if c.fault.local {
		args = append(args, "--local", "--databases", databases)
	} else {
		args = append(args, c.identify("controller-"+labController)...)
		for n := range labHosts {
			c.agents = append(c.agents, c.startAgent(n+1, databases))
		}
	}
	beforehand := c.fault.beforehand && c.moment == atStart
	if beforehand {
		c.strike()
	}
	c.control = c.start(controlHost, args...)
	if !beforehand {
		c.awaitMoment()
		c.strike()
	}
	if !c.control.endsWithin(caseDeadline - time.Since(c.began)) {
		c.t.Errorf("control hangs; printed:\n%s", c.control.printed)
		c.must(c.control.signal(syscall.SIGKILL))
		<-c.control.ended
	}
	c.mark("control has ended")
	c.judge()
	c.clientRows()
	for _, done := range c.later {
		<-done // who is stopped can end nothing
	}
	c.vanished()
	c.mark("members are gone")
	if c.fault.heal != nil {
		c.fault.heal(c)
	}
	c.endAgents()
	c.mark("agents have ended")
	if c.fault.sweeps {
		c.startAgain()
	}
	c.nothingLeft()
	c.nothingLost()
	c.took = time.Since(c.began)
	if c.t.Failed() || os.Getenv(faultsEnv) == "verbose" {
		c.t.Logf("control printed:\n%s", c.control.printed.whens())
		for n, a := range c.agents {
			c.t.Logf("agent %d printed:\n%s", n+1, a.printed.whens())
		}
	}
}

// mark notes when the case had come how far, for who wonders where the time went.
func (c *faultCase) mark(what string) {
	c.times = append(c.times, fmt.Sprintf("%s at %.1f s", what, time.Since(c.began).Seconds()))
}

func (c *faultCase) strike() {
	c.mark("struck")
	c.struck = time.Now()
	c.fault.strike(c)
}

// awaitMoment returns when the run has come that far.
func (c *faultCase) awaitMoment() {
	c.t.Helper()
	come := false
	switch c.moment {
	case atStart:
		come = c.control.printed.await("starting 3 members", 30*time.Second, c.control.ended)
	case atStop:
		come = c.control.printed.await(": stopping", caseDeadline, c.control.ended)
	case underLoad:
		come = within(labReady+30*time.Second, func() bool {
			select {
			case <-c.control.ended:
				return true
			default:
			}
			rows, _ := filepath.Glob(filepath.Join(c.out(), "*", "*", result.TimeseriesFile))
			if len(rows) == 0 {
				return false
			}
			got, _ := result.ReadTable[result.TimeseriesRow](rows[0])
			return len(got) > 1
		}) && !c.control.endsWithin(0)
	}
	if !come {
		c.t.Fatalf("the moment %q never came; control printed:\n%s", c.moment, c.control.printed)
	}
}

// resultFolder is the one that control made, or empty.
func (c *faultCase) resultFolder() string {
	found, err := filepath.Glob(filepath.Join(c.out(), "*-*Z"))
	if err != nil || len(found) == 0 {
		return ""
	}
	if len(found) > 1 {
		c.t.Errorf("result folders %v, want one", found)
	}
	return found[0]
}

// judge tells what the run came to, and whether that was to be expected.
func (c *faultCase) judge() {
	status := c.control.ProcessState.ExitCode()
	folder := c.resultFolder()
	m, err := result.ReadManifest(folder)
	switch {
	case folder == "" || err != nil:
		c.outcome = refused
		if status != exitFailed && status != exitUsage && status != exitInterrupted && !c.fault.vanishes {
			c.t.Errorf("nothing was measured, and the status is %d", status)
		}
	case m.Status == result.Complete:
		c.outcome = complete
		c.judgeComplete(m, status)
	default:
		c.outcome = partial
		c.judgePartial(m, status, folder)
	}
	c.note = c.lastWords()
	if !slices.Contains(strings.Split(c.fault.expected(c.moment), " or "), c.outcome) {
		c.t.Errorf("came to %q, want %q", c.outcome, c.fault.expected(c.moment))
	}
}

func (c *faultCase) judgeComplete(m *result.Manifest, status int) {
	if status != exitDone {
		c.t.Errorf("complete, but the status is %d", status)
	}
	var attempted int64
	for _, s := range m.Databases[0].Stages {
		attempted += s.Attempted()
	}
	if attempted != 1000 {
		c.t.Errorf("complete, but %d of 1,000 requests were attempted", attempted)
	}
}

// judgePartial asserts that who reads the folder is told.
func (c *faultCase) judgePartial(m *result.Manifest, status int, folder string) {
	if status == exitDone {
		c.t.Error("not complete, but the status is 0")
	}
	if m.Status != result.Running && m.Reason == "" {
		c.t.Errorf("the manifest's status is %q and gives no reason", m.Status)
	}
	a := c.start(controlHost, "analyze", "--out", filepath.Join(c.dir, "analysis"), folder)
	if !a.endsWithin(45 * time.Second) {
		c.t.Fatal("analyze hangs")
	}
	text := a.printed.String()
	if !strings.Contains(text, "PARTIAL") && !strings.Contains(text, "FAILED") && !strings.Contains(text, "INCOMPLETE") {
		c.t.Errorf("the table does not say that it is not complete:\n%s", text)
	}
}

// lastWords are the last line that control printed.
func (c *faultCase) lastWords() string {
	last := ""
	for line := range strings.Lines(c.control.printed.String()) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "dbtester: "); ok {
			return text
		}
		last = strings.TrimSpace(line)
	}
	return last
}

// vanished asserts that nothing but the agents is left when control has ended:
// at once where the agents were told, after their lease where they were not.
func (c *faultCase) vanished() {
	for n := range c.agents {
		host := strconv.Itoa(n + 1)
		if !within(labLease+goneWithin, func() bool { _, runs := c.member(n+1, c.store); return !runs }) {
			c.t.Errorf("control is gone, and on host %s still runs %v", host, c.processes(host))
		}
	}
}

// endAgents asks the agents to end. A member that has lost its quorum may take
// its whole grace, 30 s.
func (c *faultCase) endAgents() {
	for _, a := range c.agents {
		c.must(a.signal(syscall.SIGTERM))
	}
	for n, a := range c.agents {
		if !a.endsWithin(45 * time.Second) {
			c.t.Errorf("agent %d does not end", n+1)
		}
	}
}

// startAgain has the agent that was hurt remove what it left, as it does
// when it is started again.
func (c *faultCase) startAgain() {
	again := c.startAgent(c.fault.hurts, installed(c.t))
	c.must(again.signal(syscall.SIGTERM))
	if !again.endsWithin(goneWithin) {
		c.t.Errorf("the agent that was started again does not end; printed:\n%s", again.printed)
	}
}

// nothingLeft asserts that no process, port, socket, cgroup or file of the
// case is left but what was measured.
func (c *faultCase) nothingLeft() {
	for _, host := range []string{"1", "2", "3", controlHost} {
		if !within(goneWithin, func() bool { return len(c.processes(host)) == 0 }) {
			c.t.Errorf("left on host %s: processes %v", host, c.processes(host))
		}
		if left := c.sockets(host); left != "" {
			c.t.Errorf("left on host %s: sockets\n%s", host, left)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(c.dir, "tmp", "*")); len(left) > 0 {
		c.t.Errorf("left: temporary files %v", left)
	}
	if left, _ := filepath.Glob(filepath.Join(c.out(), ".*")); len(left) > 0 && !c.fault.local {
		c.t.Errorf("left beside the results: %v", left)
	}
	for n := range c.agents {
		markers, _ := filepath.Glob(filepath.Join(c.hostDir(n+1), "*", "*", "dbtester-agent.json"))
		for _, path := range markers {
			c.noCgroup(path)
			data, err := os.Stat(filepath.Join(filepath.Dir(path), "data"))
			if err == nil && !c.fault.keepsData {
				c.t.Errorf("left on host %d: %s", n+1, data.Name())
			}
		}
	}
}
