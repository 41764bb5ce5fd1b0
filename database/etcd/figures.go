package etcd

import (
	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/exposition"
)

var _ database.Introspector = (*driver)(nil)

// metricsPath is where a member serves its figures to its clients.
const metricsPath = "/metrics"

// Figures lists what a member tells at /metrics, the same from 3.4 to 3.7.
func (d *driver) Figures() []database.Figure {
	return []database.Figure{
		{Name: "etcd_disk_wal_fsync_duration_seconds", Kind: database.HistogramFigure, Unit: "s", Meaning: database.LogSync},
		{Name: "etcd_disk_backend_commit_duration_seconds", Kind: database.HistogramFigure, Unit: "s", Meaning: database.BackendCommit},
		{Name: "etcd_network_peer_round_trip_time_seconds", Kind: database.HistogramFigure, Unit: "s", Meaning: database.PeerRoundTrip},
		// The server calls these two gauges because they are an index of the log.
		{Name: "etcd_server_proposals_committed_total", Kind: database.CounterFigure, Meaning: database.CommittedIndex},
		{Name: "etcd_server_proposals_applied_total", Kind: database.CounterFigure, Meaning: database.AppliedIndex},
		{Name: "etcd_server_proposals_pending", Kind: database.GaugeFigure, Meaning: database.Pending},
		{Name: "etcd_server_proposals_failed_total", Kind: database.CounterFigure},
		{Name: "etcd_server_leader_changes_seen_total", Kind: database.CounterFigure, Meaning: database.LeaderChanges},
		{Name: "etcd_server_has_leader", Kind: database.GaugeFigure},
		{Name: "etcd_server_is_leader", Kind: database.GaugeFigure},
		{Name: "etcd_server_heartbeat_send_failures_total", Kind: database.CounterFigure},
		{Name: "etcd_server_slow_apply_total", Kind: database.CounterFigure, Meaning: database.SlowApplies},
		{Name: "etcd_server_slow_read_indexes_total", Kind: database.CounterFigure},
		{Name: "etcd_mvcc_db_total_size_in_bytes", Kind: database.GaugeFigure, Unit: "bytes"},
		{Name: "etcd_mvcc_db_total_size_in_use_in_bytes", Kind: database.GaugeFigure, Unit: "bytes"},
		{Name: "go_memstats_heap_inuse_bytes", Kind: database.GaugeFigure, Unit: "bytes", Meaning: database.HeapBytes},
		{Name: "go_gc_duration_seconds", Kind: database.SummaryFigure, Unit: "s", Meaning: database.CollectionPause},
		{Name: "go_goroutines", Kind: database.GaugeFigure},
	}
}

// Inspect returns a way to ask the member at the endpoint.
func (d *driver) Inspect(endpoint string) (database.Inspection, error) {
	return exposition.Inspect(endpoint, metricsPath, d.Figures())
}
