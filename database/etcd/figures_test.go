package etcd

import (
	"os"
	"testing"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/exposition"
)

// TestFigures reads what a member told of itself.
func TestFigures(t *testing.T) {
	page, err := os.Open("testdata/metrics-3.6.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	figures := new(driver).Figures()
	got, err := exposition.NewReader(figures).Read(page)
	if err != nil {
		t.Fatal(err)
	}
	readings := map[string]database.Reading{}
	for i, f := range figures {
		readings[f.Name] = got[i]
	}
	for name, want := range map[string]float64{
		"etcd_server_proposals_committed_total":   4,
		"etcd_server_leader_changes_seen_total":   1,
		"etcd_server_has_leader":                  1,
		"etcd_server_slow_apply_total":            0,
		"etcd_mvcc_db_total_size_in_use_in_bytes": 16384,
		"go_memstats_heap_inuse_bytes":            8708096,
	} {
		if readings[name].Value != want {
			t.Errorf("%s = %v, want %v", name, readings[name].Value, want)
		}
	}
	sync := readings["etcd_disk_wal_fsync_duration_seconds"]
	if sync.Count != 7 || sync.Sum != 0.024276531 || len(sync.Buckets) != 15 || sync.Buckets[14].Count != 7 {
		t.Errorf("fsync of the log: got %+v", sync)
	}
	if pause := readings["go_gc_duration_seconds"]; pause.Count != 3 || pause.Sum != 0.001982347 {
		t.Errorf("pauses of the collector: got %+v", pause)
	}
	// A member alone has no peers.
	if trip := readings["etcd_network_peer_round_trip_time_seconds"]; trip.Buckets != nil {
		t.Errorf("round trips between members: got %+v", trip)
	}
}
