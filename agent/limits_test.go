//go:build linux

package agent

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/dbtester/dbtester/dbtesterpb"
)

func limited(l limits) func(*Options) { return func(o *Options) { o.limits = l } }

// answers asserts that the agent serves a well-behaved client.
func answers(t *testing.T, a *testAgent) {
	t.Helper()
	if err := ping(t.Context(), a); err != nil {
		t.Errorf("the agent does not answer others any more: %v", err)
	}
}

// connect opens a TCP connection to the agent from an address of this machine.
func connect(t *testing.T, a *testAgent, from string) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.DialContext(t.Context(), "tcp", a.conn.Target())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// isClosed waits until the agent has closed the connection, or tells that it is open.
func isClosed(t *testing.T, conn net.Conn, within time.Duration) bool {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	_, err := io.Copy(io.Discard, conn)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

func TestTooManyConnections(t *testing.T) {
	a := newTestAgent(t, limited(limits{connections: 3, fromOne: 2}))
	first, second := connect(t, a, "127.0.0.8"), connect(t, a, "127.0.0.8")
	if third := connect(t, a, "127.0.0.8"); !isClosed(t, third, 5*time.Second) {
		t.Error("a third connection from one address is open")
	}
	other := connect(t, a, "127.0.0.9")
	if !isClosed(t, connect(t, a, "127.0.0.10"), 5*time.Second) {
		t.Error("a fourth connection is open")
	}
	if isClosed(t, first, time.Millisecond) || isClosed(t, second, time.Millisecond) || isClosed(t, other, time.Millisecond) {
		t.Error("a connection within the limits was closed")
	}
	_ = first.Close()
	eventually(t, "the place of a closed connection is not given back", func() bool { return ping(t.Context(), a) == nil })
}

func TestASlowHandshake(t *testing.T) {
	short := limits{handshake: 200 * time.Millisecond}
	plain := newTestAgent(t, limited(short))
	secure := newSecureAgent(t, func(o *Options, _ testLab) { o.limits = short })
	for name, address := range map[string]string{"HTTP/2": plain.conn.Target(), "TLS": secure.address} {
		for _, sent := range []string{"", "P", "\x16\x03\x01"} {
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, sent); err != nil {
				t.Fatal(err)
			}
			if !isClosed(t, conn, 5*time.Second) {
				t.Errorf("%s: a connection that sent %q and no more is open", name, sent)
			}
			_ = conn.Close()
		}
	}
	answers(t, plain)
}

// A wire is an HTTP/2 connection that keeps to none of the agent's limits.
type wire struct {
	t       *testing.T
	framer  *http2.Framer
	headers bytes.Buffer
	encoder *hpack.Encoder
}

func newWire(t *testing.T, a *testAgent) *wire {
	t.Helper()
	conn := connect(t, a, "127.0.0.1")
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, framer: http2.NewFramer(conn, conn)}
	w.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	w.encoder = hpack.NewEncoder(&w.headers)
	w.must(w.framer.WriteSettings())
	return w
}

func (w *wire) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// call begins a call and leaves it open.
func (w *wire) call(stream uint32, method string, more ...string) {
	w.t.Helper()
	w.headers.Reset()
	fields := append([]string{
		":method", "POST", ":scheme", "http", ":path", method, ":authority", "agent", "content-type", "application/grpc", "te", "trailers",
	}, more...)
	for i := 0; i < len(fields); i += 2 {
		w.must(w.encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}))
	}
	block := w.headers.Bytes()
	for first := true; first || len(block) > 0; first = false {
		part := block[:min(len(block), 16<<10)]
		block = block[len(part):]
		if first {
			w.must(w.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: part, EndHeaders: len(block) == 0}))
		} else {
			w.must(w.framer.WriteContinuation(stream, len(block) == 0, part))
		}
	}
}

// outcomes reads until n streams have ended and returns how: their gRPC status,
// or the code with which they were reset.
func (w *wire) outcomes(n int) map[uint32]string {
	w.t.Helper()
	ended := map[uint32]string{}
	for len(ended) < n {
		frame, err := w.framer.ReadFrame()
		if err != nil {
			w.t.Fatalf("after %v: %v", ended, err)
		}
		switch f := frame.(type) {
		case *http2.RSTStreamFrame:
			if ended[f.StreamID] == "" {
				ended[f.StreamID] = f.ErrCode.String()
			}
		case *http2.MetaHeadersFrame:
			for _, field := range f.Fields {
				if field.Name == "grpc-status" {
					ended[f.StreamID] = "status " + field.Value
				}
			}
		case *http2.SettingsFrame:
			if !f.IsAck() {
				w.must(w.framer.WriteSettingsAck())
			}
		}
	}
	return ended
}

func TestTooManyStreams(t *testing.T) {
	a := newTestAgent(t, limited(limits{streams: 3}))
	w := newWire(t, a)
	for i := range uint32(8) {
		w.call(2*i+1, dbtesterpb.Agent_Ping_FullMethodName)
	}
	for stream, how := range w.outcomes(5) {
		if stream <= 5 || how != http2.ErrCodeRefusedStream.String() {
			t.Errorf("stream %d ended with %s", stream, how)
		}
	}
	answers(t, a)
}

func TestARequestThatNeverComes(t *testing.T) {
	a := newTestAgent(t, limited(limits{call: 200 * time.Millisecond, stalled: 200 * time.Millisecond}))
	w := newWire(t, a)
	w.call(1, dbtesterpb.Agent_Start_FullMethodName)
	w.call(3, dbtesterpb.Agent_Fetch_FullMethodName)
	w.must(w.framer.WriteData(1, false, []byte{0, 0, 0, 0, 9, 1})) // one byte of nine
	ended := w.outcomes(2)
	if ended[1] != "status 4" || !strings.HasPrefix(ended[3], "status") || ended[3] == "status 0" {
		t.Errorf("the calls ended with %v; want the deadline (4) and an error", ended)
	}
	answers(t, a)
}

func TestAMessageOfAGigabyte(t *testing.T) {
	a := newTestAgent(t, nil)
	answers(t, a)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w := newWire(t, a)
	w.call(1, dbtesterpb.Agent_Start_FullMethodName)
	announced := binary.BigEndian.AppendUint32([]byte{0}, 1<<30)
	w.must(w.framer.WriteData(1, false, announced))
	if got := w.outcomes(1)[1]; got != "status 8" {
		t.Errorf("the call ended with %s, want status 8: resource exhausted", got)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
		t.Errorf("refusing it took %d bytes of memory", took)
	}
	// One that the client library sends whole is refused the same way.
	req := request("")
	req.Options = strings.Repeat("x", 2<<20)
	if _, err := a.Start(t.Context(), req); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("Start with 2 MB = %v", err)
	}
	answers(t, a)
}

func TestHeadersWithoutEnd(t *testing.T) {
	a := newTestAgent(t, nil)
	conn := connect(t, a, "127.0.0.1")
	framer := http2.NewFramer(conn, nil)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(framer.WriteSettings(), framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1})); err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 16<<10)
	sent := 0
	for ; sent < 100<<20; sent += len(block) {
		if err := framer.WriteContinuation(1, false, block); err != nil {
			break
		}
	}
	if sent > 16<<20 || !isClosed(t, conn, 5*time.Second) {
		t.Errorf("the agent took %d bytes of headers", sent)
	}
	answers(t, a)
}

func TestAClientThatDoesNotRead(t *testing.T) {
	log := &safeBuffer{}
	a := newTestAgent(t, func(o *Options) {
		o.Log, o.limits = slog.New(slog.NewTextHandler(log, nil)), limits{stalled: 200 * time.Millisecond}
	})
	a.start(t, `{"behaviour": "chatty"}`)
	a.awaitLog(t, "ready")
	w := newWire(t, a) // its window takes 64 KB
	w.call(1, dbtesterpb.Agent_Fetch_FullMethodName)
	message := binary.BigEndian.AppendUint32([]byte{0}, 2)
	w.must(w.framer.WriteData(1, true, append(message, 8, byte(dbtesterpb.FetchRequest_FILE_LOG))))
	eventually(t, "the stream goes on", func() bool { return strings.Contains(log.String(), "it stood still") })
	// What it is told when it reads at last.
	w.must(errors.Join(w.framer.WriteWindowUpdate(0, 1<<20), w.framer.WriteWindowUpdate(1, 1<<20)))
	if got := w.outcomes(1)[1]; got == "status 0" {
		t.Errorf("the stream ended with %s", got)
	}
	answers(t, a)
}

// TestAnOldConnectionIsReplaced follows rows over connections that end.
func TestAnOldConnectionIsReplaced(t *testing.T) {
	a := newTestAgent(t, func(o *Options) {
		o.limits = limits{age: 300 * time.Millisecond, call: 300 * time.Millisecond}
		o.Grace = 100 * time.Millisecond
	})
	a.start(t, "")
	next, broken := int64(0), 0
	for broken < 2 || next < 4 {
		stream, err := a.Metrics(t.Context(), &dbtesterpb.MetricsRequest{From: next})
		if err != nil {
			t.Fatal(err)
		}
		for {
			row, err := stream.Recv()
			if err != nil {
				if status.Code(err) != codes.Unavailable {
					t.Fatalf("the stream broke with %v", err)
				}
				broken++
				break
			}
			if row.GetNumber() != next {
				t.Fatalf("row %d came where row %d was due", row.GetNumber(), next)
			}
			next++
		}
		answers(t, a)
	}
}

func TestRefusalsDoNotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []any
		l := refusalLog{printed: func(_ string, args ...any) { told = append(told, args[len(args)-1]) }}
		for range 3 {
			for range 1000 {
				l.tell("refused")
			}
			time.Sleep(refusalEvery) // virtual
		}
		if len(told) != 3 || told[0] != 0 || told[1] != 999 || told[2] != 999 {
			t.Errorf("told %v, want 3 lines of which the last two count the 999 before", told)
		}
	})
}
