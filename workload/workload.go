// Package workload turns an operation, keys, values and a seed into load.Op
// closures, one per client. What a request does, its key and its value are
// functions of the seed and the request's sequence number alone, so every store
// is given the same.
//
// It knows no store: it needs a [KV] and, for fresh connections, an [Opener].
//
// # Operations
//
// Each operation is a method of client that sends one request; operation tells
// which:
//
//	write         write        puts the request's key
//	read          read         gets it and checks the value
//	read-oneshot  readOneshot  the same over a connection of its own
//	mixed         mixed        read or write, by a hash of the number
//
// An operation that asks more of a store than a [KV] can do (watch, lease, lock,
// compare-and-swap) is one more such method and one more line. It finds what it
// needs, a small interface declared here, by type assertion on the client's KV,
// and an operation is one request from being sent to being known to have taken
// effect: for a watch until the event has come, for a lock until it is held and
// let go. Values tell which request wrote them, so the order of events, or a
// chain of swaps, can be checked from the values alone.
//
// # Values
//
// A value tells the run, the key's number and the request that wrote it, and all
// its other bytes follow from these. A read makes the value again and compares
// every byte, so it proves that what came back was written to that very key.
// The layout of the first bytes, all of which look random:
//
//	 0 to 7   sequence number of the request, encrypted
//	 8 to 15  checksum of run, key number and sequence number
//	16 to 23  key number, xored with what random bytes were there
//	24 to 31  run, the same
//
// What a shorter value has no room for is left out: below 32 bytes, run and key
// number are known by the checksum only; below 16 the checksum is cut, and n
// bytes of it let one wrong value in 256ⁿ pass; with 8 bytes or fewer a read
// proves no more than the value's length.
package workload

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/dbtester/dbtester/load"
)

// A KV is one connection to a store.
//
// A call that returns without an error has let go of its key and value: their
// memory is used again for the next request. After a call that failed neither is
// ever changed, because a request that was given up may still be on its way out.
type KV interface {
	Put(ctx context.Context, key string, value []byte) error
	// Get appends the value to into, which is memory like the others.
	Get(ctx context.Context, key string, into []byte) ([]byte, error)
}

// An Opener returns a fresh connection and how to close it.
type Opener func(ctx context.Context) (kv KV, closeKV func() error, err error)

// Operation is what a request does.
type Operation string

const (
	// Write puts a key.
	Write Operation = "write"
	// Read gets a key that the preparation has put.
	Read Operation = "read"
	// ReadOneshot does so over a fresh connection for each request.
	ReadOneshot Operation = "read-oneshot"
	// Mixed reads and writes keys that the preparation has put.
	Mixed Operation = "mixed"
)

// Prefixes of the keys: what one load writes can be counted by its prefix.
const (
	// KeyPrefix begins every key of a measured request.
	KeyPrefix = "k"
	// warmUpPrefix begins the keys of requests before the measured window,
	// unless these use the keys that the preparation has put.
	warmUpPrefix = "w"
)

// A Spec describes the requests of one load.
type Spec struct {
	Operation Operation
	// Reads is the share of a mixed workload's requests that read, above 0 and
	// below 1. Other operations ignore it.
	Reads    float64
	KeySize  int // bytes; at least the prefix and the digits of the largest key number
	KeyOrder Order
	// KeySpace is the number of different keys, all of which the preparation
	// puts. It is 0 for the order same, and with sequential keys where every
	// request writes a new one.
	KeySpace int64
	// KeySkew is the exponent of zipfian keys, above 0. Other orders ignore it.
	KeySkew   float64
	ValueSize int // bytes; 0 is an empty value
	// ValueCompressible is the share of a value's bytes that are zero, 0 to 1.
	// They stand together at the end.
	ValueCompressible float64
	Seed              int64
}

// A Workload makes the requests of one load. It is safe for concurrent use.
type Workload struct {
	spec      Spec
	prepared  int64 // keys that the preparation puts
	numbers   numbers
	reads     coin
	values    values
	wrong     atomic.Int64
	firstFlaw atomic.Pointer[wrongValue]
}

// New checks the spec.
func New(s Spec) (*Workload, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return &Workload{
		spec:     s,
		prepared: s.preparedKeys(),
		numbers:  newNumbers(s),
		reads:    newCoin(newStream(s.Seed, forReads), s.Reads),
		values:   newValues(s.Seed, s.ValueSize, s.ValueCompressible),
	}, nil
}

// Op returns the requests of one client on the connection kv. Oneshot reads
// use open instead. An op allocates nothing unless its request fails.
func (w *Workload) Op(kv KV, open Opener) load.Op {
	return w.newClient(measured, KeyPrefix, kv, open).operation(w.spec.Operation)
}

// WarmUpOp is Op for requests before the measured window. Its writes have
// values of their own, and keys of their own unless there are prepared ones.
func (w *Workload) WarmUpOp(kv KV, open Opener) load.Op {
	prefix := warmUpPrefix
	if w.prepared > 0 {
		prefix = KeyPrefix
	}
	return w.newClient(warmUp, prefix, kv, open).operation(w.spec.Operation)
}

// PrepareRequests returns how many requests of [Workload.PrepareOp] it takes to
// put all the keys that must be there before the first request: none where each
// write has a new key.
func (w *Workload) PrepareRequests() int64 { return w.prepared }

// PrepareOp returns one client's share of the preparation: request number n puts
// key n. Many clients may share the [Workload.PrepareRequests] requests, all of
// which must succeed; a key may be put again.
func (w *Workload) PrepareOp(kv KV, open Opener) load.Op {
	return w.newClient(preparation, KeyPrefix, kv, open).operation(Write)
}

// Prepare is the whole preparation by a single client.
func (w *Workload) Prepare(ctx context.Context, kv KV) error {
	put := w.PrepareOp(kv, nil)
	for n := range w.prepared {
		if err := put(ctx, n); err != nil {
			return fmt.Errorf("put key %d of the %d that must be there first: %w", n+1, w.prepared, err)
		}
	}
	return nil
}

// DistinctKeys returns how many different keys there are once the preparation
// and n writes with consecutive sequence numbers are done.
func (w *Workload) DistinctKeys(n int64) int64 {
	switch {
	case w.prepared > 0:
		return w.prepared
	case w.spec.KeyOrder == Same:
		return min(n, 1)
	}
	return n
}

// WrongValues returns how many reads of any phase have returned a value that was
// not written to their key, and what was wrong with the first of them; nil if
// there was none.
func (w *Workload) WrongValues() (count int64, first error) {
	if flaw := w.firstFlaw.Load(); flaw != nil {
		first = flaw
	}
	return w.wrong.Load(), first
}
