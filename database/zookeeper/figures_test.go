package zookeeper

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/dbtester/dbtester/database"
)

// TestFigures reads what two servers told of themselves.
func TestFigures(t *testing.T) {
	told := func(path string) map[string]database.Reading {
		page, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer page.Close()
		got, err := parseMonitored(page, monitoredFigures())
		if err != nil {
			t.Fatal(err)
		}
		readings := map[string]database.Reading{}
		for i, f := range new(driver).Figures() {
			readings[f.Name] = got[i]
		}
		return readings
	}
	leader, follower := told("testdata/mntr-3.9-leader.txt"), told("testdata/mntr-3.9-follower.txt")
	for _, tt := range []struct {
		name     string
		got      float64
		want     float64
		ofLeader bool
	}{
		{"zk_znode_count", leader["zk_znode_count"].Value, 5, false},
		{"zk_approximate_data_size", follower["zk_approximate_data_size"].Value, 135, false},
		{"zk_synced_followers", leader["zk_synced_followers"].Value, 1, true},
		{"zk_election_time", leader["zk_election_time"].Sum, 342, false},
		{"zk_election_time", follower["zk_election_time"].Sum, 640, false},
		{"zk_fsynctime", follower["zk_fsynctime"].Count, 0, false},
		{"zk_looking_count", follower["zk_looking_count"].Value, 1, false},
	} {
		if tt.got != tt.want {
			t.Errorf("%s = %v, want %v", tt.name, tt.got, tt.want)
		}
		if tt.ofLeader && !math.IsNaN(follower[tt.name].Value) {
			t.Errorf("%s of a follower = %v, want none", tt.name, follower[tt.name].Value)
		}
	}
}

func TestParseMonitoredRefuses(t *testing.T) {
	for _, text := range []string{"", "This ZooKeeper instance is not currently serving requests\n", "mntr is not executed because it is not in the whitelist.\n", "zk_znode_count\tmany\n"} {
		if got, err := parseMonitored(strings.NewReader(text), monitoredFigures()); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}
