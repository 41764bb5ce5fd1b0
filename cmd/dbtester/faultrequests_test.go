package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/internal/identity"
)

// malformed sends requests that no controller sends to the agent of a host:
// none may be taken, and the agent must still answer those that are in order.
// The same case sends the same requests each time.
func (c *faultCase) malformed(n, count int) {
	seed := fnv.New64()
	fmt.Fprint(seed, c.store.name, c.moment)
	f := &fuzzer{Rand: rand.New(rand.NewPCG(seed.Sum64(), 1)), address: c.address(n) + ":3500"}
	f.dial = func(ctx context.Context, _ string) (net.Conn, error) {
		return c.dial(ctx, controlHost, f.address)
	}
	source, err := identity.Open(identity.Controller, c.certificates("controller-"+labController), nil)
	c.must(err)
	conn, err := grpc.NewClient("passthrough:///"+f.address, grpc.WithTransportCredentials(source.Credentials(nil)),
		grpc.WithContextDialer(f.dial), grpc.WithDefaultCallOptions(grpc.ForceCodec(rawCodec{})))
	c.must(err)
	defer func() { _ = conn.Close() }()
	f.conn = conn
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	for i := range count {
		if err := f.send(ctx); err == nil {
			c.t.Errorf("request %d was taken: %s", i+1, f.last)
		} else if status.Code(err) == codes.Unknown || ctx.Err() != nil {
			c.t.Errorf("request %d, %s: %v", i+1, f.last, err)
		}
		if c.t.Failed() {
			return
		}
	}
	ping := new(dbtesterpb.PingResponse)
	if err := conn.Invoke(ctx, dbtesterpb.Agent_Ping_FullMethodName, &dbtesterpb.PingRequest{}, ping, grpc.ForceCodec(protoCodec{})); err != nil {
		c.t.Errorf("after %d malformed requests the agent does not answer: %v", count, err)
	}
}

// dial opens a connection that leaves from a host of the lab: a socket
// belongs for ever to the namespace in which it was made.
func (l *lab) dial(ctx context.Context, host, address string) (conn net.Conn, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		err = visit("/run/netns/"+l.namespace(host), func() error {
			conn, err = new(net.Dialer).DialContext(ctx, "tcp", address)
			return err
		})
		if !errors.Is(err, errAbroad) {
			runtime.UnlockOSThread() // or else the thread ends with this goroutine
		}
	}()
	<-done
	return conn, err
}

// errAbroad says that the thread could not come back.
var errAbroad = errors.New("still in another network namespace")

// visit does something with this thread in another network namespace. It
// comes back: the thread may be the first of the process, and that counts as
// the process's own namespace.
func visit(namespace string, do func() error) (err error) {
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, home.Close()) }()
	there, err := os.Open(namespace)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, there.Close()) }()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		return err
	}
	err = do()
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		return errors.Join(err, errAbroad, back)
	}
	return err
}

// A fuzzer makes requests that are wrong.
type fuzzer struct {
	*rand.Rand
	address string
	dial    func(context.Context, string) (net.Conn, error)
	conn    *grpc.ClientConn
	last    string // what was sent, in words
}

func (f *fuzzer) send(ctx context.Context) error {
	switch n := f.IntN(1000); {
	case n < 350:
		return f.brokenMessage(ctx)
	case n < 800:
		return f.wrongStart(ctx)
	case n < 880:
		return f.wrongStream(ctx)
	case n < 940:
		f.last = "unknown method"
		return f.conn.Invoke(ctx, "/dbtester.v1.Agent/"+f.word(), f.bytes(64), new([]byte))
	case n < 955:
		f.last = "message of 2 MiB"
		return f.conn.Invoke(ctx, f.method(), make([]byte, 2<<20), new([]byte))
	default:
		return f.noise(ctx)
	}
}

func (f *fuzzer) method() string {
	methods := dbtesterpb.Agent_ServiceDesc.Methods
	return "/" + dbtesterpb.Agent_ServiceDesc.ServiceName + "/" + methods[f.IntN(len(methods))].MethodName
}

func (f *fuzzer) bytes(most int) []byte {
	b := make([]byte, f.IntN(most))
	for i := range b {
		b[i] = byte(f.Uint32())
	}
	return b
}

func (f *fuzzer) word() string { return strings.ToUpper(strconv.FormatUint(f.Uint64(), 36)) }

// brokenMessage is no message of the protocol: field 1 with a wire type that
// does not exist, then anything.
func (f *fuzzer) brokenMessage(ctx context.Context) error {
	f.last = "broken message"
	return f.conn.Invoke(ctx, f.method(), append([]byte{0x0f}, f.bytes(200)...), new([]byte))
}

// wrongStart is a well-formed request in which something is wrong.
func (f *fuzzer) wrongStart(ctx context.Context) error {
	req := &dbtesterpb.StartRequest{
		Run: "run-" + f.word(), Database: "etcd", Kind: "etcd", Installation: "embedded", Index: 1,
		Cluster: []*dbtesterpb.Peer{{Name: "member-1", Host: "10.0.0.3"}},
	}
	bad := []string{"", "..", "../" + f.word(), "/etc/passwd", "a/b", "a\\b\x00c", ".hidden", "$(reboot)", "a b", strings.Repeat("x", 129), "ä", "-rf /"}
	text := bad[f.IntN(len(bad))]
	wrong := []func(){
		func() { req.Run = text },
		func() { req.Database = text },
		func() { req.Kind = text },
		func() { req.Installation = text },
		func() { req.Cluster[0].Name = text },
		func() { req.Cluster[0].Host = text },
		func() { req.Cluster[0].Host = "0.0.0.0" },
		func() { req.Index = int32(f.Uint32()) | 2 },
		func() { req.Cluster = nil },
		func() { req.Cluster = make([]*dbtesterpb.Peer, 10+f.IntN(2000)) },
		func() { req.Options = strings.Repeat("[", 1+f.IntN(60_000)) },
		func() { req.Options = `{"` + f.word() + `": 1}` },
		func() { req.Options = `{"flags": {"data-dir": "/etc"}}` },
		func() { req.Options = `{"snapshot_count": "` + f.word() + `"}` },
		func() { req.Kind = "zookeeper" },
	}
	which := f.IntN(len(wrong))
	wrong[which]()
	f.last = fmt.Sprintf("wrong start %d, %.100q", which, req)
	body, err := proto.Marshal(req)
	if err != nil {
		return err
	}
	return f.conn.Invoke(ctx, dbtesterpb.Agent_Start_FullMethodName, body, new([]byte))
}

// wrongStream asks for what no file has.
func (f *fuzzer) wrongStream(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	method, message := dbtesterpb.Agent_Metrics_FullMethodName, proto.Message(&dbtesterpb.MetricsRequest{From: -1 - f.Int64N(1<<60)})
	switch f.IntN(3) {
	case 0:
		method, message = dbtesterpb.Agent_Fetch_FullMethodName, &dbtesterpb.FetchRequest{File: dbtesterpb.FetchRequest_File(100 + f.IntN(1000))}
	case 1:
		method, message = dbtesterpb.Agent_Fetch_FullMethodName, &dbtesterpb.FetchRequest{
			File: dbtesterpb.FetchRequest_FILE_METRICS, Offset: 1<<50 + f.Int64N(1<<60),
		}
	}
	f.last = fmt.Sprintf("%s of %v", method, message)
	stream, err := f.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method, grpc.ForceCodec(protoCodec{}))
	if err != nil {
		return err
	}
	if err := errors.Join(stream.SendMsg(message), stream.CloseSend()); err != nil {
		return err
	}
	return stream.RecvMsg(new(dbtesterpb.FetchChunk))
}

// noise is no gRPC at all, or breaks off within it.
func (f *fuzzer) noise(ctx context.Context) error {
	f.last = "noise on the socket"
	conn, err := f.dial(ctx, "")
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	text := [][]byte{f.bytes(4096), append([]byte(preface), f.bytes(4096)...), []byte("GET / HTTP/1.1\r\n\r\n"), []byte(preface[:f.IntN(len(preface))])}
	if _, err := conn.Write(text[f.IntN(len(text))]); err != nil {
		return fmt.Errorf("refused: %w", refusedNoise)
	}
	return refusedNoise // what the agent does with the connection is its own affair
}

var refusedNoise = status.Error(codes.Canceled, "closed by us")

// rawCodec sends bytes as they are.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) ([]byte, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("marshal %T: want bytes", v)
	}
	return b, nil
}

func (rawCodec) Unmarshal(data []byte, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("unmarshal into %T: want bytes", v)
	}
	*b = data
	return nil
}

// protoCodec is the ordinary one.
type protoCodec struct{}

func (protoCodec) Name() string { return "proto" }

func (protoCodec) Marshal(v any) ([]byte, error) {
	m, ok := v.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("marshal %T: want a message", v)
	}
	return proto.Marshal(m)
}

func (protoCodec) Unmarshal(data []byte, v any) error {
	m, ok := v.(proto.Message)
	if !ok {
		return fmt.Errorf("unmarshal into %T: want a message", v)
	}
	return proto.Unmarshal(data, m)
}
