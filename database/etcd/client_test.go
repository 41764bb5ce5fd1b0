package etcd

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/databasetest"
)

// fakeKV answers as the test says and counts what arrives.
type fakeKV struct {
	pb.UnimplementedKVServer
	ranges, puts atomic.Int64
	refuse       atomic.Int64 // as many first reads, as a member without a leader does
	answerRange  func(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error)
	answerPut    func(context.Context, *pb.PutRequest) (*pb.PutResponse, error)
}

func (f *fakeKV) Range(ctx context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
	f.ranges.Add(1)
	if r.CountOnly && f.refuse.Add(-1) >= 0 {
		return nil, rpctypes.ErrGRPCNoLeader
	}
	if r.CountOnly || f.answerRange == nil { // the first read of Open
		return &pb.RangeResponse{Header: &pb.ResponseHeader{}}, nil
	}
	return f.answerRange(ctx, r)
}

func (f *fakeKV) Put(ctx context.Context, r *pb.PutRequest) (*pb.PutResponse, error) {
	f.puts.Add(1)
	return f.answerPut(ctx, r)
}

// serve starts a gRPC server and returns its address.
func serve(t *testing.T, f *fakeKV) (*grpc.Server, string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	pb.RegisterKVServer(server, f)
	go func() { _ = server.Serve(listener) }() // ends with Stop
	t.Cleanup(server.Stop)
	return server, listener.Addr().String()
}

func openTest(t *testing.T, endpoint, consistency string, timeout time.Duration) database.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c, err := newTestDriver(t, ``).Open(ctx, database.Target{
		Endpoints: []string{endpoint}, Consistency: consistency, Timeout: timeout,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // a test may have closed it
	return c
}

func wantKind(t *testing.T, err error, kind string, mayBeApplied bool) {
	t.Helper()
	var sorted *database.Error
	if !errors.As(err, &sorted) || sorted.Kind != kind || sorted.MayBeApplied != mayBeApplied {
		t.Errorf("got %v, want kind %q, may be applied %v", err, kind, mayBeApplied)
	}
}

func TestNoHiddenRetries(t *testing.T) {
	tests := []struct {
		name string
		err  error
		kind string
	}{
		{"unavailable", status.Error(codes.Unavailable, "come again"), "unavailable"},
		{"what the client would retry a write for", status.Error(codes.Unavailable, "there is no address available"), "unavailable"},
		{"request timed out", rpctypes.ErrGRPCTimeout, "request timed out"},
		{"deadline of the server's own", status.Error(codes.DeadlineExceeded, "mine, not yours"), database.KindDeadline},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fakeKV{
				answerRange: func(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error) { return nil, tt.err },
				answerPut:   func(context.Context, *pb.PutRequest) (*pb.PutResponse, error) { return nil, tt.err },
			}
			_, endpoint := serve(t, f)
			c := openTest(t, endpoint, linearizable, 0)
			before := f.ranges.Load()
			wantKind(t, c.Put(t.Context(), "k1", nil), tt.kind, true)
			_, err := c.Get(t.Context(), "k1", nil)
			wantKind(t, err, tt.kind, true)
			if got := f.puts.Load(); got != 1 {
				t.Errorf("the server got %d puts, want 1", got)
			}
			if got := f.ranges.Load() - before; got != 1 {
				t.Errorf("the server got %d ranges, want 1", got)
			}
		})
	}
}

// TestEveryCallHasADeadline calls a server that never answers, without a
// deadline of the caller's.
func TestEveryCallHasADeadline(t *testing.T) {
	const timeout = 200 * time.Millisecond
	var once sync.Once
	given := make(chan struct{}) // closed when the server learns that the put was given up
	f := &fakeKV{
		answerPut: func(ctx context.Context, _ *pb.PutRequest) (*pb.PutResponse, error) {
			<-ctx.Done()
			once.Do(func() { close(given) })
			return nil, ctx.Err()
		},
		answerRange: func(ctx context.Context, _ *pb.RangeRequest) (*pb.RangeResponse, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}
	_, endpoint := serve(t, f)
	c := openTest(t, endpoint, linearizable, timeout)
	within := func(t *testing.T, want time.Duration, call func() error) {
		t.Helper()
		start := time.Now()
		wantKind(t, call(), database.KindDeadline, true)
		if took := time.Since(start); took < want*9/10 || took > want+time.Second {
			t.Errorf("took %v, want %v", took, want)
		}
	}
	within(t, timeout, func() error { return c.Put(t.Context(), "k1", nil) })
	select {
	case <-given:
	case <-time.After(10 * time.Second):
		t.Error("the server was not told that the put was given up")
	}
	within(t, timeout, func() error {
		_, err := c.Get(t.Context(), "k1", nil)
		return err
	})
	ctx, cancel := context.WithTimeout(t.Context(), timeout/4)
	defer cancel()
	within(t, timeout/4, func() error { return c.Put(ctx, "k1", nil) })
}

func TestCloseDuringACall(t *testing.T) {
	arrived := make(chan struct{})
	f := &fakeKV{answerPut: func(ctx context.Context, _ *pb.PutRequest) (*pb.PutResponse, error) {
		close(arrived)
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	_, endpoint := serve(t, f)
	c := openTest(t, endpoint, linearizable, 0)
	result := make(chan error)
	go func() { result <- c.Put(t.Context(), "k1", nil) }()
	<-arrived
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	wantKind(t, <-result, database.KindClosed, true)
	wantKind(t, c.Put(t.Context(), "k1", nil), database.KindClosed, false)
}

// TestConnectionLost stops the server in the middle of a write: indeterminate.
func TestConnectionLost(t *testing.T) {
	arrived := make(chan struct{})
	f := &fakeKV{answerPut: func(ctx context.Context, _ *pb.PutRequest) (*pb.PutResponse, error) {
		close(arrived)
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	server, endpoint := serve(t, f)
	c := openTest(t, endpoint, linearizable, 500*time.Millisecond)
	result := make(chan error)
	go func() { result <- c.Put(t.Context(), "k1", nil) }()
	<-arrived
	server.Stop()
	wantKind(t, <-result, "unavailable", true)
	if got := f.puts.Load(); got != 1 {
		t.Errorf("the server got %d puts, want 1", got)
	}
	start := time.Now()
	wantKind(t, c.Put(t.Context(), "k1", nil), database.KindDeadline, true)
	if took := time.Since(start); took > 1500*time.Millisecond {
		t.Errorf("a put to a dead endpoint took %v, want its timeout of 500ms", took)
	}
}

// TestCloseLeavesNothing counts goroutines, also of an Open that gave up.
func TestCloseLeavesNothing(t *testing.T) {
	f := &fakeKV{answerPut: func(context.Context, *pb.PutRequest) (*pb.PutResponse, error) {
		return &pb.PutResponse{Header: &pb.ResponseHeader{}}, nil
	}}
	server, endpoint := serve(t, f)
	before := goleak.IgnoreCurrent()
	c := openTest(t, endpoint, linearizable, 0)
	if err := c.Put(t.Context(), "k1", []byte("value")); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	databasetest.DeadEndpoint(t, newTestDriver(t, ``), linearizable)
	server.Stop() // its own goroutines for the connection
	goleak.VerifyNone(t, before)
}

func TestDeadEndpoint(t *testing.T) {
	databasetest.DeadEndpoint(t, newTestDriver(t, ``), linearizable)
}

// TestOpenWaits opens before there is a leader.
func TestOpenWaits(t *testing.T) {
	f := &fakeKV{}
	f.refuse.Store(3)
	_, endpoint := serve(t, f)
	openTest(t, endpoint, linearizable, 0)
	if got := f.ranges.Load(); got != 4 {
		t.Errorf("got %d first reads, want 3 refused and 1 answered", got)
	}
}

func TestGetAnswers(t *testing.T) {
	var serializable atomic.Bool
	f := &fakeKV{answerRange: func(_ context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
		serializable.Store(r.Serializable)
		answer := &pb.RangeResponse{Header: &pb.ResponseHeader{Revision: 7}}
		if string(r.Key) != "k0" {
			answer.Kvs = []*mvccpb.KeyValue{{Key: r.Key, Value: append([]byte("value of "), r.Key...)}}
			answer.Count = 1
		}
		return answer, nil
	}}
	_, endpoint := serve(t, f)
	for _, consistency := range []string{linearizable, stale} {
		c := openTest(t, endpoint, consistency, 0)
		first, err := c.Get(t.Context(), "k1", nil)
		if err != nil {
			t.Fatal(err)
		}
		// An answer that is used again must not show the one before it.
		if _, err := c.Get(t.Context(), "k0", nil); !errors.Is(err, database.ErrNotFound) {
			t.Errorf("missing key after one that is there: got %v, want ErrNotFound", err)
		}
		if second, err := c.Get(t.Context(), "k2", nil); err != nil || string(second) != "value of k2" {
			t.Errorf("got %q, %v, want %q", second, err, "value of k2")
		}
		if !bytes.Equal(first, []byte("value of k1")) {
			t.Errorf("the first value became %q", first)
		}
		if got, want := serializable.Load(), consistency == stale; got != want {
			t.Errorf("%s: serializable is %v, want %v", consistency, got, want)
		}
	}
}
