package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/go-zookeeper/zk"
)

// parentsAtOnce is how many parents one transaction makes; it must fit the
// smallest buffer.
const parentsAtOnce = 32

// parents makes the znodes that keys hang below: once per driver, by the first
// client, while the others wait.
type parents struct {
	turn chan struct{} // holds one token: whoever has it may look at made
	made bool
	// reached is the first shard that no transaction has made yet: a client
	// that was too slow leaves the rest to the next.
	reached atomic.Uint32
}

func newParents() *parents {
	p := &parents{turn: make(chan struct{}, 1)}
	p.turn <- struct{}{}
	return p
}

// ensure returns once the parents are there.
func (p *parents) ensure(ctx context.Context, c *client) error {
	select {
	case <-p.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { p.turn <- struct{}{} }()
	if p.made {
		return nil
	}
	_, err := call(ctx, c, func(context.Context) (struct{}, error) { return struct{}{}, p.createFrom(c, p.reached.Load()) })
	p.made = err == nil
	return err
}

// create makes those parents that are missing.
func (p *parents) create(c *client) error { return p.createFrom(c, 0) }

func (p *parents) createFrom(c *client, first uint32) error {
	if err := ignoreExisting(c.conn.Create(root, nil, zk.FlagPersistent, c.acl)); err != nil {
		return fmt.Errorf("create %s: %w", root, err)
	}
	for ; first < shards; first += parentsAtOnce {
		if err := createShards(c, first, first+parentsAtOnce); err != nil {
			return fmt.Errorf("create parents below %s: %w", root, err)
		}
		p.reached.Store(first + parentsAtOnce)
	}
	return nil
}

// createShards makes the parents first to end-1 in one transaction, or one by
// one if some are there.
func createShards(c *client, first, end uint32) error {
	var together []any
	for shard := first; shard < end; shard++ {
		together = append(together, &zk.CreateRequest{Path: shardPath(shard), Data: []byte{}, Acl: c.acl})
	}
	_, err := c.conn.Multi(together...)
	if !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	for shard := first; shard < end; shard++ {
		if err := ignoreExisting(c.conn.Create(shardPath(shard), []byte{}, zk.FlagPersistent, c.acl)); err != nil {
			return err
		}
	}
	return nil
}

func ignoreExisting(_ string, err error) error {
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}
