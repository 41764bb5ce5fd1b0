// Package databasetest is the conformance suite that every driver runs against
// a real cluster of its store: what [database.Client] promises, and the
// optional interfaces as far as the client has them. [StartCluster] starts such
// a cluster from nothing but the driver's own plan.
//
// It knows no particular store.
package databasetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dbtester/dbtester/database"
)

// openTimeout bounds the wait for a connection where nothing else is said.
const openTimeout = 30 * time.Second

// A Config says what [Run] runs against.
type Config struct {
	Driver database.Driver
	// Endpoints of a running cluster. It may hold data already: the suite
	// uses keys of its own.
	Endpoints []string
	// Consistency of the reads, one that lets a client read its own writes;
	// "linearizable" if empty.
	Consistency string
	// LargeValue is the size of the largest value tried, in bytes; 512 KiB,
	// what all stores accept, if 0.
	LargeValue int
	// OpenTimeout bounds the wait for a connection; 30 s if 0.
	OpenTimeout time.Duration
}

// suite is one run of the conformance suite.
type suite struct {
	Config
	start uint32 // makes this run's keys its own
	next  *atomic.Uint32
}

// Run runs the whole suite as subtests of t.
func Run(t *testing.T, c Config) {
	t.Helper()
	s := suite{Config: c, start: rand.Uint32(), next: new(atomic.Uint32)}
	if s.Consistency == "" {
		s.Consistency = "linearizable"
	}
	if s.LargeValue == 0 {
		s.LargeValue = 512 << 10
	}
	if s.OpenTimeout == 0 {
		s.OpenTimeout = openTimeout
	}
	t.Run("guarantee", s.guarantee)
	t.Run("values", s.values)
	t.Run("overwrite", s.overwrite)
	t.Run("caller's memory", s.callersMemory)
	t.Run("missing key", s.missingKey)
	t.Run("every endpoint", s.everyEndpoint)
	t.Run("canceled", s.canceled)
	t.Run("deadline", s.deadline)
	t.Run("closed", s.closed)
	t.Run("open", s.open)
	t.Run("concurrent", s.concurrent)
	t.Run("count", s.count)
	t.Run("leader", s.leader)
	t.Run("version", s.version)
}

// key returns a key no other test has: a k and digits, the alphabet of the
// workload's keys.
func (s suite) key() string {
	return fmt.Sprintf("k%010d%06d", s.start, s.next.Add(1))
}

// connect opens a client that is closed when the test ends.
func (s suite) connect(t *testing.T, endpoints ...string) database.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), s.OpenTimeout)
	defer cancel()
	client, err := s.Driver.Open(ctx, database.Target{Endpoints: endpoints, Consistency: s.Consistency})
	if err != nil {
		t.Fatalf("open %v: %v", endpoints, err)
	}
	t.Cleanup(func() { _ = client.Close() }) // a test may have closed it
	return client
}

// put fails the test unless the value is written.
func put(t *testing.T, c database.Client, key string, value []byte) {
	t.Helper()
	if err := c.Put(t.Context(), key, value); err != nil {
		t.Fatalf("put %s, %d bytes: %v", key, len(value), err)
	}
}

// get fails the test unless the key is there.
func get(t *testing.T, c database.Client, key string) []byte {
	t.Helper()
	value, err := c.Get(t.Context(), key, nil)
	if err != nil {
		t.Fatalf("get %s: %v", key, err)
	}
	return value
}
