//go:build linux

package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/dbtester/dbtester/internal/identity"
	"github.com/dbtester/dbtester/internal/unixsocket"
)

// unixPrefix begins an address that is the path of a Unix socket.
const unixPrefix = "unix:"

// checkIdentity refuses options that leave open who may use the agent.
func (o Options) checkIdentity() error {
	switch {
	case !o.TLS.Given() && len(o.Allow) > 0:
		return errors.New("--allow goes by the name in a controller's certificate: give --cert, --key and --ca too")
	case o.TLS.Given() && strings.HasPrefix(o.Listen, unixPrefix):
		return fmt.Errorf("--listen %s: only its owner can use the socket, certificates are for host:port; leave --cert, --key and --ca out", o.Listen)
	case o.TLS.Given() && len(o.Allow) == 0:
		return errors.New("name the controllers that may use this agent with --allow, as they are called in their certificates, such as --allow alice")
	}
	return nil
}

// listen opens the address of the options.
func (a *Agent) listen(ctx context.Context) (net.Listener, error) {
	address := a.options.Listen
	if path, ok := strings.CutPrefix(address, unixPrefix); ok {
		path, err := filepath.Abs(path)
		if err != nil || strings.HasSuffix(address, "/") || address == unixPrefix {
			return nil, &OptionError{fmt.Errorf("--listen %s: want the path of a socket, such as unix:/run/dbtester/agent.sock", address)}
		}
		listener, err := unixsocket.Listen(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("--listen %s: %w", address, err)
		}
		return listener, nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &OptionError{fmt.Errorf("--listen %s: want host:port or unix:/path: %w", address, err)}
	}
	if a.source == nil {
		if host, err = loopback(ctx, host); err != nil {
			return nil, &OptionError{fmt.Errorf("--listen %s: %w", address, err)}
		}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("--listen %s: %w", address, err)
	}
	return listener, nil
}

// errNeedsTLS refuses an address at which the agent must know who calls.
var errNeedsTLS = errors.New("other machines can reach this address, so the agent serves there only with mutual TLS: " +
	"give --cert, --key, --ca and --allow (\"dbtester certs\" makes what they need), or listen on loopback or unix:/path")

// loopback returns the host's address if only this machine reaches it.
func loopback(ctx context.Context, host string) (string, error) {
	addr, err := netip.ParseAddr(host)
	if err != nil && host == "localhost" {
		var found []netip.Addr
		if found, err = net.DefaultResolver.LookupNetIP(ctx, "ip", host); err == nil && len(found) > 0 {
			addr = found[0]
		}
	}
	if err != nil || !addr.Unmap().IsLoopback() {
		return "", errNeedsTLS
	}
	return addr.String(), nil
}

// mayServe refuses to serve others without knowing who they are, whatever
// listener the agent was given.
func (a *Agent) mayServe(listener net.Listener) error {
	tcp, ok := listener.Addr().(*net.TCPAddr)
	if ok && a.source == nil && !tcp.IP.IsLoopback() {
		return fmt.Errorf("serve on %s: %w", tcp, errNeedsTLS)
	}
	return nil
}

// openIdentity reads the certificate files, if there are any.
func (a *Agent) openIdentity() error {
	if !a.options.TLS.Given() {
		return nil
	}
	var err error
	a.source, err = identity.Open(identity.Agent, a.options.TLS, a.options.Log)
	return err
}
