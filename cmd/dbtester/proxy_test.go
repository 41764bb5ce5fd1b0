package main

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
)

// A proxy stands between control and an agent, as a network that can be cut.
type proxy struct {
	to       string
	listener net.Listener
	mu       sync.Mutex
	cut      bool
	conns    map[net.Conn]bool
}

// newProxy serves on an address until the test ends.
func newProxy(t *testing.T, address, to string) *proxy {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{to: to, listener: listener, conns: map[net.Conn]bool{}}
	ctx := context.WithoutCancel(t.Context())
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go p.carry(ctx, conn)
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		p.reset()
	})
	return p
}

func (p *proxy) carry(ctx context.Context, from net.Conn) {
	to, err := new(net.Dialer).DialContext(ctx, "tcp", p.to)
	if err != nil || !p.add(from, to) {
		_ = from.Close()
		return
	}
	go func() { _, _ = io.Copy(to, from); p.drop(from, to) }()
	_, _ = io.Copy(from, to)
	p.drop(from, to)
}

func (p *proxy) add(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if p.cut {
			_ = c.Close()
		} else {
			p.conns[c] = true
		}
	}
	return !p.cut
}

func (p *proxy) drop(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
		delete(p.conns, c)
	}
}

// reset breaks every connection at once, as a reset does.
func (p *proxy) reset() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.conns)
	for c := range p.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = c.Close()
		delete(p.conns, c)
	}
	return n
}

// setCut breaks what is there and refuses what comes, or lets it through again.
func (p *proxy) setCut(cut bool) {
	p.mu.Lock()
	p.cut = cut
	p.mu.Unlock()
	if cut {
		p.reset()
	}
}
