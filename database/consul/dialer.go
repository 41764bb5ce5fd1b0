package consul

import (
	"context"
	"net"
	"sync"
	"time"
)

// redialPause is the least time between a dial in vain and the next one. Without
// it the clients of a dead agent would spend the whole run's requests on refused
// connections within seconds. It is the pause that the ZooKeeper client has.
const redialPause = time.Second

// A dialer pauses after a dial in vain.
type dialer struct {
	net.Dialer
	pause time.Duration

	mu     sync.Mutex
	failed map[string]time.Time // by address, the latest dial in vain
}

func newDialer(pause time.Duration) *dialer {
	return &dialer{
		Dialer: net.Dialer{Timeout: dialTimeout, KeepAlive: keepalive},
		pause:  pause, failed: make(map[string]time.Time),
	}
}

// DialContext dials, at once if the last dial went well.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if wait := d.wait(address); wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, &net.OpError{Op: "dial", Net: network, Err: ctx.Err()}
		}
	}
	conn, err := d.Dialer.DialContext(ctx, network, address)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.failed[address] = time.Now()
		return nil, err
	}
	delete(d.failed, address)
	return conn, nil
}

func (d *dialer) wait(address string) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	last, ok := d.failed[address]
	if !ok {
		return 0
	}
	return time.Until(last.Add(d.pause))
}
