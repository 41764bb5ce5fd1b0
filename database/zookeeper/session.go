package zookeeper

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
)

// handshakeTimeout is how long a server that took a connection may take to give
// it a session. The library itself waits for minutes, and Close with it.
const handshakeTimeout = 5 * time.Second

// A session is one connection of the library with what it leaves out: the wait
// for the session, the watchdog over its handshake, and the count of expiries.
type session struct {
	conn *zk.Conn
	wire *wire

	first   sync.Once
	begun   chan struct{} // closed once there was a session
	expired atomic.Int64  // expiries that no call has reported yet
}

// newSession starts connecting to the first of the servers that answers. buffer
// is the size of the connection's two buffers in bytes; an answer that does not
// fit ends the connection, and 0 means no limit.
func newSession(servers []string, buffer int) (*session, error) {
	s := &session{wire: newWire(), begun: make(chan struct{})}
	options := []func(*zk.Conn){
		zk.WithLogger(silent{}),
		zk.WithLogInfo(false),
		zk.WithDialer(s.wire.dial),
		zk.WithHostProvider(newServers(servers)),
		zk.WithEventCallback(s.event),
	}
	if buffer > 0 {
		options = append(options, zk.WithMaxBufferSize(buffer), zk.WithMaxConnBufferSize(buffer))
	}
	return s, s.connect(servers, options)
}

// connect calls the library, whose type of an option has no name outside.
func (s *session) connect(servers []string, options []func(*zk.Conn)) error {
	apply := func(c *zk.Conn) {
		for _, option := range options {
			option(c)
		}
	}
	conn, _, err := zk.Connect(servers, sessionTimeout, apply)
	if err != nil {
		return fmt.Errorf("connect to %v: %w", servers, err)
	}
	s.conn = conn
	return nil
}

// event is called by the library at every change, in order.
func (s *session) event(e zk.Event) {
	if e.Type != zk.EventSession {
		return
	}
	switch e.State {
	case zk.StateConnected:
		s.wire.watch(handshakeTimeout)
	case zk.StateHasSession:
		s.wire.settle()
		s.first.Do(func() { close(s.begun) })
	case zk.StateExpired:
		s.wire.settle()
		s.expired.Add(1)
	case zk.StateDisconnected:
		s.wire.settle()
	}
}

// wait returns once there was a session.
func (s *session) wait(ctx context.Context) error {
	select {
	case <-s.begun:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("no session yet: %w", context.Cause(ctx))
	}
}

// takeExpiry reports whether a session was lost that no call has reported yet.
func (s *session) takeExpiry() bool {
	for {
		n := s.expired.Load()
		if n == 0 {
			return false
		}
		if s.expired.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

// close ends the session at the server, so that it does not linger until its
// timeout, and the connection. Without a session it leaves the library to end by
// itself, because that can take it some seconds.
func (s *session) close() {
	if s.conn.State() == zk.StateHasSession {
		s.conn.Close()
		s.wire.close()
		return
	}
	s.wire.close()
	go s.conn.Close()
}

// silent drops what the library reports: every connect of every client.
type silent struct{}

func (silent) Printf(string, ...any) {}
