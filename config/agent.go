package config

import (
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
)

// unixPrefix begins the address of an agent that listens on a Unix socket.
const unixPrefix = "unix:"

// An Agent is where an agent listens and where its member will.
type Agent struct {
	// Host is the IP address or name of its machine, on which the member
	// listens; empty if a socket was given without it.
	Host string
	// Address is host:port; empty if the agent listens on a socket.
	Address string
	// Socket is the absolute path of a Unix socket, or empty.
	Socket string
}

// ParseAgent reads host:port, unix:/path, or the member's IP address and
// unix:/path with '=' between them.
func ParseAgent(text string) (Agent, error) {
	before, path, isSocket := strings.Cut(text, unixPrefix)
	if isSocket {
		member, equals := strings.CutSuffix(before, "=")
		_, err := netip.ParseAddr(member)
		if !filepath.IsAbs(path) || filepath.Clean(path) != path || path == "/" || before != "" && (err != nil || !equals) {
			return Agent{}, fmt.Errorf("want unix:/path, or the member's address before it as in 10.0.0.2=unix:/path, not %q", text)
		}
		return Agent{Host: member, Socket: path}, nil
	}
	name, port, err := net.SplitHostPort(text)
	n, portErr := strconv.ParseUint(port, 10, 16)
	if err != nil || portErr != nil || n == 0 || !host.MatchString(name) {
		return Agent{}, fmt.Errorf("want host:port such as 10.0.0.2:3500, not %q", text)
	}
	return Agent{Host: name, Address: text}, nil
}
