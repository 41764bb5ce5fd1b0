//go:build linux

package monitor

import (
	"encoding/binary"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dbtester/dbtester/result"
)

// dumpAtMost is how often sockets are asked for one by one: the kernel walks
// its whole table for it, which is some hundred microseconds.
const dumpAtMost = time.Second

// readSockets fills the sockets of the machine, or of its network namespace.
func (m *Monitor) readSockets(row *result.SystemRow, now time.Time) {
	if text, err := m.source.read(&m.machine.sockets); err == nil {
		readTCP(row, text)
	}
	established, retransmitted, known := uint64(0), uint64(0), false
	if text, err := m.source.read(&m.machine.snmp); err == nil {
		established, retransmitted, known = parseTCP(text)
	}
	if !known {
		return
	}
	row.TCPRetransmits = result.Number(retransmitted)
	row.TCPRetransmitsDelta = m.count(retransmits, retransmitted)
	if m.sockets == nil {
		return
	}
	// The kernel's figure of the established has those in CLOSE-WAIT in it.
	if waiting, known := m.sockets.closeWait(now); known {
		row.SocketsCloseWait = result.Number(waiting)
		row.SocketsEstablished = max(result.Number(established)-result.Number(waiting), 0)
	}
}

// readTCP reads the line "TCP: inuse 3 orphan 0 tw 5 alloc 9 mem 1".
func readTCP(row *result.SystemRow, text []byte) {
	line, _ := after(text, "TCP: ")
	for w := (words{line}); ; {
		key := w.next()
		if len(key) == 0 {
			return
		}
		n, known := w.number()
		if !known {
			return
		}
		switch string(key) {
		case "inuse":
			row.SocketsInUse = result.Number(n)
		case "orphan":
			row.SocketsOrphaned = result.Number(n)
		case "tw":
			row.SocketsTimeWait = result.Number(n)
		}
	}
}

// parseTCP finds CurrEstab and RetransSegs in /proc/net/snmp, whose first line
// "Tcp:" names the columns of the second.
func parseTCP(text []byte) (established, retransmitted uint64, known bool) {
	var names words
	found := 0
	lines(text, func(line []byte) bool {
		w := words{line}
		if string(w.next()) != "Tcp:" {
			return true
		}
		if names.rest == nil {
			names = w
			return true
		}
		for name := names.next(); len(name) > 0; name = names.next() {
			figure := w.next()
			switch string(name) {
			case "CurrEstab":
				established, known = parseNumber(figure)
				found++
			case "RetransSegs":
				retransmitted, known = parseNumber(figure)
				found++
			}
		}
		return false
	})
	return established, retransmitted, known && found == 2
}

// A socketDump asks the kernel for the sockets in one state, by the messages of
// sock_diag(7).
type socketDump struct {
	fd     int // 0 while it is not open
	buffer []byte
	asked  time.Time
	count  int
	known  bool
}

func (d *socketDump) close() {
	if d.fd > 0 {
		_ = unix.Close(d.fd) // nothing is lost with it
		d.fd = 0
	}
}

// closeWait counts the TCP sockets whose other side has closed and whose own
// has not. The count is at most a second old.
func (d *socketDump) closeWait(now time.Time) (count int, known bool) {
	if d.asked.IsZero() || now.Sub(d.asked) >= dumpAtMost-minUsageWindow {
		const tcpCloseWait = 8
		d.asked = now
		d.count, d.known = d.dump(1 << tcpCloseWait)
		if !d.known {
			d.close()
		}
	}
	return d.count, d.known
}

// dump counts the sockets in the states.
func (d *socketDump) dump(states uint32) (count int, known bool) {
	if d.fd <= 0 {
		fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
		if err != nil {
			return 0, false
		}
		d.fd, d.buffer = fd, make([]byte, 32<<10)
		timeout := unix.Timeval{Sec: 1}
		if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout); err != nil {
			return 0, false
		}
	}
	if err := unix.Sendto(d.fd, diagRequest(states), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, false
	}
	for {
		n, _, err := unix.Recvfrom(d.fd, d.buffer, 0)
		if err != nil {
			return 0, false
		}
		more, done, ok := countMessages(d.buffer[:n])
		count += more
		if done || !ok {
			return count, ok
		}
	}
}

// diagRequest is TCPDIAG_GETSOCK with a struct inet_diag_req: the one request
// that answers for IPv4 and IPv6 at once.
func diagRequest(states uint32) []byte {
	const tcpdiagGetsock, headerBytes, requestBytes, statesAt = 18, unix.SizeofNlMsghdr, 60, 52
	message := make([]byte, headerBytes+requestBytes)
	order := binary.NativeEndian
	order.PutUint32(message[0:], uint32(len(message)))
	order.PutUint16(message[4:], tcpdiagGetsock)
	order.PutUint16(message[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	message[headerBytes] = unix.AF_INET
	order.PutUint32(message[headerBytes+statesAt:], states)
	return message
}

// countMessages counts the sockets in a piece of the answer.
func countMessages(answer []byte) (count int, done, ok bool) {
	order := binary.NativeEndian
	for len(answer) >= unix.SizeofNlMsghdr {
		length, kind := int(order.Uint32(answer)), order.Uint16(answer[4:])
		if length < unix.SizeofNlMsghdr || length > len(answer) {
			return count, false, false
		}
		switch kind {
		case unix.NLMSG_DONE:
			return count, true, true
		case unix.NLMSG_ERROR:
			return count, false, false
		default:
			count++
		}
		answer = answer[min((length+3)&^3, len(answer)):]
	}
	return count, false, true
}
