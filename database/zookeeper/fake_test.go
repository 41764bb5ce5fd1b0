package zookeeper

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// Numbers of the protocol.
const (
	opCreate = 1
	opGet    = 4
	opSet    = 5
	opSync   = 9
	opPing   = 11
	opMulti  = 14
	opClose  = -11

	codeOK             = 0
	codeNoNode         = -101
	codeNodeExists     = -110
	codeSessionExpired = -112
)

// A fake is a server of which a test decides what it answers, so that what a
// real one does once in a while can be had at once.
type fake struct {
	address string

	mu       sync.Mutex
	greet    func(attempt int) greeting
	answer   func(op int32, path string) reply
	attempts int
	keys     []string // operations on keys, in order: "create", "set", "get", "sync"
	conns    map[net.Conn]bool
}

// A greeting is how the fake takes a connection.
type greeting int

const (
	greetSession greeting = iota // a session
	noSession                    // the one asked for has expired
	hangUp
	silence
)

// A reply is what a request gets.
type reply struct {
	code   int32
	body   []byte
	silent bool
	hangUp bool
}

func newFake(t *testing.T) *fake {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{
		address: listener.Addr().String(),
		greet:   func(int) greeting { return greetSession },
		answer:  func(int32, string) reply { return reply{} },
		conns:   make(map[net.Conn]bool),
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			f.keep(conn)
			wg.Go(func() { f.serve(t, conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		f.hangUp()
		wg.Wait()
	})
	return f
}

func (f *fake) keep(conn net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns[conn] = true
}

// hangUp closes all connections.
func (f *fake) hangUp() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for conn := range f.conns {
		_ = conn.Close()
	}
}

// set changes what the fake does.
func (f *fake) set(greet func(int) greeting, answer func(int32, string) reply) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if greet != nil {
		f.greet = greet
	}
	if answer != nil {
		f.answer = answer
	}
}

// takeKeys returns the operations on keys since the last call.
func (f *fake) takeKeys() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	keys := strings.Join(f.keys, " ")
	f.keys = nil
	return keys
}

func (f *fake) serve(t *testing.T, conn net.Conn) {
	t.Helper()
	defer func() { _ = conn.Close() }() // the other side may have gone
	if !f.handshake(conn) {
		return
	}
	for {
		packet, err := readPacket(conn)
		if err != nil {
			return
		}
		xid, op := int32(binary.BigEndian.Uint32(packet)), int32(binary.BigEndian.Uint32(packet[4:]))
		r := f.reply(op, packet[8:])
		if r.hangUp {
			return
		}
		if r.silent {
			continue
		}
		header := binary.BigEndian.AppendUint32(nil, uint32(xid))
		header = binary.BigEndian.AppendUint64(header, 1)
		header = binary.BigEndian.AppendUint32(header, uint32(r.code))
		if err := writePacket(conn, append(header, r.body...)); err != nil {
			return
		}
	}
}

func (f *fake) handshake(conn net.Conn) bool {
	if _, err := readPacket(conn); err != nil {
		return false
	}
	f.mu.Lock()
	greet := f.greet(f.attempts)
	f.attempts++
	f.mu.Unlock()
	var id uint64
	switch greet {
	case hangUp:
		return false
	case silence:
		_, _ = io.Copy(io.Discard, conn) // until the other side gives up
		return false
	case greetSession:
		id = 42
	case noSession:
	}
	answer := binary.BigEndian.AppendUint32(nil, 0)
	answer = binary.BigEndian.AppendUint32(answer, 30_000)
	answer = binary.BigEndian.AppendUint64(answer, id)
	answer = binary.BigEndian.AppendUint32(answer, 16)
	return writePacket(conn, append(answer, make([]byte, 16)...)) == nil && id != 0
}

// reply answers what every test needs and asks the test's own function for
// operations on keys.
func (f *fake) reply(op int32, body []byte) reply {
	if op == opMulti {
		return reply{body: []byte{255, 255, 255, 255, 1, 255, 255, 255, 255}}
	}
	if op == opPing || op == opClose {
		return reply{}
	}
	path := string(body[4 : 4+binary.BigEndian.Uint32(body)])
	if op != opSync && strings.Count(path, "/") < 3 {
		return reply{code: codeNodeExists}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keys = append(f.keys, map[int32]string{opCreate: "create", opSet: "set", opGet: "get", opSync: "sync"}[op])
	r := f.answer(op, path)
	if r.code == codeOK && r.body == nil {
		r.body = make([]byte, 256) // zeros are an empty string and any numbers
	}
	return r
}

func readPacket(r io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > 1<<20 {
		return nil, errors.New("a packet larger than a megabyte")
	}
	packet := make([]byte, n)
	_, err := io.ReadFull(r, packet)
	return packet, err
}

func writePacket(w io.Writer, packet []byte) error {
	_, err := w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(packet))), packet...))
	return err
}
