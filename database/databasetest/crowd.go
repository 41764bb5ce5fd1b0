package databasetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dbtester/dbtester/database"
)

// A Crowd puts load on one connection per client, a third of them from one
// address to each of three servers.
type Crowd struct {
	Driver      database.Driver
	Cluster     *Cluster // of which no other test has written keys
	Consistency string   // of the reads
	Clients     int
	Requests    int64 // writes, of 1 KiB; a quarter of them is read back
	MemoryLimit int   // of this process's resident memory, in bytes
}

// Run opens the clients, sends the requests and counts the keys. No request may
// fail, and no connection may be dialed anew.
func (c Crowd) Run(t *testing.T) {
	t.Helper()
	before := residentBytes(t)
	clients := c.open(t)
	sockets := connections(t, c.Cluster.Endpoints)
	if len(sockets) != c.Clients {
		t.Errorf("got %d connections, want %d", len(sockets), c.Clients)
	}
	c.load(t, clients)
	if after := connections(t, c.Cluster.Endpoints); !slices.Equal(sockets, after) {
		t.Errorf("connections were dialed anew: %d before the load, %d after", len(sockets), len(after))
	}
	resident := residentBytes(t)
	t.Logf("resident memory: %d MB before, %d MB with %d clients after load", before/1e6, resident/1e6, c.Clients)
	if resident > c.MemoryLimit {
		t.Errorf("resident memory is %d MB, want at most %d", resident/1e6, c.MemoryLimit/1e6)
	}
	counter, ok := clients[0].(database.Counter)
	if !ok {
		return
	}
	for _, prefix := range []string{"k", ""} {
		began := time.Now()
		wantCount(t, counter, prefix, c.Requests)
		t.Logf("counted prefix %q in %v", prefix, time.Since(began).Round(time.Millisecond))
	}
}

// load sends the requests, each client one at a time.
func (c Crowd) load(t *testing.T, clients []database.Client) {
	t.Helper()
	var failed, next atomic.Int64
	value := make([]byte, 1024)
	began := time.Now()
	each(clients, func(client database.Client) {
		for n := next.Add(1); n <= c.Requests; n = next.Add(1) {
			key := fmt.Sprintf("k%0255d", n)
			err := client.Put(t.Context(), key, value)
			if n%4 == 0 && err == nil {
				_, err = client.Get(t.Context(), key, nil)
			}
			if err != nil && failed.Add(1) < 10 {
				t.Errorf("request %d: %v", n, err)
			}
		}
	})
	t.Logf("%d writes and %d reads over %d clients in %v", c.Requests, c.Requests/4, len(clients), time.Since(began).Round(time.Millisecond))
}

// open opens the clients, 32 at a time, spread over the endpoints.
func (c Crowd) open(t *testing.T) []database.Client {
	t.Helper()
	clients, errs := make([]database.Client, c.Clients), make([]error, c.Clients)
	var wg sync.WaitGroup
	turns := make(chan struct{}, 32)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	endpoints := c.Cluster.Endpoints
	for i := range clients {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			clients[i], errs[i] = c.Driver.Open(ctx, database.Target{
				Endpoints: endpoints[i%len(endpoints):][:1], Consistency: c.Consistency, Timeout: 30 * time.Second,
			})
		})
	}
	wg.Wait()
	t.Cleanup(func() {
		each(clients, func(client database.Client) {
			if client != nil {
				_ = client.Close()
			}
		})
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return clients
}

// each calls fn for all clients at once.
func each(all []database.Client, fn func(database.Client)) {
	var wg sync.WaitGroup
	for _, c := range all {
		wg.Go(func() { fn(c) })
	}
	wg.Wait()
}
