package etcd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/mem"

	"github.com/dbtester/dbtester/database"
)

// balancing over the endpoints is the official client's.
const balancing = `{"loadBalancingConfig": [{"round_robin": {}}]}`

const (
	keepaliveTime    = 10 * time.Second
	keepaliveTimeout = 5 * time.Second
	connectTimeout   = 5 * time.Second
	reconnectMin     = 100 * time.Millisecond
	reconnectMax     = 2 * time.Second
	// readyInterval is the pause between two tries of [driver.Open].
	readyInterval = 50 * time.Millisecond
	// maxSendBytes is the official client's own limit of a request.
	maxSendBytes = 2 << 20
	// windowBytes holds the largest answer, so that flow control never waits
	// and needs no probes to find a better window.
	windowBytes = 4 << 20
	// readBufferBytes is a quarter of the default: a thousand connections are
	// a thousand buffers, and an answer to a write is under 100 bytes.
	readBufferBytes = 8 << 10
	// writeBufferBytes is a quarter of the default too, and goes back to a pool
	// once it was sent. It holds a batch of six writes of a kilobyte.
	writeBufferBytes = 8 << 10
)

// Open returns a connection after a linearizable read, so the cluster has a
// leader and the member can reach it. It tries again until ctx is done, or the
// store says something that waiting does not change.
func (d *driver) Open(ctx context.Context, t database.Target) (database.Client, error) {
	guarantee, err := d.Guarantee(t.Consistency)
	if err != nil {
		return nil, err
	}
	if len(t.Endpoints) == 0 {
		return nil, errors.New("open etcd: no endpoints")
	}
	remote, err := clientv3.New(configuration(t, d.buffers))
	if err != nil {
		return nil, fmt.Errorf("open etcd at %s: %w", strings.Join(t.Endpoints, ", "), err)
	}
	c := newClient(remote, t.Endpoints[0], guarantee.Reads == stale, t.RequestTimeout())
	if err := c.waitReady(ctx); err != nil {
		return nil, errors.Join(
			fmt.Errorf("open etcd at %s: no answer to a first read: %w", strings.Join(t.Endpoints, ", "), err),
			remote.Close())
	}
	return c, nil
}

// configuration returns the official client's configuration: one connection
// that balances over the target's endpoints.
func configuration(t database.Target, buffers mem.BufferPool) clientv3.Config {
	return clientv3.Config{
		Endpoints:            t.Endpoints,
		DialKeepAliveTime:    keepaliveTime,
		DialKeepAliveTimeout: keepaliveTimeout,
		// The server counts keepalives of an idle connection as an offence and
		// hangs up, so they are sent only while a call is under way.
		PermitWithoutStream: false,
		MaxUnaryRetries:     1,
		Logger:              zap.NewNop(),
		DialOptions:         dialOptions(buffers),
	}
}

// dialOptions override the official client's own, which come before them.
func dialOptions(buffers mem.BufferPool) []grpc.DialOption {
	return []grpc.DialOption{
		// Takes the retry interceptor out: it would try each call once, yet
		// build metadata and log fields for it every time.
		grpc.WithUnaryInterceptor(nil),
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
		grpc.WithDefaultServiceConfig(balancing),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: reconnectMin, Multiplier: 1.6, Jitter: 0.2, MaxDelay: reconnectMax},
			MinConnectTimeout: connectTimeout,
		}),
		grpc.WithNoProxy(),
		grpc.WithReadBufferSize(readBufferBytes),
		grpc.WithWriteBufferSize(writeBufferBytes),
		experimental.WithBufferPool(buffers),
		grpc.WithStaticStreamWindowSize(windowBytes),
		grpc.WithStaticConnWindowSize(windowBytes),
		grpc.WithDefaultCallOptions(
			grpc.WaitForReady(true),
			grpc.MaxCallSendMsgSize(maxSendBytes),
			grpc.MaxCallRecvMsgSize(math.MaxInt32),
			grpc.ForceCodecV2(newCodec(buffers)),
		),
	}
}

// waitReady reads until an answer comes, without a deadline of its own.
func (c *client) waitReady(ctx context.Context) error {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		err := c.readNothing(ctx)
		if err == nil || ctx.Err() != nil || !comesRight(err) {
			return err
		}
		pause.Reset(readyInterval)
		select {
		case <-ctx.Done():
			return err
		case <-pause.C:
		}
	}
}

// readNothing makes a round trip through the leader for no key at all.
func (c *client) readNothing(ctx context.Context) error {
	request := &pb.RangeRequest{Key: []byte{0}, CountOnly: true}
	bound := c.bounds.begin(ctx)
	return c.end(bound, c.conn.Invoke(bound, methodRange, request, &getAnswer{})) //nolint:contextcheck // the bound is made of ctx
}

// comesRight reports whether the error is one of a cluster still starting.
func comesRight(err error) bool {
	code, _ := grpcCode(err)
	switch code {
	case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Unknown:
		return true
	default:
		return false
	}
}
