//go:build linux

package monitor

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
)

// InterfaceOf returns the network interface that carries an IP address of this
// machine: the one that has the address, or else the one whose network contains
// it, as lo does 127.0.0.2.
func InterfaceOf(ip string) (string, error) {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return "", fmt.Errorf("find the interface of %q: want an IP address", ip)
	}
	networks, err := interfaceNetworks()
	if err != nil {
		return "", fmt.Errorf("find the interface of %s: %w", ip, err)
	}
	if name := carrier(addr.Unmap().WithZone(""), networks); name != "" {
		return name, nil
	}
	return "", fmt.Errorf("no interface carries %s: name one with --interface, as in /proc/net/dev", ip)
}

// Interfaces returns the names of all network interfaces, sorted.
func Interfaces(procRoot string) ([]string, error) {
	proc, _, err := openProc(procRoot)
	if err != nil {
		return nil, err
	}
	lines, err := proc.NetDev()
	if err != nil {
		return nil, fmt.Errorf("read network interfaces: %w", err)
	}
	return slices.Sorted(maps.Keys(lines)), nil
}

// A network is an address of an interface, with its prefix.
type network struct {
	name   string
	prefix netip.Prefix // of the address itself, not masked
}

func interfaceNetworks() ([]network, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var all []network
	for _, i := range interfaces {
		addrs, err := i.Addrs()
		if err != nil {
			return nil, err
		}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				all = append(all, network{i.Name, p})
			}
		}
	}
	return all, nil
}

// carrier returns the interface of addr, or nothing.
func carrier(addr netip.Addr, networks []network) string {
	narrowest, name := -1, ""
	for _, n := range networks {
		if n.prefix.Addr() == addr {
			return n.name
		}
		if n.prefix.Contains(addr) && n.prefix.Bits() > narrowest {
			narrowest, name = n.prefix.Bits(), n.name
		}
	}
	return name
}
