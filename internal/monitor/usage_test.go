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
	runtime.GC()
	var after monitor.Usage
	for began := time.Now(); after.Process-before.Process < 20*time.Millisecond; {
		if time.Since(began) > 30*time.Second {
			t.Fatalf("30 s of work cost %v of processor time", after.Process-before.Process)
		}
		if after, err = monitor.ReadUsage("lo"); err != nil {
			t.Fatal(err)
		}
	}
	if after.Busy+after.Idle <= before.Busy+before.Idle || after.GCPause <= before.GCPause || after.Received < before.Received {
		t.Errorf("usage %+v, then %+v: want rising figures", before, after)
	}
	if speed := monitor.LinkSpeed("lo"); speed != 0 {
		t.Errorf("loopback has a speed of %v, want none", speed)
	}
}
