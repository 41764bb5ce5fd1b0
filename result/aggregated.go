package result

// Names of the rows of all-aggregated.csv and .txt. The first thirty are those
// of the published tables, in their order; the others follow below them.
const (
	RowTotalSeconds         = "TOTAL-SECONDS"
	RowTotalRequests        = "TOTAL-REQUEST-NUMBER"
	RowMaxThroughput        = "MAX-THROUGHPUT"
	RowAvgThroughput        = "AVG-THROUGHPUT"
	RowMinThroughput        = "MIN-THROUGHPUT"
	RowFastestLatency       = "FASTEST-LATENCY"
	RowAvgLatency           = "AVG-LATENCY"
	RowSlowestLatency       = "SLOWEST-LATENCY"
	RowLatencyPrefix        = "Latency " // and a percentile: "Latency p99.9"
	RowServerReceive        = "SERVER-TOTAL-NETWORK-RX-DATA-SUM"
	RowServerTransmit       = "SERVER-TOTAL-NETWORK-TX-DATA-SUM"
	RowClientReceive        = "CLIENT-TOTAL-NETWORK-RX-SUM"
	RowClientTransmit       = "CLIENT-TOTAL-NETWORK-TX-SUM"
	RowServerMaxCPU         = "SERVER-MAX-CPU-USAGE"
	RowServerMaxMemory      = "SERVER-MAX-MEMORY-USAGE"
	RowClientMaxCPU         = "CLIENT-MAX-CPU-USAGE"
	RowClientMaxMemory      = "CLIENT-MAX-MEMORY-USAGE"
	RowClientErrors         = "CLIENT-ERROR-COUNT"
	RowServerReads          = "SERVER-AVG-READS-COMPLETED-DELTA-SUM"
	RowServerSectorsRead    = "SERVER-AVG-SECTORS-READS-DELTA-SUM"
	RowServerWrites         = "SERVER-AVG-WRITES-COMPLETED-DELTA-SUM"
	RowServerSectorsWritten = "SERVER-AVG-SECTORS-WRITTEN-DELTA-SUM"
	RowServerDiskSpace      = "SERVER-AVG-DISK-SPACE-USAGE"

	RowResponsePrefix    = "Response latency " // and a percentile
	RowSlowestResponse   = "SLOWEST-RESPONSE-LATENCY"
	RowTargetThroughput  = "TARGET-THROUGHPUT"
	RowAchievedOfTarget  = "ACHIEVED-OF-TARGET"
	RowLate              = "LATE"
	RowClientTimeCovered = "CLIENT-TIME-COVERED" // by latencies: Little's law

	// What the stores tell of themselves, in the measured window.
	RowServerLogSync          = "SERVER-LOG-SYNC-AVG"
	RowServerLogSyncP99       = "SERVER-LOG-SYNC-P99"
	RowServerBackendCommit    = "SERVER-BACKEND-COMMIT-AVG"
	RowServerBackendCommitP99 = "SERVER-BACKEND-COMMIT-P99"
	RowServerQuorumCommit     = "SERVER-QUORUM-COMMIT-AVG"
	RowServerPeerRoundTrip    = "SERVER-PEER-ROUND-TRIP-AVG"
	RowServerMaxPending       = "SERVER-MAX-PENDING"
	RowServerMaxApplyLag      = "SERVER-MAX-APPLY-LAG"
	RowServerLeaderChanges    = "SERVER-LEADER-CHANGES"
	RowServerSlowApplies      = "SERVER-SLOW-APPLIES"
	RowServerMaxHeap          = "SERVER-MAX-HEAP"
	RowServerCollectionPause  = "SERVER-COLLECTION-PAUSE-SUM"

	// What held their machines up.
	RowServerDiskBusy    = "SERVER-MAX-DISK-UTILISATION"
	RowServerAwait       = "SERVER-AVG-DISK-AWAIT"
	RowServerIOStall     = "SERVER-AVG-PRESSURE-IO"
	RowServerCPUStall    = "SERVER-AVG-PRESSURE-CPU"
	RowServerSteal       = "SERVER-MAX-STEAL-CPU"
	RowServerRetransmits = "SERVER-TCP-RETRANSMITS-SUM"

	RowClientBound       = "CLIENT-BOUND" // also the column of the time series it sums up
	RowFailed            = "FAILED"
	RowIndeterminate     = "INDETERMINATE"
	RowUnsent            = "UNSENT"
	RowKeysCounted       = "KEYS-COUNTED"
	RowKeysAcknowledged  = "KEYS-ACKNOWLEDGED"
	RowReadsGuarantee    = "READS-GUARANTEE"
	RowFsync             = "FSYNC-BEFORE-ANSWER"
	RowPlacement         = "PLACEMENT"
	RowClients           = "CLIENTS"
	RowConnections       = "CONNECTIONS"
	AggregatedNameColumn = "ROW"  // first column of all-aggregated.csv
	AggregatedUnitColumn = "UNIT" // second column; then one per database
)
