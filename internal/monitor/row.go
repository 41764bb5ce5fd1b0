//go:build linux

package monitor

import "github.com/dbtester/dbtester/result"

// sectorBytes is the unit of diskstats, whatever the device's own sectors are.
const sectorBytes = 512

// gapRow returns a row without a single known figure.
func gapRow() result.SystemRow {
	gap := result.Gap()
	return result.SystemRow{
		CPU: gap, CPUSeconds: gap, VMRSS: gap, VMSize: gap, FD: gap, Threads: gap,
		VoluntaryCtxt: gap, NonVoluntaryCtxt: gap,
		VoluntaryCtxtDelta: gap, NonVoluntaryCtxtDelta: gap,
		LoadAverage1: gap, LoadAverage5: gap, LoadAverage15: gap,
		ReadsCompleted: gap, SectorsRead: gap, WritesCompleted: gap, SectorsWritten: gap,
		ReadsCompletedDelta: gap, SectorsReadDelta: gap,
		WritesCompletedDelta: gap, SectorsWrittenDelta: gap,
		ReadBytesDelta: gap, WriteBytesDelta: gap,
		ReceiveBytes: gap, TransmitBytes: gap, ReceivePackets: gap, TransmitPackets: gap,
		ReceiveBytesDelta: gap, TransmitBytesDelta: gap,
		ReceivePacketsDelta: gap, TransmitPacketsDelta: gap,
	}
}

// setDeltas fills row's differences to the sample before.
func setDeltas(row, last *result.SystemRow) {
	row.VoluntaryCtxtDelta = delta(row.VoluntaryCtxt, last.VoluntaryCtxt)
	row.NonVoluntaryCtxtDelta = delta(row.NonVoluntaryCtxt, last.NonVoluntaryCtxt)

	row.ReadsCompletedDelta = delta(row.ReadsCompleted, last.ReadsCompleted)
	row.SectorsReadDelta = delta(row.SectorsRead, last.SectorsRead)
	row.WritesCompletedDelta = delta(row.WritesCompleted, last.WritesCompleted)
	row.SectorsWrittenDelta = delta(row.SectorsWritten, last.SectorsWritten)
	row.ReadBytesDelta = row.SectorsReadDelta * sectorBytes
	row.WriteBytesDelta = row.SectorsWrittenDelta * sectorBytes

	row.ReceiveBytesDelta = delta(row.ReceiveBytes, last.ReceiveBytes)
	row.TransmitBytesDelta = delta(row.TransmitBytes, last.TransmitBytes)
	row.ReceivePacketsDelta = delta(row.ReceivePackets, last.ReceivePackets)
	row.TransmitPacketsDelta = delta(row.TransmitPackets, last.TransmitPackets)
}

// delta returns how far a counter went, or a gap: a counter that went
// backwards was reset, and nobody knows by how much it grew.
func delta(now, before result.Number) result.Number {
	if now < before {
		return result.Gap()
	}
	return now - before // a gap if either is one
}
