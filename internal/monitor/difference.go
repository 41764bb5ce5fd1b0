//go:build linux

package monitor

import (
	"strconv"

	"github.com/dbtester/dbtester/result"
)

// A counterID names one counter of a sample.
type counterID int

// The counters whose growth is told.
const (
	voluntarySwitches counterID = iota
	involuntarySwitches
	minorFaults
	majorFaults
	processRead
	processWritten
	readsCompleted
	sectorsRead
	readTime
	writesCompleted
	sectorsWritten
	writeTime
	busyTime
	queueTime
	flushes
	flushTime
	receivedBytes
	receivedPackets
	sentBytes
	sentPackets
	retransmits
	pressureCPUSome
	pressureCPUFull
	pressureIOSome
	pressureIOFull
	pressureMemorySome
	pressureMemoryFull
	counterCount // how many there are
)

// String names the counter in a note.
func (id counterID) String() string {
	return [counterCount]string{
		"voluntary context switches", "involuntary context switches", "minor faults", "major faults",
		"bytes read by the process", "bytes written by the process",
		"reads completed", "sectors read", "read time", "writes completed", "sectors written", "write time",
		"busy time of the disk", "queue time of the disk", "flushes", "flush time",
		"bytes received", "packets received", "bytes sent", "packets sent", "retransmitted segments",
		"stalls on a processor", "full stalls on a processor", "stalls on input and output", "full stalls on input and output",
		"stalls on memory", "full stalls on memory",
	}[id]
}

// counterReadings are the counters of one sample. They are whole numbers: a
// float would lose the steps of one near 2^64.
type counterReadings [counterCount]struct {
	value uint64
	known bool
}

// count stores what was read of a counter, and returns its growth since the
// sample before: a gap if that did not have it, or if it fell.
func (m *Monitor) count(id counterID, value uint64) result.Number {
	m.now[id].value, m.now[id].known = value, true
	before := m.before[id]
	if !before.known {
		return result.Gap()
	}
	step, turn := difference(value, before.value, id.bits())
	switch turn {
	case wrapped:
		m.note("the counter of %v wrapped", id)
	case fell:
		m.note("the counter of %v was reset", id)
		return result.Gap()
	case rose:
	}
	return result.Number(step)
}

// A turn is how a counter came from one value to the next.
type turn int

const (
	rose turn = iota
	wrapped
	fell
)

// bits is how wide the kernel keeps a counter. The times of diskstats are
// milliseconds in an unsigned int, which wraps after 49 days; all others are as
// wide as a pointer or wider.
func (id counterID) bits() int {
	switch id {
	case readTime, writeTime, busyTime, queueTime, flushTime:
		return 32
	default:
		return strconv.IntSize
	}
}

// difference returns how far a counter of so many bits went. One that fell from
// the last quarter of its range to the first has wrapped; any other that fell
// was reset, and nobody knows by how much it grew.
func difference(now, before uint64, bits int) (step uint64, how turn) {
	if now >= before {
		return now - before, rose
	}
	last, quarter := uint64(1)<<bits-1, uint64(1)<<(bits-2)
	if before <= last && before > last-quarter && now < quarter {
		return (now - before) & last, wrapped
	}
	return 0, fell
}
