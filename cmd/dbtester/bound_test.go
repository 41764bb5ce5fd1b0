package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dbtester/dbtester/result"
)

// boundExperiment has no store that could be the limit: the memory driver
// answers at once and without a socket, to more clients than there is processor.
const boundExperiment = `
title: Harness alone
workload: {operation: write, duration: 4s, clients: 20, key: {size: 32, order: same}, value: {size: 64}}
databases:
  - {name: memory, kind: memory, installation: embedded}
`

// A run in which the harness was the limit says so in the time series, the
// table, the charts and, if asked, by its exit status.
func TestFailIfClientBound(t *testing.T) {
	c := dbtester(t, "control", "--local", "-c", "test.yaml", "--fail-if-client-bound")
	c.write("test.yaml", boundExperiment)
	c.Env = append(os.Environ(), "GOMAXPROCS=1") // one processor, which the load keeps busy
	if status := c.status(); status != exitThreshold {
		t.Fatalf("status %d, want %d; printed:\n%s%s", status, exitThreshold, c.stdout, c.stderr)
	}
	c.nothingLeft()
	if !strings.Contains(c.stderr.String(), "client-bound: memory") {
		t.Errorf("standard error names no column as client-bound:\n%s", c.stderr)
	}
	dir := c.resultDir()
	wantMarkedSeconds(t, dir)
	wantMarkedTable(t, c.stdout.String())
	wantMarkedChart(t, dir)

	for _, tt := range []struct {
		args []string
		want int
	}{
		{[]string{"analyze", dir}, exitDone},
		{[]string{"analyze", "--fail-if-client-bound", dir}, exitThreshold},
	} {
		if again := dbtester(t, tt.args...); again.status() != tt.want {
			t.Errorf("%q: status %d, want %d", tt.args, again.ProcessState.ExitCode(), tt.want)
		}
	}
}

// wantMarkedSeconds checks that full seconds of the load have their reason. The
// machine is one too: others may take the processor away from the harness.
func wantMarkedSeconds(t *testing.T, dir string) {
	t.Helper()
	rows, err := result.ReadTable[result.TimeseriesRow](filepath.Join(dir, "memory", result.TimeseriesFile))
	if err != nil {
		t.Fatal(err)
	}
	marked := 0
	for _, row := range rows {
		if strings.Contains(row.ClientBound, "controller CPU") || strings.Contains(row.ClientBound, "machine CPU") {
			marked++
		}
	}
	if marked < 2 {
		t.Errorf("%d of %d seconds are marked, want 2 or more: %+v", marked, len(rows), rows)
	}
}

func wantMarkedTable(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.Contains(line, result.RowClientBound) && strings.Contains(line, "% of seconds") {
			return
		}
	}
	t.Errorf("the table has no share of seconds in %s:\n%s", result.RowClientBound, text)
}

func wantMarkedChart(t *testing.T, dir string) {
	t.Helper()
	svg, err := os.ReadFile(filepath.Join(dir, result.ChartFile(result.ChartThroughput)))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(svg), "client-bound seconds") {
		t.Error("the chart of the throughput marks no client-bound second")
	}
}
