package main

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/dbtester/dbtester/result"
)

// All members stand still for three seconds under 1,000 requests per second:
// a quarter of 10,000 requests and more is late, and the response time says so.
// Only the 20 requests that were under way have a long service time.
func TestAStallOfTheStoreShowsInTheResponseTime(t *testing.T) {
	const stall = 3 * time.Second
	c := dbtester(t, "control", "--local", "-c", "test.yaml", "--set", "workload.requests=10000",
		"--set", "workload.clients=20", "--set", "workload.connections=20", "--set", "workload.rate=1000")
	c.underLoad()
	members := running(t, embeddedCommand)
	if len(members) != 3 {
		t.Fatalf("%d members run, want 3", len(members))
	}
	for _, m := range members {
		m.signal(t, syscall.SIGSTOP)
	}
	select {
	case <-time.After(stall):
	case <-t.Context().Done():
	}
	for _, m := range members {
		m.signal(t, syscall.SIGCONT)
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("%v; printed:\n%s", err, c.stderr)
	}
	dir := c.resultDir()
	m, err := result.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	stage := m.Databases[0].Stages[0]
	if stage.OK != 10_000 || stage.Late < 2500 {
		t.Errorf("stage %+v, want 10,000 ok and at least a quarter of them late", stage)
	}
	rows, err := result.ReadTable[result.PercentileRow](filepath.Join(dir, "etcd", result.PercentileFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Percentile != "p99" {
			continue
		}
		t.Logf("p99: response %.0f ms, service %.0f ms; %d late", r.Response, r.Latency, stage.Late)
		// 2.9 s, and what an election after the stall adds.
		if r.Response < 2500 || r.Response > 5000 || r.Latency > r.Response/2 {
			t.Errorf("p99: response %.0f ms, service %.0f ms; want about 2,900 ms and far less", r.Response, r.Latency)
		}
	}
}
