package workload

import (
	"context"
	"errors"

	"github.com/dbtester/dbtester/load"
)

// A client sends the requests of one load client, one at a time, from memory of
// its own.
type client struct {
	_     [64]byte // no cache line is shared with another client
	w     *Workload
	phase phase
	kv    KV
	open  Opener
	key   key
	value []byte // nil until the first write, and after a write that failed
	got   []byte // where the next read puts the value; nil as value is
	_     [64]byte
}

func (w *Workload) newClient(p phase, prefix string, kv KV, open Opener) *client {
	return &client{w: w, phase: p, kv: kv, open: open, key: newKey(prefix, w.spec.KeySize)}
}

// operation returns how the client sends a request.
func (c *client) operation(o Operation) load.Op {
	switch o {
	case Read:
		return c.read
	case ReadOneshot:
		return c.readOneshot
	case Mixed:
		return c.mixed
	default: // a spec was checked
		return c.write
	}
}

func (c *client) mixed(ctx context.Context, seq int64) error {
	if c.w.reads.heads(c.phase.request(seq)) {
		return c.read(ctx, seq)
	}
	return c.write(ctx, seq)
}

func (c *client) write(ctx context.Context, seq int64) error {
	r := c.phase.request(seq)
	number := c.w.numbers.of(r)
	if c.value == nil {
		c.value = newLine(c.w.values.size)
	}
	c.w.values.fill(c.value, r, number)
	err := c.kv.Put(ctx, c.key.string(number), c.value)
	if err != nil {
		// The store's client may still be sending what it was given.
		c.value = nil
		c.key.renew()
	}
	return err
}

func (c *client) read(ctx context.Context, seq int64) error { return c.readFrom(ctx, c.kv, seq) }

// readOneshot reads over a connection of its own.
func (c *client) readOneshot(ctx context.Context, seq int64) error {
	kv, closeKV, err := c.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(c.readFrom(ctx, kv, seq), closeKV())
}

func (c *client) readFrom(ctx context.Context, kv KV, seq int64) error {
	number := c.w.numbers.of(c.phase.request(seq))
	got, err := kv.Get(ctx, c.key.string(number), c.got[:0])
	c.got = got
	if err != nil {
		c.got = nil
		c.key.renew()
		return err
	}
	if flaw := c.w.values.flaw(got, number); flaw != nil {
		c.w.wrong.Add(1)
		c.w.firstFlaw.CompareAndSwap(nil, flaw)
		return flaw
	}
	return nil
}

// newLine returns n bytes on cache lines of their own.
func newLine(n int) []byte {
	const line = 64
	return make([]byte, n, (n+line-1)/line*line)
}
