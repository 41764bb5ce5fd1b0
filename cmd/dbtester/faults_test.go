package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dbtester/dbtester/result"
)

// faultsEnv says how often each victim is killed; the test takes about ten
// seconds for each time.
const faultsEnv = "DBTESTER_FAULTS"

// TestKilledAtAnyMoment kills control, an agent or a member at a random moment
// of the run, from its first second to its last: nothing is left, and what was
// measured until then can be read.
func TestKilledAtAnyMoment(t *testing.T) {
	times, err := strconv.Atoi(os.Getenv(faultsEnv))
	if err != nil {
		t.Skipf("set %s to the number of times each process is to be killed", faultsEnv)
	}
	for _, verb := range []string{"control", "agent", "embedded"} {
		for i := range times {
			t.Run(verb+" "+strconv.Itoa(i+1), func(t *testing.T) { killAtRandom(t, verb) })
		}
	}
}

func killAtRandom(t *testing.T, verb string) {
	t.Helper()
	c := dbtester(t, "control", "--local", "-c", "test.yaml", "--set", "workload.requests=20000", "--set", "workload.clients=20")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait()
		close(ended)
	}()
	moment := time.Duration(rand.Int64N(int64(8 * time.Second)))
	select {
	case <-time.After(moment):
	case <-ended:
	}
	victims := running(t, verb)
	killed := time.Now()
	if len(victims) > 0 {
		_ = syscall.Kill(victims[rand.IntN(len(victims))].pid, syscall.SIGKILL)
	}
	select {
	case <-ended:
	case <-time.After(90 * time.Second):
		t.Fatalf("control hangs after %s was killed at %v; printed:\n%s", verb, moment, c.stderr)
	}
	c.nothingLeft()
	t.Logf("killed at %v, %d victims, control's status %d", moment.Round(time.Millisecond), len(victims), c.ProcessState.ExitCode())
	found, _ := filepath.Glob(filepath.Join(c.dir, "results", "*-*Z"))
	if len(found) == 0 {
		return // it had not come that far
	}
	again := dbtester(t, "analyze", found[0])
	if status := again.status(); !strings.Contains(again.stdout.String(), "TOTAL-SECONDS") {
		t.Errorf("killed at %v: analyze ended with %d, printed:\n%s%s", moment, status, again.stdout, again.stderr)
	}
	if verb == "control" && len(victims) > 0 {
		rowsUntil(t, filepath.Join(found[0], "etcd"), killed)
	}
}

// rowsUntil asserts that all but the last second before the kill is on disk:
// the second in which it fell is lost, and the one before may just have ended.
func rowsUntil(t *testing.T, dir string, killed time.Time) {
	t.Helper()
	rows, err := result.ReadTable[result.TimeseriesRow](filepath.Join(dir, result.TimeseriesFile))
	if err != nil || len(rows) < 2 {
		return // not under load for a whole second
	}
	if _, err := os.Stat(filepath.Join(dir, result.SummaryFile)); err == nil {
		return // the load had ended before
	}
	if last := rows[len(rows)-1].UnixSecond; killed.Unix()-last > 2 {
		t.Errorf("the last row is of second %d, control was killed at %.3f", last, float64(killed.UnixMilli())/1000)
	}
}
