//go:build linux

package agent

import (
	"net"
	"sync"
)

// A cappedListener closes connections above the limits as soon as they come. It
// does not leave them waiting: then whoever holds the others would keep a
// controller out that has a right to come in. The limit for one address leaves
// room for the others.
type cappedListener struct {
	net.Listener
	limits  limits
	refused func(remote net.Addr, cause error)

	mu   sync.Mutex
	open map[string]int // by address without port; "" for a Unix socket
	all  int
}

func (a *Agent) capped(inner net.Listener) net.Listener {
	return &cappedListener{Listener: inner, limits: a.options.limits, refused: a.refused, open: map[string]int{}}
}

// Accept returns the next connection within the limits.
func (l *cappedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from, mostly := origin(conn.RemoteAddr())
		if cause := l.take(from, mostly); cause != nil {
			l.refused(conn.RemoteAddr(), cause)
			_ = conn.Close()
			continue
		}
		return &cappedConn{Conn: conn, release: sync.OnceFunc(func() { l.release(from) })}, nil
	}
}

// origin is the address that connections are counted by; remote says whether
// others than the machine's own user can come from it.
func origin(address net.Addr) (from string, remote bool) {
	if tcp, ok := address.(*net.TCPAddr); ok {
		return tcp.IP.String(), true
	}
	return "", false
}

func (l *cappedListener) take(from string, remote bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.all >= l.limits.connections:
		return errTooMany
	case remote && l.open[from] >= l.limits.fromOne:
		return errTooManyFromOne
	}
	l.all++
	l.open[from]++
	return nil
}

func (l *cappedListener) release(from string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.open[from]--; l.open[from] == 0 {
		delete(l.open, from)
	}
}

// A cappedConn gives its place back when it is closed.
type cappedConn struct {
	net.Conn
	release func()
}

// Close may be called more than once.
func (c *cappedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}
