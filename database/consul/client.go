package consul

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/dbtester/dbtester/database"
)

// An agent is one endpoint.
type agent struct {
	endpoint string
	api      *api.Client
}

// client is a pool of connections to its agents, mostly one.
type client struct {
	agents  []agent
	http    *http.Client
	next    atomic.Uint64 // whose turn it is
	timeout time.Duration // of every call
	reads   string        // what the guarantee says
	closed  atomic.Bool
}

var (
	_ database.Client       = (*client)(nil)
	_ database.Counter      = (*client)(nil)
	_ database.LeaderProber = (*client)(nil)
	_ database.Versioner    = (*client)(nil)
)

// Put writes the value. A key that a URL's path cannot hold unchanged, and a
// value above 512 KiB, is refused with [database.ErrRefused].
func (c *client) Put(ctx context.Context, key string, value []byte) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if len(value) > maxValueBytes {
		return &database.Error{Kind: kindTooLarge, Err: fmt.Errorf(
			"%w: value of %d bytes, want at most %d", database.ErrRefused, len(value), maxValueBytes)}
	}
	ctx, cancel, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	_, err = c.agent().KV().Put(&api.KVPair{Key: key, Value: value}, new(api.WriteOptions).WithContext(ctx))
	return c.end(ctx, err)
}

// Get reads the value with the target's consistency and appends it to into.
func (c *client) Get(ctx context.Context, key string, into []byte) ([]byte, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	ctx, cancel, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	pair, _, err := c.agent().KV().Get(key, c.query().WithContext(ctx))
	switch {
	case err != nil:
		return nil, c.end(ctx, err)
	case pair == nil:
		return nil, database.ContextError(database.ErrNotFound)
	}
	return append(into, pair.Value...), nil
}

// query returns the options of a read with the target's consistency.
func (c *client) query() *api.QueryOptions {
	return &api.QueryOptions{RequireConsistent: c.reads == linearizable, AllowStale: c.reads == stale}
}

// agent returns the agents in turn.
func (c *client) agent() *api.Client {
	if len(c.agents) == 1 {
		return c.agents[0].api
	}
	return c.agents[(c.next.Add(1)-1)%uint64(len(c.agents))].api
}

// begin bounds a call, or refuses it.
func (c *client) begin(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if c.closed.Load() {
		return nil, nil, database.ContextError(database.ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, sortError(err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	return ctx, cancel, nil
}

// end sorts a call's error. The library tells a deadline that passes while it
// reads the answer only in words, so the context decides.
func (*client) end(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	return sortError(err)
}

// Close closes the connections. A second Close returns [database.ErrClosed].
func (c *client) Close() error {
	if !c.closed.CompareAndSwap(false, true) {
		return database.ContextError(database.ErrClosed)
	}
	c.http.CloseIdleConnections()
	return nil
}

// checkKey refuses keys that would be written as others: the key is the path of
// a URL, which the server cleans.
func checkKey(key string) error {
	reason := ""
	switch {
	case key == "":
		reason = "an empty key"
	case strings.HasPrefix(key, "/"):
		reason = "a key that begins with a slash"
	case path.Clean("/"+key) != "/"+strings.TrimSuffix(key, "/"):
		reason = "a key with empty or dotted path elements"
	default:
		return nil
	}
	return &database.Error{Kind: "invalid key", Err: fmt.Errorf("%w: %s", database.ErrRefused, reason)}
}
