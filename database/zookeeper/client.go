package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/dbtester/dbtester/database"
)

// readyInterval is the pause between two tries to make the parents.
const readyInterval = 50 * time.Millisecond

// client is one session. Reads go to its server, after a sync if synced is set.
type client struct {
	*session
	driver  *driver
	servers []string
	timeout time.Duration // of every call
	synced  bool
	acl     []zk.ACL
	closed  atomic.Bool
	// overwrites is whether the last put found its key: then set is tried
	// before create, or else every put of the same key would cost two rounds.
	overwrites atomic.Bool
}

var (
	_ database.Client       = (*client)(nil)
	_ database.Counter      = (*client)(nil)
	_ database.LeaderProber = (*client)(nil)
	_ database.Versioner    = (*client)(nil)
)

// bufferBytes is the size of each of a connection's two buffers.
func bufferBytes(maxValue int) int { return maxValue + packetBytes }

// Open returns a client once it has a session, whose creation is a transaction
// that a quorum has acknowledged, and once the parents of all keys are there.
// The session is with the first endpoint that answers; the others are for when
// it is lost.
func (d *driver) Open(ctx context.Context, t database.Target) (database.Client, error) {
	guarantee, err := d.Guarantee(t.Consistency)
	if err != nil {
		return nil, err
	}
	if len(t.Endpoints) == 0 {
		return nil, errors.New("open zookeeper: no endpoints")
	}
	s, err := newSession(t.Endpoints, bufferBytes(d.options.MaxValueBytes))
	if err != nil {
		return nil, fmt.Errorf("open zookeeper: %w", err)
	}
	c := &client{
		session: s, driver: d, servers: t.Endpoints, timeout: t.RequestTimeout(),
		synced: guarantee.Reads == readsSynced, acl: zk.WorldACL(zk.PermAll),
	}
	if err := c.waitReady(ctx); err != nil {
		s.close()
		return nil, fmt.Errorf("open zookeeper at %s: %w", strings.Join(t.Endpoints, ", "), err)
	}
	return c, nil
}

// waitReady tries until ctx is done: a new ensemble takes some seconds to elect
// its leader.
func (c *client) waitReady(ctx context.Context) error {
	if err := c.wait(ctx); err != nil {
		return err
	}
	for {
		err := c.driver.parents.ensure(ctx, c)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no answer to a first write: %w", err)
		case <-time.After(readyInterval):
		}
	}
}

// Put creates the key's znode or sets its value. A value beyond
// options.max_value_bytes is refused with [database.ErrRefused].
func (c *client) Put(ctx context.Context, key string, value []byte) error {
	path, err := keyPath(key)
	if err != nil {
		return err
	}
	if limit := c.driver.options.MaxValueBytes; len(value) > limit {
		return &database.Error{Kind: "value too large", Err: fmt.Errorf(
			"%w: value of %d bytes, want at most %d; raise options.max_value_bytes", database.ErrRefused, len(value), limit)}
	}
	// A copy, because the library may encode it after the deadline has passed
	// and the caller has its memory back.
	data := append(make([]byte, 0, len(value)), value...)
	_, err = call(ctx, c, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, c.write(ctx, path, data)
	})
	return err
}

// write tries create or set, whichever the last put needed, and then the other.
// A try that the server has refused is not a transaction that changed anything.
func (c *client) write(ctx context.Context, path string, data []byte) error {
	for tries := 4; ; tries-- {
		err := c.writeOnce(path, data)
		switch {
		case tries == 1 || ctx.Err() != nil:
			return err
		case errors.Is(err, zk.ErrNodeExists):
			c.overwrites.Store(true)
		case errors.Is(err, errNotSet):
			c.overwrites.Store(false)
		case errors.Is(err, zk.ErrNoNode):
			// The data was wiped since the driver made the parents.
			if err := c.driver.parents.create(c); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// errNotSet says that there is no znode to set.
var errNotSet = errors.New("no znode to set")

func (c *client) writeOnce(path string, data []byte) error {
	if !c.overwrites.Load() {
		_, err := c.conn.Create(path, data, zk.FlagPersistent, c.acl)
		return err
	}
	_, err := c.conn.Set(path, data, -1)
	if errors.Is(err, zk.ErrNoNode) {
		return errNotSet
	}
	return err
}

// Get reads the key's value from the client's server, after a sync if the
// target's consistency asks for one, and appends it to into.
func (c *client) Get(ctx context.Context, key string, into []byte) ([]byte, error) {
	path, err := keyPath(key)
	if err != nil {
		return nil, err
	}
	value, err := call(ctx, c, func(ctx context.Context) ([]byte, error) {
		if c.synced {
			if _, err := c.conn.Sync(root); err != nil || ctx.Err() != nil {
				return nil, errors.Join(err, ctx.Err())
			}
		}
		value, _, err := c.conn.Get(path)
		if err != nil {
			return nil, err
		}
		return value, nil
	})
	if err != nil {
		return nil, err
	}
	return append(into, value...), nil
}

// Close ends the session and the connection. A second Close returns
// [database.ErrClosed].
func (c *client) Close() error {
	if !c.closed.CompareAndSwap(false, true) {
		return database.ContextError(database.ErrClosed)
	}
	c.close()
	return nil
}
