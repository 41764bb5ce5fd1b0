//go:build linux

package monitor_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/dbtester/dbtester/internal/monitor"
)

func TestUsageRisesWithWhatWeUse(t *testing.T) {
	before, err := monitor.ReadUsage("lo")
	if err != nil {
		t.Fatal(err)
	}
	for busy := time.Now(); time.Since(busy) < 100*time.Millisecond; {
		runtime.Gosched()
	}
	runtime.GC()
	after, err := monitor.ReadUsage("lo")
	if err != nil {
		t.Fatal(err)
	}
	if used := after.Process - before.Process; used < 20*time.Millisecond {
		t.Errorf("100 ms of work cost %v of processor time", used)
	}
	if after.Busy+after.Idle <= before.Busy+before.Idle || after.GCPause <= before.GCPause || after.Received < before.Received {
		t.Errorf("usage %+v, then %+v: want rising figures", before, after)
	}
	if speed := monitor.LinkSpeed("lo"); speed != 0 {
		t.Errorf("loopback has a speed of %v, want none", speed)
	}
}
