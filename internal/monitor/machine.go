//go:build linux

package monitor

import (
	"strconv"
	"time"

	"github.com/dbtester/dbtester/result"
)

// machineFiles are the files of /proc about the whole machine.
type machineFiles struct {
	load, stat, memory, disks, network, sockets, snmp keptFile
	pressureCPU, pressureIO, pressureMemory           keptFile
}

func newMachineFiles(s *source) machineFiles {
	at := func(name string) keptFile { return keptFile{path: s.path(name)} }
	return machineFiles{
		load: at("loadavg"), stat: at("stat"), memory: at("meminfo"), disks: at("diskstats"),
		network: at("net/dev"), sockets: at("net/sockstat"), snmp: at("net/snmp"),
		pressureCPU: at("pressure/cpu"), pressureIO: at("pressure/io"), pressureMemory: at("pressure/memory"),
	}
}

func (f *machineFiles) close() {
	for _, file := range []*keptFile{
		&f.load, &f.stat, &f.memory, &f.disks, &f.network, &f.sockets, &f.snmp,
		&f.pressureCPU, &f.pressureIO, &f.pressureMemory,
	} {
		file.close()
	}
}

// readLoad fills the load averages.
func (m *Monitor) readLoad(row *result.SystemRow) {
	text, err := m.source.read(&m.machine.load)
	if err != nil {
		return
	}
	w := words{text}
	for _, field := range []*result.Number{&row.LoadAverage1, &row.LoadAverage5, &row.LoadAverage15} {
		if n, err := strconv.ParseFloat(string(w.next()), 64); err == nil {
			*field = result.Number(n)
		}
	}
}

// readMemory fills what /proc/meminfo says, in bytes.
func (m *Monitor) readMemory(row *result.SystemRow) {
	text, err := m.source.read(&m.machine.memory)
	if err != nil {
		return
	}
	for _, f := range []struct {
		key   string
		field *result.Number
	}{
		{"MemFree:", &row.MemoryFree},
		{"MemAvailable:", &row.MemoryAvailable},
		{"Cached:", &row.PageCache},
		{"Dirty:", &row.Dirty},
		{"Writeback:", &row.Writeback},
	} {
		if kib, known := numberAfter(text, f.key); known {
			*f.field = result.Number(kib << 10)
		}
	}
}

// readPressure fills for how long somebody, or everybody, waited for a
// processor, the disk or memory. A kernel without pressure information, or that
// does not allow it, leaves gaps.
func (m *Monitor) readPressure(row *result.SystemRow) {
	m.stalls(&m.machine.pressureCPU, pressureCPUSome, &row.PressureCPUSomeDelta, &row.PressureCPUFullDelta)
	m.stalls(&m.machine.pressureIO, pressureIOSome, &row.PressureIOSomeDelta, &row.PressureIOFullDelta)
	m.stalls(&m.machine.pressureMemory, pressureMemorySome, &row.PressureMemorySomeDelta, &row.PressureMemoryFullDelta)
}

// stalls reads one file of /proc/pressure; full's counter follows some's.
func (m *Monitor) stalls(file *keptFile, id counterID, some, full *result.Number) {
	text, err := m.source.read(file)
	if err != nil {
		return
	}
	if n, known := stallTotal(text, "some "); known {
		*some = m.count(id, n)
	}
	if n, known := stallTotal(text, "full "); known {
		*full = m.count(id+1, n)
	}
}

// stallTotal reads "some avg10=0.00 avg60=0.00 avg300=0.00 total=123".
func stallTotal(text []byte, kind string) (microseconds uint64, known bool) {
	const total = "total="
	line, found := after(text, kind)
	if !found {
		return 0, false
	}
	for w := (words{line}); ; {
		word := w.next()
		if len(word) == 0 {
			return 0, false
		}
		if len(word) > len(total) && string(word[:len(total)]) == total {
			return parseNumber(word[len(total):])
		}
	}
}

// readInterface fills the counters of the network interface.
func (m *Monitor) readInterface(row *result.SystemRow) {
	if m.config.Interface == "" {
		return
	}
	text, err := m.source.read(&m.machine.network)
	var received, sent [2]uint64
	found := err == nil && parseInterface(text, m.config.Interface, &received, &sent)
	if !m.there("interface "+m.config.Interface, found) {
		return
	}
	row.ReceiveBytes, row.ReceivePackets = result.Number(received[0]), result.Number(received[1])
	row.TransmitBytes, row.TransmitPackets = result.Number(sent[0]), result.Number(sent[1])
	row.ReceiveBytesDelta = m.count(receivedBytes, received[0])
	row.ReceivePacketsDelta = m.count(receivedPackets, received[1])
	row.TransmitBytesDelta = m.count(sentBytes, sent[0])
	row.TransmitPacketsDelta = m.count(sentPackets, sent[1])
}

// parseInterface finds the line of an interface in /proc/net/dev: bytes and
// packets received and sent.
func parseInterface(text []byte, name string, received, sent *[2]uint64) (found bool) {
	lines(text, func(line []byte) bool {
		w := words{line}
		first := w.next()
		n := len(name)
		if len(first) <= n || string(first[:n]) != name || first[n] != ':' {
			return true
		}
		if len(first) > n+1 { // no blank behind the colon on old kernels
			w = words{line[len(line)-len(w.rest)-len(first)+n+1:]}
		}
		var known [4]bool
		received[0], known[0] = w.number()
		received[1], known[1] = w.number()
		w.skip(6) // errs drop fifo frame compressed multicast
		sent[0], known[2] = w.number()
		sent[1], known[3] = w.number()
		found = known == [4]bool{true, true, true, true}
		return false
	})
	return found
}

// since turns milliseconds within elapsed into percent.
func since(milliseconds result.Number, elapsed time.Duration) result.Number {
	if elapsed < minUsageWindow {
		return result.Gap()
	}
	return milliseconds / result.Number(elapsed.Seconds()*1000) * 100
}
