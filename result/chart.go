package result

// Names of the charts; the first nineteen are those of the published results.
const (
	ChartLatency            = "AVG-LATENCY-MS"
	ChartLatencyByKey       = "AVG-LATENCY-MS-BY-KEY"
	ChartLatencyByKeyErrors = "AVG-LATENCY-MS-BY-KEY-ERROR-POINTS"
	ChartThroughput         = "AVG-THROUGHPUT"
	ChartVoluntaryCtxt      = "AVG-VOLUNTARY-CTXT-SWITCHES"
	ChartNonVoluntaryCtxt   = "AVG-NON-VOLUNTARY-CTXT-SWITCHES"
	ChartCPU                = "AVG-CPU"
	ChartMaxCPU             = "MAX-CPU"
	ChartMemory             = "AVG-VMRSS-MB"
	ChartMemoryByKey        = "AVG-VMRSS-MB-BY-KEY"
	ChartMemoryByKeyErrors  = "AVG-VMRSS-MB-BY-KEY-ERROR-POINTS"
	ChartReads              = "AVG-READS-COMPLETED-DELTA"
	ChartSectorsRead        = "AVG-SECTORS-READ-DELTA"
	ChartWrites             = "AVG-WRITES-COMPLETED-DELTA"
	ChartSectorsWritten     = "AVG-SECTORS-WRITTEN-DELTA"
	ChartReadBytes          = "AVG-READ-BYTES-NUM-DELTA"
	ChartWriteBytes         = "AVG-WRITE-BYTES-NUM-DELTA"
	ChartReceiveBytes       = "AVG-RECEIVE-BYTES-NUM-DELTA"
	ChartTransmitBytes      = "AVG-TRANSMIT-BYTES-NUM-DELTA"

	ChartLogSync          = "AVG-LOG-SYNC-MS"
	ChartLogSyncP99       = "P99-LOG-SYNC-MS"
	ChartBackendCommitP99 = "P99-BACKEND-COMMIT-MS"
	ChartQuorumCommit     = "AVG-QUORUM-COMMIT-MS"
	ChartPending          = "MAX-PENDING"

	ChartDiskUtilisation = "AVG-DISK-UTILISATION"
	ChartIOPressure      = "AVG-PRESSURE-IO"
	ChartCPUPressure     = "AVG-PRESSURE-CPU"
	ChartSteal           = "AVG-STEAL-CPU"
	ChartRetransmits     = "AVG-TCP-RETRANSMITS"

	ChartThroughputByClients     = "AVG-THROUGHPUT-BY-CLIENT-NUM"
	ChartCPUByClients            = "AVG-CPU-BY-CLIENT-NUM"
	ChartSectorsWrittenByClients = "AVG-SECTORS-WRITTEN-BY-CLIENT-NUM"
	ChartMedianByClients         = "P50-LATENCY-MS-BY-CLIENT-NUM"
	ChartP99ByClients            = "P99-LATENCY-MS-BY-CLIENT-NUM"
)

// Columns of the points beside a chart: the database, one of the X columns,
// the chart's own name, and for a chart with error points the two last ones.
const (
	PointDatabaseColumn = "DATABASE"
	PointSecondColumn   = "SECOND" // since the load began
	PointKeysColumn     = "KEYS"
	PointClientsColumn  = "CONTROL-CLIENT-NUM"
	PointMinColumn      = "MIN"
	PointMaxColumn      = "MAX"
)

// ChartFile names the drawing of a chart.
func ChartFile(chart string) string { return chart + ".svg" }

// ChartPointsFile names the points of a chart.
func ChartPointsFile(chart string) string { return chart + ".csv" }
