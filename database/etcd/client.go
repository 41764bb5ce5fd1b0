package etcd

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/dbtester/dbtester/database"
)

// Methods of etcd's KV service.
const (
	methodPut   = "/etcdserverpb.KV/Put"
	methodRange = "/etcdserverpb.KV/Range"
)

// client is one connection of the official client. Put and Get call its gRPC
// connection directly, with requests used again, and answers of which only what is
// asked for is decoded.
type client struct {
	remote       *clientv3.Client
	conn         *grpc.ClientConn
	endpoint     string // the first one
	serializable bool   // reads may be stale
	bounds       *bounds
	closed       atomic.Bool
	puts         sync.Pool // of *putCall
	gets         sync.Pool // of *getCall
}

var (
	_ database.Client       = (*client)(nil)
	_ database.Counter      = (*client)(nil)
	_ database.LeaderProber = (*client)(nil)
	_ database.Versioner    = (*client)(nil)
)

// A putCall is a put and its answer, used again for the next one unless the call
// failed: an answer came only after the whole request was sent, a failed call may
// still be sending it.
type putCall struct {
	request pb.PutRequest
	encoded []byte
	answer  putAnswer
}

func (c *putCall) encode() ([]byte, error) { return encodeInto(&c.encoded, &c.request) }

// A getCall is a get and its answer, used again as a putCall is.
type getCall struct {
	request pb.RangeRequest
	encoded []byte
	answer  getAnswer
}

func (c *getCall) encode() ([]byte, error) { return encodeInto(&c.encoded, &c.request) }

// encodeInto encodes a message into memory that grows as needed.
func encodeInto(memory *[]byte, m sized) ([]byte, error) {
	*memory = slices.Grow((*memory)[:0], m.Size())[:m.Size()]
	_, err := m.MarshalToSizedBuffer(*memory)
	return *memory, err
}

func newClient(remote *clientv3.Client, endpoint string, serializable bool, timeout time.Duration) *client {
	c := &client{
		remote:       remote,
		conn:         remote.ActiveConnection(),
		endpoint:     endpoint,
		serializable: serializable,
		bounds:       newBounds(timeout),
	}
	c.puts.New = func() any { return new(putCall) }
	c.gets.New = func() any { return new(getCall) }
	return c
}

// Put writes the value; it is the caller's again once Put returns.
func (c *client) Put(ctx context.Context, key string, value []byte) error {
	if c.closed.Load() {
		return database.ContextError(database.ErrClosed)
	}
	call := c.puts.Get().(*putCall)
	call.request.Key = append(call.request.Key[:0], key...)
	call.request.Value = value
	bound := c.bounds.begin(ctx)
	err := c.conn.Invoke(bound, methodPut, call, &call.answer) //nolint:contextcheck // the bound is made of ctx
	if err == nil {
		call.request.Value = nil
		c.puts.Put(call)
	}
	return c.end(bound, err)
}

// Get reads the value with the target's consistency and appends it to into.
func (c *client) Get(ctx context.Context, key string, into []byte) ([]byte, error) {
	if c.closed.Load() {
		return nil, database.ContextError(database.ErrClosed)
	}
	call := c.gets.Get().(*getCall)
	call.request.Key = append(call.request.Key[:0], key...)
	call.request.Serializable = c.serializable
	call.answer.value = into
	bound := c.bounds.begin(ctx)
	err := c.conn.Invoke(bound, methodRange, call, &call.answer) //nolint:contextcheck // the bound is made of ctx
	value, found := call.answer.value, call.answer.found
	if err == nil {
		call.answer = getAnswer{}
		c.gets.Put(call)
	}
	switch err := c.end(bound, err); {
	case err != nil:
		return nil, err
	case !found:
		return nil, database.ContextError(database.ErrNotFound)
	}
	return value, nil
}

// Count returns the number of keys that start with prefix, linearizably.
func (c *client) Count(ctx context.Context, prefix string) (int64, error) {
	if c.closed.Load() {
		return 0, database.ContextError(database.ErrClosed)
	}
	answer, err := c.remote.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return 0, c.sort(err)
	}
	return answer.Count, nil
}

// IsLeader reports whether the member behind the first endpoint leads now.
func (c *client) IsLeader(ctx context.Context) (bool, error) {
	status, err := c.status(ctx)
	if err != nil {
		return false, err
	}
	return status.Leader != 0 && status.Leader == status.Header.GetMemberId(), nil
}

// Version returns the version of the server behind the first endpoint.
func (c *client) Version(ctx context.Context) (string, error) {
	status, err := c.status(ctx)
	if err != nil {
		return "", err
	}
	return status.Version, nil
}

// status asks the first endpoint over a connection of its own, because the
// client's balances over all of them.
func (c *client) status(ctx context.Context) (*clientv3.StatusResponse, error) {
	if c.closed.Load() {
		return nil, database.ContextError(database.ErrClosed)
	}
	status, err := c.remote.Status(ctx, c.endpoint)
	if err != nil {
		return nil, c.sort(err)
	}
	return status, nil
}

// Close ends the connection. A second Close returns [database.ErrClosed].
func (c *client) Close() error {
	if !c.closed.CompareAndSwap(false, true) {
		return database.ContextError(database.ErrClosed)
	}
	c.bounds.close()
	if err := c.remote.Close(); err != nil {
		return sortError(err)
	}
	return nil
}

// end ends a call within its bound and sorts its error. A call that passed the
// bound looks as if it had been canceled.
func (c *client) end(b *bound, err error) error {
	c.bounds.done(b)
	switch {
	case err == nil:
		return nil
	case status.Code(err) == codes.Canceled && b.passed():
		return &database.Error{
			Kind: database.KindDeadline, MayBeApplied: true,
			Err: fmt.Errorf("%w: no answer within %v", context.DeadlineExceeded, c.bounds.timeout),
		}
	default:
		return c.sort(err)
	}
}

// sort sorts an error of a call; one that Close cut off is closed, not canceled.
func (c *client) sort(err error) error {
	sorted := sortError(err)
	if sorted.Kind == database.KindCanceled && c.closed.Load() {
		return &database.Error{Kind: database.KindClosed, MayBeApplied: true, Err: err}
	}
	return sorted
}
