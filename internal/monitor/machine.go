//go:build linux

package monitor

import (
	"slices"

	"github.com/prometheus/procfs/blockdevice"

	"github.com/dbtester/dbtester/result"
)

// readLoad fills the load averages.
func (m *Monitor) readLoad(row *result.SystemRow) {
	load, err := m.proc.LoadAvg()
	if err != nil {
		return
	}
	row.LoadAverage1 = result.Number(load.Load1)
	row.LoadAverage5 = result.Number(load.Load5)
	row.LoadAverage15 = result.Number(load.Load15)
}

// readDevice fills the counters of the block device.
func (m *Monitor) readDevice(row *result.SystemRow) {
	// Broken lines come back as an error after those before them.
	disks, _ := m.block.ProcDiskstats()
	i := slices.IndexFunc(disks, func(d blockdevice.Diskstats) bool { return d.DeviceName == m.config.Device })
	if i < 0 {
		return
	}
	row.ReadsCompleted = result.Number(disks[i].ReadIOs)
	row.SectorsRead = result.Number(disks[i].ReadSectors)
	row.WritesCompleted = result.Number(disks[i].WriteIOs)
	row.SectorsWritten = result.Number(disks[i].WriteSectors)
}

// readInterface fills the counters of the network interface.
func (m *Monitor) readInterface(row *result.SystemRow) {
	interfaces, err := m.proc.NetDev()
	if err != nil {
		return
	}
	line, found := interfaces[m.config.Interface]
	if !found {
		return
	}
	row.ReceiveBytes = result.Number(line.RxBytes)
	row.TransmitBytes = result.Number(line.TxBytes)
	row.ReceivePackets = result.Number(line.RxPackets)
	row.TransmitPackets = result.Number(line.TxPackets)
}
