package result

import (
	"strconv"
	"strings"
)

// Columns marked added are not in the published results: a file without them can
// be read, and their figures are gaps there.

// TimeseriesRow is one second of one load stage as the clients saw it. A second
// that two stages share has two rows.
type TimeseriesRow struct {
	UnixSecond int64  `csv:"UNIX-SECOND"`
	Clients    int    `csv:"CONTROL-CLIENT-NUM"`
	MinLatency Number `csv:"MIN-LATENCY-MS"` // service time of ok requests; a gap if there was none
	AvgLatency Number `csv:"AVG-LATENCY-MS"`
	MaxLatency Number `csv:"MAX-LATENCY-MS"`
	Throughput int64  `csv:"AVG-THROUGHPUT"` // ok requests that completed in this second

	Failed        int64 `csv:"FAILED" added:"true"`        // requests that certainly had no effect
	Indeterminate int64 `csv:"INDETERMINATE" added:"true"` // requests that may or may not have been applied
	Stage         int   `csv:"STAGE" added:"true"`         // 1 for the first load stage
	// FullSecond tells that the stage's measured window covers the whole second.
	FullSecond         bool   `csv:"FULL-SECOND" added:"true"`
	AvgResponseLatency Number `csv:"AVG-RESPONSE-LATENCY-MS" added:"true"` // from due; the service time in a closed loop
	MaxResponseLatency Number `csv:"MAX-RESPONSE-LATENCY-MS" added:"true"`
	Late               int64  `csv:"LATE" added:"true"` // ok requests of an open loop that were sent late
	// ClientBound is why the harness or its machine was the limit in this
	// second; empty if it was not.
	ClientBound string `csv:"CLIENT-BOUND" added:"true"`
}

// PercentileRow is one percentile of the service time of all ok requests.
type PercentileRow struct {
	Percentile string `csv:"LATENCY-PERCENTILE"` // "p99.9"
	Latency    Number `csv:"LATENCY-MS"`
	Response   Number `csv:"RESPONSE-LATENCY-MS" added:"true"` // the same percentile of the response time
}

// DistributionRow counts the ok requests of one histogram bucket.
type DistributionRow struct {
	Latency Number `csv:"LATENCY-MS"` // the bucket's upper edge
	Count   int64  `csv:"COUNT"`
}

// ByKeyRow is one bucket of consecutive requests by their own sequence number.
type ByKeyRow struct {
	Keys       int64  `csv:"KEYS"`           // the last sequence number of the bucket; the first request is 1
	MinLatency Number `csv:"MIN-LATENCY-MS"` // service time of the bucket's own ok requests
	AvgLatency Number `csv:"AVG-LATENCY-MS"`
	MaxLatency Number `csv:"MAX-LATENCY-MS"`
	Count      int64  `csv:"COUNT" added:"true"` // ok requests in the bucket
}

// DiskSpaceRow is the size of one member's data directory when it was stopped.
type DiskSpaceRow struct {
	Index    int    `csv:"INDEX"` // 1 for the first member
	Endpoint string `csv:"DATABASE-ENDPOINT"`
	Usage    string `csv:"DISK-SPACE-USAGE"`
	Bytes    int64  `csv:"DISK-SPACE-USAGE-BYTES-NUM"`
}

// SystemRow is one sample of a process, with all its descendants if it is a
// member, and of the machine under it. A figure that could not be read is a
// gap. A delta is the difference to the sample before; the first sample has
// gaps there, and so has one whose counter went backwards and did not wrap.
// docs/metrics.md tells where each figure comes from.
type SystemRow struct {
	UnixNanosecond int64  `csv:"UNIX-NANOSECOND"` // wall clock of the sampling machine
	UnixSecond     int64  `csv:"UNIX-SECOND"`
	PID            int    `csv:"PID"`
	Program        string `csv:"PROGRAM"`
	State          string `csv:"STATE"`

	CPU        Number `csv:"CPU"` // percent since the sample before; 100 = one core
	CPUSeconds Number `csv:"CPU-SECONDS"`
	VMRSS      Number `csv:"VMRSS-NUM"` // resident bytes
	VMSize     Number `csv:"VMSIZE-NUM"`
	FD         Number `csv:"FD"` // open files
	Threads    Number `csv:"THREADS"`

	VoluntaryCtxt         Number `csv:"VOLUNTARY-CTXT-SWITCHES"`
	NonVoluntaryCtxt      Number `csv:"NON-VOLUNTARY-CTXT-SWITCHES"`
	VoluntaryCtxtDelta    Number `csv:"VOLUNTARY-CTXT-SWITCHES-DELTA"`
	NonVoluntaryCtxtDelta Number `csv:"NON-VOLUNTARY-CTXT-SWITCHES-DELTA"`

	LoadAverage1  Number `csv:"LOAD-AVERAGE-1-MINUTE"`
	LoadAverage5  Number `csv:"LOAD-AVERAGE-5-MINUTE"`
	LoadAverage15 Number `csv:"LOAD-AVERAGE-15-MINUTE"`

	Device               string `csv:"DEVICE"` // holds the data directory
	ReadsCompleted       Number `csv:"READS-COMPLETED"`
	SectorsRead          Number `csv:"SECTORS-READ"` // 512 bytes each
	WritesCompleted      Number `csv:"WRITES-COMPLETED"`
	SectorsWritten       Number `csv:"SECTORS-WRITTEN"`
	ReadsCompletedDelta  Number `csv:"READS-COMPLETED-DELTA"`
	SectorsReadDelta     Number `csv:"SECTORS-READ-DELTA"`
	WritesCompletedDelta Number `csv:"WRITES-COMPLETED-DELTA"`
	SectorsWrittenDelta  Number `csv:"SECTORS-WRITTEN-DELTA"`
	ReadBytesDelta       Number `csv:"READ-BYTES-NUM-DELTA"` // of the device
	WriteBytesDelta      Number `csv:"WRITE-BYTES-NUM-DELTA"`

	Interface            string `csv:"INTERFACE"` // carries the listen address
	ReceiveBytes         Number `csv:"RECEIVE-BYTES-NUM"`
	TransmitBytes        Number `csv:"TRANSMIT-BYTES-NUM"`
	ReceivePackets       Number `csv:"RECEIVE-PACKETS-NUM"`
	TransmitPackets      Number `csv:"TRANSMIT-PACKETS-NUM"`
	ReceiveBytesDelta    Number `csv:"RECEIVE-BYTES-NUM-DELTA"`
	TransmitBytesDelta   Number `csv:"TRANSMIT-BYTES-NUM-DELTA"`
	ReceivePacketsDelta  Number `csv:"RECEIVE-PACKETS-NUM-DELTA"`
	TransmitPacketsDelta Number `csv:"TRANSMIT-PACKETS-NUM-DELTA"`

	Interval  Number `csv:"INTERVAL-SECONDS" added:"true"` // since the sample before, on a clock that nobody sets
	Note      string `csv:"NOTE" added:"true"`             // what is special about this sample; empty if nothing is
	Processes Number `csv:"PROCESSES" added:"true"`        // of the member's tree, which the figures above are summed over

	MinorFaults            Number `csv:"MINOR-FAULTS" added:"true"`
	MinorFaultsDelta       Number `csv:"MINOR-FAULTS-DELTA" added:"true"`
	MajorFaults            Number `csv:"MAJOR-FAULTS" added:"true"` // pages that came from disk
	MajorFaultsDelta       Number `csv:"MAJOR-FAULTS-DELTA" added:"true"`
	ProcessReadBytes       Number `csv:"PROCESS-READ-BYTES-NUM" added:"true"` // that reached a disk
	ProcessReadBytesDelta  Number `csv:"PROCESS-READ-BYTES-NUM-DELTA" added:"true"`
	ProcessWriteBytes      Number `csv:"PROCESS-WRITE-BYTES-NUM" added:"true"`
	ProcessWriteBytesDelta Number `csv:"PROCESS-WRITE-BYTES-NUM-DELTA" added:"true"`

	DiskInFlight       Number `csv:"DISK-IN-FLIGHT" added:"true"` // operations the device has not answered yet
	DiskReadTimeDelta  Number `csv:"DISK-READ-MS-DELTA" added:"true"`
	DiskWriteTimeDelta Number `csv:"DISK-WRITE-MS-DELTA" added:"true"`
	DiskBusyTimeDelta  Number `csv:"DISK-BUSY-MS-DELTA" added:"true"`
	DiskQueueTimeDelta Number `csv:"DISK-QUEUE-MS-DELTA" added:"true"` // waiting operations times milliseconds
	DiskFlushesDelta   Number `csv:"DISK-FLUSHES-DELTA" added:"true"`
	DiskFlushTimeDelta Number `csv:"DISK-FLUSH-MS-DELTA" added:"true"`
	DiskUtilisation    Number `csv:"DISK-UTILISATION" added:"true"` // percent of the time with an operation in flight
	DiskAwait          Number `csv:"DISK-AWAIT-MS" added:"true"`    // mean of the reads and writes completed; a gap without any
	DiskQueueLength    Number `csv:"DISK-QUEUE-LENGTH" added:"true"`

	SocketsInUse        Number `csv:"SOCKETS-TCP" added:"true"`
	SocketsEstablished  Number `csv:"SOCKETS-ESTABLISHED" added:"true"`
	SocketsTimeWait     Number `csv:"SOCKETS-TIME-WAIT" added:"true"`
	SocketsCloseWait    Number `csv:"SOCKETS-CLOSE-WAIT" added:"true"`
	SocketsOrphaned     Number `csv:"SOCKETS-ORPHAN" added:"true"`
	TCPRetransmits      Number `csv:"TCP-RETRANSMITS" added:"true"`
	TCPRetransmitsDelta Number `csv:"TCP-RETRANSMITS-DELTA" added:"true"`

	PressureCPUSomeDelta    Number `csv:"PRESSURE-CPU-SOME-MICROSECONDS-DELTA" added:"true"`
	PressureCPUFullDelta    Number `csv:"PRESSURE-CPU-FULL-MICROSECONDS-DELTA" added:"true"`
	PressureIOSomeDelta     Number `csv:"PRESSURE-IO-SOME-MICROSECONDS-DELTA" added:"true"`
	PressureIOFullDelta     Number `csv:"PRESSURE-IO-FULL-MICROSECONDS-DELTA" added:"true"`
	PressureMemorySomeDelta Number `csv:"PRESSURE-MEMORY-SOME-MICROSECONDS-DELTA" added:"true"`
	PressureMemoryFullDelta Number `csv:"PRESSURE-MEMORY-FULL-MICROSECONDS-DELTA" added:"true"`

	MemoryFree      Number `csv:"MEMORY-FREE-NUM" added:"true"` // bytes, of the machine
	MemoryAvailable Number `csv:"MEMORY-AVAILABLE-NUM" added:"true"`
	PageCache       Number `csv:"PAGE-CACHE-NUM" added:"true"`
	Dirty           Number `csv:"DIRTY-NUM" added:"true"`
	Writeback       Number `csv:"WRITEBACK-NUM" added:"true"`

	MachineCPU Number `csv:"MACHINE-CPU" added:"true"` // percent, all cores together; 100 = one core; stolen time is not in it
	MaxCoreCPU Number `csv:"MAX-CORE-CPU" added:"true"`
	StealCPU   Number `csv:"STEAL-CPU" added:"true"` // percent of one core that the hypervisor gave to others
	IOWaitCPU  Number `csv:"IOWAIT-CPU" added:"true"`
	CoreCPU    string `csv:"CORE-CPU" added:"true"` // whole percents of each core, "12 3 100 0"
}

// SampledAt returns the time in a line of system metrics, in nanoseconds since
// the Unix epoch on the sampling machine's clock; false for a line that has none,
// such as the header.
func SampledAt(line string) (unixNanosecond int64, ok bool) {
	cell, _, _ := strings.Cut(line, ",")
	at, err := strconv.ParseInt(cell, 10, 64)
	return at, err == nil
}
