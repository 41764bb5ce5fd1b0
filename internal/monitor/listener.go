//go:build linux

package monitor

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/prometheus/procfs"
)

// tcpListen is the state LISTEN in /proc/net/tcp.
const tcpListen = 10

// Listener says which process listens on a TCP address of this machine, as
// "etcd, process 1234"; nothing if it cannot be told, which is so for processes
// of other users.
func Listener(address netip.AddrPort) string {
	proc, _, err := openProc(DefaultProcRoot)
	if err != nil {
		return ""
	}
	inodes := listenInodes(proc, address)
	if len(inodes) == 0 {
		return ""
	}
	all, _ := proc.AllProcs()
	for _, p := range all {
		targets, _ := p.FileDescriptorTargets()
		if slices.ContainsFunc(targets, func(t string) bool { return slices.Contains(inodes, t) }) {
			name, _ := p.Comm()
			return fmt.Sprintf("%s, process %d", printable(name), p.PID)
		}
	}
	return ""
}

// listenInodes returns the sockets that listen on the address, as the links in
// /proc/PID/fd name them.
func listenInodes(proc procfs.FS, address netip.AddrPort) []string {
	lines, _ := proc.NetTCP()   //nolint:staticcheck // the netlink library it points to is one more dependency for one message
	lines6, _ := proc.NetTCP6() //nolint:staticcheck // as above
	var inodes []string
	for _, l := range slices.Concat(lines, lines6) {
		local, _ := netip.AddrFromSlice(l.LocalAddr)
		ours := local.Unmap() == address.Addr().Unmap() || local.IsUnspecified()
		if l.St == tcpListen && l.LocalPort == uint64(address.Port()) && ours {
			inodes = append(inodes, fmt.Sprintf("socket:[%d]", l.Inode))
		}
	}
	return inodes
}
