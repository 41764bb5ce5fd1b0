package zookeeper

import (
	"context"
	"net"
	"sync"
	"time"
)

// A wire is the network connection below a session. The library keeps it to
// itself, so it is caught where it is dialed.
type wire struct {
	ctx    context.Context //nolint:containedctx // the library's dialer has no context; this one is the session's life
	cancel context.CancelFunc

	mu       sync.Mutex
	conn     net.Conn    // the latest one
	watchdog *time.Timer // nil unless a handshake is under way
	closed   bool
}

func newWire() *wire {
	w := new(wire)
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// dial is the library's dialer. It closes the connection before: after an expiry
// the library forgets to.
func (w *wire) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	dialer := net.Dialer{Timeout: timeout}
	conn, err := dialer.DialContext(w.ctx, network, address)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		_ = conn.Close() // nobody has used it
		return nil, net.ErrClosed
	}
	if w.conn != nil {
		_ = w.conn.Close() // mostly closed already
	}
	w.conn = conn
	return conn, nil
}

// watch closes the connection unless settle is called within the timeout.
func (w *wire) watch(timeout time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	conn := w.conn
	w.stopWatchdog()
	w.watchdog = time.AfterFunc(timeout, func() { _ = conn.Close() }) // the library sees the error
}

// settle ends the watch.
func (w *wire) settle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopWatchdog()
}

func (w *wire) stopWatchdog() {
	if w.watchdog != nil {
		w.watchdog.Stop()
		w.watchdog = nil
	}
}

// close ends the connection and lets no other be dialed.
func (w *wire) close() {
	w.cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.stopWatchdog()
	if w.conn != nil {
		_ = w.conn.Close() // mostly closed already
	}
}
