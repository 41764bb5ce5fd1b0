package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/dbtester/dbtester/internal/monitor"
	"github.com/dbtester/dbtester/result"
)

// sampleOurselves samples this process and its machine into the database's
// result folder until the returned function is called.
func sampleOurselves(ctx context.Context, dir string, agents []*agentConn, interval time.Duration) (stop func() error, err error) {
	// A device or interface that is not found leaves gaps in its columns.
	device, _ := monitor.DeviceOf(dir)
	network, _ := interfaceTo(ctx, agents[0].host)
	m, err := monitor.New(monitor.Config{PID: os.Getpid(), Device: device, Interface: network, Interval: interval})
	if err != nil {
		return nil, fmt.Errorf("sample the controller: %w", err)
	}
	rows, err := result.CreateTable[result.SystemRow](filepath.Join(dir, result.ClientMetricsFile))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error)
	go func() {
		done <- m.Run(ctx, func(row result.SystemRow) error { return rows.Append(row) })
	}()
	return func() error {
		cancel()
		return errors.Join(<-done, rows.Close())
	}, nil
}

// interfaceTo returns the network interface through which packets to the
// host leave. No packet is sent.
func interfaceTo(ctx context.Context, host string) (string, error) {
	address := net.JoinHostPort(host, "9") // any port will do
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "udp", address)
	if err != nil {
		return "", fmt.Errorf("find the interface to %s: %w", address, err)
	}
	local, ok := conn.LocalAddr().(*net.UDPAddr)
	if err := conn.Close(); err != nil || !ok {
		return "", fmt.Errorf("find the interface to %s: %w", address, err)
	}
	return monitor.InterfaceOf(local.IP.String())
}
