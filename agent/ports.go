//go:build linux

package agent

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/dbtester/dbtester/internal/monitor"
)

// checkPorts returns an error unless the member can listen on all of them.
func checkPorts(ctx context.Context, ports []string) error {
	for _, port := range ports {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", port)
		if err != nil {
			return portStatus(port, err)
		}
		if err := listener.Close(); err != nil {
			return status.Errorf(codes.Internal, "free port %s again: %v", port, err)
		}
	}
	return nil
}

func portStatus(port string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		who := "another process"
		if address, err := netip.ParseAddrPort(port); err == nil {
			who = cmp.Or(monitor.Listener(address), who)
		}
		return status.Errorf(codes.FailedPrecondition, "port %s is in use: %s listens there; stop it first", port, who)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return status.Errorf(codes.FailedPrecondition, "cannot listen on %s: this machine has no such address", port)
	default:
		return status.Errorf(codes.FailedPrecondition, "cannot listen on %s: %v", port, err)
	}
}
