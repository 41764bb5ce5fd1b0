package consul

import (
	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/exposition"
)

var _ database.Introspector = (*driver)(nil)

// metricsPath serves figures since the agent's start. Without the format the
// same page has those of the last whole 10 s, which are no second's.
const metricsPath = "/v1/agent/metrics?format=prometheus"

// retentionTime is longer than any run: a figure that has not moved for as
// long is dropped.
const retentionTime = "24h"

// telemetry has an agent keep figures for metricsPath.
type telemetry struct {
	RetentionTime   string `json:"prometheus_retention_time"`
	DisableHostname bool   `json:"disable_hostname"` // it would be part of the names
}

// Figures lists what an agent tells. Times are in milliseconds. What only a
// leader or only a follower does has no events on the others.
func (d *driver) Figures() []database.Figure {
	return []database.Figure{
		// On the leader, then on a follower.
		{Name: "consul_raft_leader_dispatchLog", Kind: database.SummaryFigure, Unit: "ms", Meaning: database.LogSync},
		{Name: "consul_raft_rpc_appendEntries_storeLogs", Kind: database.SummaryFigure, Unit: "ms", Meaning: database.LogSync},
		{Name: "consul_raft_commitTime", Kind: database.SummaryFigure, Unit: "ms", Meaning: database.QuorumCommit},
		{Name: "consul_raft_replication_appendEntries_rpc", Kind: database.SummaryFigure, Unit: "ms", Meaning: database.PeerRoundTrip},
		{Name: "consul_raft_leader_lastContact", Kind: database.SummaryFigure, Unit: "ms"},
		{Name: "consul_raft_fsm_apply", Kind: database.SummaryFigure, Unit: "ms"},
		{Name: "consul_fsm_kvs", Kind: database.SummaryFigure, Unit: "ms"},
		{Name: "consul_kvs_apply", Kind: database.SummaryFigure, Unit: "ms"},
		{Name: "consul_raft_apply", Kind: database.CounterFigure},
		{Name: "consul_raft_last_index", Kind: database.GaugeFigure, Meaning: database.CommittedIndex},
		{Name: "consul_raft_applied_index", Kind: database.GaugeFigure, Meaning: database.AppliedIndex},
		{Name: "consul_raft_state_leader", Kind: database.CounterFigure, Meaning: database.LeadershipsWon},
		{Name: "consul_raft_state_candidate", Kind: database.CounterFigure},
		{Name: "consul_raft_wal_log_appends", Kind: database.CounterFigure},
		{Name: "consul_raft_wal_log_entries_written", Kind: database.CounterFigure},
		{Name: "consul_rpc_request", Kind: database.CounterFigure},
		{Name: "consul_rpc_request_error", Kind: database.CounterFigure},
		{Name: "consul_rpc_query", Kind: database.CounterFigure},
		{Name: "consul_runtime_alloc_bytes", Kind: database.GaugeFigure, Unit: "bytes", Meaning: database.HeapBytes},
		{Name: "go_gc_duration_seconds", Kind: database.SummaryFigure, Unit: "s", Meaning: database.CollectionPause},
		{Name: "consul_runtime_num_goroutines", Kind: database.GaugeFigure},
	}
}

// Inspect returns a way to ask the agent at the endpoint.
func (d *driver) Inspect(endpoint string) (database.Inspection, error) {
	return exposition.Inspect(endpoint, metricsPath, d.Figures())
}
