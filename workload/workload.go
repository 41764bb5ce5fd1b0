// Package workload turns an operation, key and value sizes and a seed into
// load.Op closures, one per client. Keys and values are functions of the seed
// and the request's sequence number alone, so every store is given the same.
//
// It knows no store: it needs a [KV] and, for fresh connections, an [Opener].
package workload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/dbtester/dbtester/load"
)

// A KV is one connection to a store.
type KV interface {
	Put(ctx context.Context, key string, value []byte) error
	Get(ctx context.Context, key string) ([]byte, error)
}

// An Opener returns a fresh connection and how to close it.
type Opener func(ctx context.Context) (kv KV, closeKV func() error, err error)

// Operation is what a request does.
type Operation string

const (
	// Write puts a key.
	Write Operation = "write"
	// Read gets the one key that Prepare has put.
	Read Operation = "read"
	// ReadOneshot does so over a fresh connection for each request.
	ReadOneshot Operation = "read-oneshot"
)

// Order is how the keys of writes follow each other.
type Order string

const (
	// Sequential keys are the requests' sequence numbers.
	Sequential Order = "sequential"
	// Same is one key for all requests.
	Same Order = "same"
)

// Prefixes of the keys: what one load writes can be counted by its prefix.
const (
	// KeyPrefix begins every key of a measured request.
	KeyPrefix = "k"
	// warmUpPrefix begins the keys of requests before the measured window.
	warmUpPrefix = "w"
)

// A Spec describes the requests of one load.
type Spec struct {
	Operation Operation
	KeySize   int // bytes; at least the prefix and the digits of the largest sequence number
	KeyOrder  Order
	ValueSize int // bytes; 0 is an empty value
	Seed      int64
}

// A Workload makes the requests of one load. It is safe for concurrent use.
type Workload struct {
	spec   Spec
	values values
}

// New checks the spec.
func New(s Spec) (*Workload, error) {
	switch {
	case s.Operation != Write && s.Operation != Read && s.Operation != ReadOneshot:
		return nil, fmt.Errorf("unknown operation %q; want %s, %s or %s", s.Operation, Write, Read, ReadOneshot)
	case s.KeyOrder != Sequential && s.KeyOrder != Same:
		return nil, fmt.Errorf("unknown key order %q; want %s or %s", s.KeyOrder, Sequential, Same)
	case s.KeySize < len(KeyPrefix)+1:
		return nil, fmt.Errorf("key size %d; want at least %d", s.KeySize, len(KeyPrefix)+1)
	case s.ValueSize < 0:
		return nil, fmt.Errorf("value size %d; want 0 or more", s.ValueSize)
	}
	return &Workload{spec: s, values: newValues(s.Seed, s.ValueSize)}, nil
}

// Prepare puts the key that reads get. Writes need no preparation.
func (w *Workload) Prepare(ctx context.Context, kv KV) error {
	if w.spec.Operation == Write {
		return nil
	}
	if err := kv.Put(ctx, w.key(KeyPrefix, 0), w.values.at(0)); err != nil {
		return fmt.Errorf("put the key to read: %w", err)
	}
	return nil
}

// Op returns the requests of one client on the connection kv. Oneshot reads
// use open instead.
func (w *Workload) Op(kv KV, open Opener) load.Op { return w.op(KeyPrefix, kv, open) }

// WarmUpOp is Op with keys of their own, which do not count.
func (w *Workload) WarmUpOp(kv KV, open Opener) load.Op { return w.op(warmUpPrefix, kv, open) }

func (w *Workload) op(prefix string, kv KV, open Opener) load.Op {
	switch w.spec.Operation {
	case Write:
		return w.write(prefix, kv)
	case ReadOneshot:
		return w.readOneshot(open)
	default:
		return w.read(kv)
	}
}

func (w *Workload) write(prefix string, kv KV) load.Op {
	if w.spec.KeyOrder == Same {
		key := w.key(prefix, 0)
		return func(ctx context.Context, seq int64) error {
			return kv.Put(ctx, key, w.values.at(seq))
		}
	}
	next := newKeys(prefix, w.spec.KeySize)
	return func(ctx context.Context, seq int64) error {
		return kv.Put(ctx, next.key(seq), w.values.at(seq))
	}
}

func (w *Workload) read(kv KV) load.Op {
	key, want := w.key(KeyPrefix, 0), w.values.at(0)
	return func(ctx context.Context, _ int64) error {
		got, err := kv.Get(ctx, key)
		if err == nil && !bytes.Equal(got, want) {
			return errWrongValue
		}
		return err
	}
}

func (w *Workload) readOneshot(open Opener) load.Op {
	return func(ctx context.Context, seq int64) error {
		kv, closeKV, err := open(ctx)
		if err != nil {
			return err
		}
		return errors.Join(w.read(kv)(ctx, seq), closeKV())
	}
}

// DistinctKeys returns how many different keys n writes with consecutive
// sequence numbers make.
func (w *Workload) DistinctKeys(n int64) int64 {
	if w.spec.KeyOrder == Same {
		return min(n, 1)
	}
	return n
}

func (w *Workload) key(prefix string, seq int64) string {
	return newKeys(prefix, w.spec.KeySize).key(seq)
}

// wrongValue is a read that succeeded and returned what was never written.
type wrongValue struct{}

var errWrongValue error = wrongValue{}

func (wrongValue) Error() string     { return "the value read is not the one written" }
func (wrongValue) ErrorKind() string { return "wrong value" }

// keys makes the keys of one client. It is not safe for concurrent use.
type keys struct {
	buf    []byte
	prefix int
	digits int // of the last number
}

func newKeys(prefix string, size int) *keys {
	k := &keys{buf: bytes.Repeat([]byte{'0'}, size), prefix: len(prefix)}
	copy(k.buf, prefix)
	return k
}

// key returns the prefix and the sequence number in decimal, padded with zeros
// in between to the key's size.
func (k *keys) key(seq int64) string {
	var digits [20]byte
	number := strconv.AppendInt(digits[:0], seq, 10)
	room := k.buf[k.prefix:]
	if len(number) > len(room) {
		return string(append(k.buf[:k.prefix:k.prefix], number...))
	}
	pad := len(room) - len(number)
	// A smaller number than the last would leave old digits in front of it.
	for i := len(room) - k.digits; i < pad; i++ {
		room[i] = '0'
	}
	k.digits = len(number)
	copy(room[pad:], number)
	return string(k.buf)
}
