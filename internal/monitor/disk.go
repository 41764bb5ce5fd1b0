//go:build linux

package monitor

import (
	"time"

	"github.com/dbtester/dbtester/result"
)

// diskFields are the figures of a line of /proc/diskstats behind the name, see
// the kernel's iostats.rst. Old kernels have the first 11 only.
const diskFields = 17

// Positions of the figures that are used.
const (
	diskReads, diskSectorsRead, diskReadTime         = 0, 2, 3
	diskWrites, diskSectorsWritten, diskWriteTime    = 4, 6, 7
	diskInFlight, diskBusy, diskQueue                = 8, 9, 10
	diskFlushes, diskFlushTime, diskFieldsEverywhere = 15, 16, 11
)

// readDevice fills the figures of the block device.
func (m *Monitor) readDevice(row *result.SystemRow, elapsed time.Duration) {
	if m.config.Device == "" {
		return
	}
	text, err := m.source.read(&m.machine.disks)
	var disk [diskFields]uint64
	n := 0
	if err == nil {
		n = parseDisk(text, m.config.Device, &disk)
	}
	if !m.there("device "+m.config.Device, n >= diskFieldsEverywhere) {
		return
	}
	row.ReadsCompleted, row.SectorsRead = result.Number(disk[diskReads]), result.Number(disk[diskSectorsRead])
	row.WritesCompleted, row.SectorsWritten = result.Number(disk[diskWrites]), result.Number(disk[diskSectorsWritten])
	row.ReadsCompletedDelta = m.count(readsCompleted, disk[diskReads])
	row.SectorsReadDelta = m.count(sectorsRead, disk[diskSectorsRead])
	row.WritesCompletedDelta = m.count(writesCompleted, disk[diskWrites])
	row.SectorsWrittenDelta = m.count(sectorsWritten, disk[diskSectorsWritten])
	row.ReadBytesDelta = row.SectorsReadDelta * sectorBytes
	row.WriteBytesDelta = row.SectorsWrittenDelta * sectorBytes

	row.DiskInFlight = result.Number(disk[diskInFlight])
	row.DiskReadTimeDelta = m.count(readTime, disk[diskReadTime])
	row.DiskWriteTimeDelta = m.count(writeTime, disk[diskWriteTime])
	row.DiskBusyTimeDelta = m.count(busyTime, disk[diskBusy])
	row.DiskQueueTimeDelta = m.count(queueTime, disk[diskQueue])
	if n == diskFields {
		row.DiskFlushesDelta = m.count(flushes, disk[diskFlushes])
		row.DiskFlushTimeDelta = m.count(flushTime, disk[diskFlushTime])
	}
	row.DiskUtilisation = since(row.DiskBusyTimeDelta, elapsed)
	row.DiskQueueLength = since(row.DiskQueueTimeDelta, elapsed) / 100
	if operations := row.ReadsCompletedDelta + row.WritesCompletedDelta; operations > 0 {
		row.DiskAwait = (row.DiskReadTimeDelta + row.DiskWriteTimeDelta) / operations
	}
}

// sectorBytes is the unit of diskstats, whatever the device's own sectors are.
const sectorBytes = 512

// parseDisk finds a device and returns how many figures it has.
func parseDisk(text []byte, name string, disk *[diskFields]uint64) (n int) {
	lines(text, func(line []byte) bool {
		w := words{line}
		w.skip(2) // major and minor
		if string(w.next()) != name {
			return true
		}
		for n < diskFields {
			figure, known := w.number()
			if !known {
				break
			}
			disk[n] = figure
			n++
		}
		return false
	})
	return n
}
