package memory

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dbtester/dbtester/database"
)

// client is a door to the driver's store.
type client struct {
	driver   *driver
	endpoint string
	timeout  time.Duration
	closed   atomic.Bool
}

var (
	_ database.Client       = (*client)(nil)
	_ database.Counter      = (*client)(nil)
	_ database.LeaderProber = (*client)(nil)
	_ database.Versioner    = (*client)(nil)
)

// Put writes a copy of the value; the caller may use its own again. It allocates
// nothing if the key is there and its value was as long.
func (c *client) Put(ctx context.Context, key string, value []byte) error {
	if err := c.enter(ctx); err != nil {
		return err
	}
	c.driver.store.put(key, value)
	return nil
}

// Get appends the value to into.
func (c *client) Get(ctx context.Context, key string, into []byte) ([]byte, error) {
	if err := c.enter(ctx); err != nil {
		return nil, err
	}
	value, ok := c.driver.store.get(key, into)
	if !ok {
		return nil, database.ContextError(database.ErrNotFound)
	}
	return value, nil
}

// Count returns the number of keys that start with prefix.
func (c *client) Count(ctx context.Context, prefix string) (int64, error) {
	if err := c.enter(ctx); err != nil {
		return 0, err
	}
	return c.driver.store.count(prefix), nil
}

// IsLeader reports whether the client's first endpoint was the first of all.
func (c *client) IsLeader(ctx context.Context) (bool, error) {
	if err := c.enter(ctx); err != nil {
		return false, err
	}
	return c.driver.leader.is(c.endpoint), nil
}

// Version returns the version of this store.
func (c *client) Version(ctx context.Context) (string, error) {
	if err := c.enter(ctx); err != nil {
		return "", err
	}
	return version, nil
}

// Close closes this client; the store and its other clients stay.
func (c *client) Close() error {
	if !c.closed.CompareAndSwap(false, true) {
		return database.ContextError(database.ErrClosed)
	}
	return nil
}

// enter refuses a call that cannot be made and waits as long as one takes.
func (c *client) enter(ctx context.Context) error {
	if c.closed.Load() {
		return database.ContextError(database.ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return database.ContextError(err)
	}
	if c.driver.latency == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	wait := time.NewTimer(c.driver.latency)
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return database.ContextError(ctx.Err())
	case <-wait.C:
		return nil
	}
}

// A leader is an endpoint, elected once.
type leader struct {
	once     sync.Once
	endpoint atomic.Pointer[string]
}

func (l *leader) elect(endpoint string) {
	l.once.Do(func() { l.endpoint.Store(&endpoint) })
}

func (l *leader) is(endpoint string) bool {
	elected := l.endpoint.Load()
	return elected != nil && *elected == endpoint
}
