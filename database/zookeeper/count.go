package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/dbtester/dbtester/database"
)

// listTimeout is the least that listing one parent may take: after a run a server
// may be busy with its garbage or a snapshot.
const listTimeout = 30 * time.Second

// Count returns the number of keys that start with prefix, after a sync. It lists
// the parents one after the other over a session of its own whose buffers take a
// list; without a prefix it only asks each parent how many children it has.
func (c *client) Count(ctx context.Context, prefix string) (int64, error) {
	if c.closed.Load() {
		return 0, database.ContextError(database.ErrClosed)
	}
	wide, err := newSession(c.servers, 0)
	if err != nil {
		return 0, sortError(err)
	}
	defer wide.close()
	if err := wide.wait(ctx); err != nil {
		return 0, sortError(err)
	}
	counter := &client{session: wide, driver: c.driver, timeout: max(c.timeout, listTimeout)}
	if _, err := call(ctx, counter, func(context.Context) (string, error) { return wide.conn.Sync(root) }); err != nil {
		return 0, err
	}
	var total int64
	for shard := range uint32(shards) {
		n, err := call(ctx, counter, func(context.Context) (int64, error) { return counter.countShard(shard, prefix) })
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

func (c *client) countShard(shard uint32, prefix string) (int64, error) {
	path := shardPath(shard)
	if prefix == "" {
		_, stat, err := c.conn.Exists(path)
		if err != nil {
			return 0, fmt.Errorf("stat %s: %w", path, err)
		}
		return int64(stat.NumChildren), nil
	}
	names, _, err := c.conn.Children(path)
	if errors.Is(err, zk.ErrNoNode) {
		return 0, nil
	} else if err != nil {
		return 0, fmt.Errorf("list %s: %w", path, err)
	}
	var n int64
	for _, name := range names {
		key, err := unescape(name)
		if err != nil {
			return 0, err
		}
		if strings.HasPrefix(key, prefix) {
			n++
		}
	}
	return n, nil
}
