package databasetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/dbtester/dbtester/database"
)

// A Kill ends one member in the middle of writes over all of them.
type Kill struct {
	Driver  database.Driver
	Cluster *Cluster
	Victim  int // index of the member
	// Connections to each member, which its eight writers share: 1 to 8.
	Connections int
	// Consistency of a read that sees every acknowledged write, also over the
	// member that has just come back.
	Consistency string
}

// writersEach is how many goroutines write over each member.
const writersEach = 8

// Run kills the member and starts it again. Nothing may hang, every error must
// be sorted, writes must go on, and every acknowledged key must be there once
// the member is back.
func (k Kill) Run(t *testing.T) {
	t.Helper()
	const timeout = 2 * time.Second
	w := newWriters(timeout)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var wg sync.WaitGroup
	for _, endpoint := range k.Cluster.Endpoints {
		clients := make([]database.Client, k.Connections)
		for n := range clients {
			clients[n] = Open(t, k.Driver, database.Target{Endpoints: []string{endpoint}, Consistency: k.Consistency, Timeout: timeout})
		}
		for n := range writersEach {
			wg.Go(func() { w.run(ctx, t, clients[n%len(clients)]) })
		}
	}
	w.waitWrites(t, "before the kill", 500)
	k.Cluster.Kill(t, k.Victim)
	waitFor(t, "errors after the kill", func() bool { return w.failed.Load() > 0 })
	w.waitWrites(t, "after the kill", 200)
	k.Cluster.Start(t, k.Victim)
	k.Cluster.WaitReady(t, k.Victim)
	w.waitWrites(t, "after the restart", 200)
	stop()
	wg.Wait()
	back := Open(t, k.Driver, database.Target{Endpoints: k.Cluster.Endpoints[k.Victim:][:1], Consistency: k.Consistency})
	put(t, back, w.prefix+"last", []byte("over the member that is back"))
	w.attempted.Add(1)
	w.acknowledged.Add(1)
	w.wantCounted(t, back)
}

// Leader returns the index of the member that leads.
func (c *Cluster) Leader(t *testing.T) int {
	t.Helper()
	for n, endpoint := range c.Endpoints {
		leads, err := isLeader(t, Open(t, c.driver, database.Target{Endpoints: []string{endpoint}, Consistency: "linearizable"}))
		if err != nil {
			t.Fatalf("%s: %v", endpoint, err)
		}
		if leads {
			return n
		}
	}
	t.Fatal("no member leads")
	return 0
}

// Open opens a client that is closed when the test ends.
func Open(tb testing.TB, d database.Driver, target database.Target) database.Client {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), openTimeout)
	defer cancel()
	c, err := d.Open(ctx, target)
	if err != nil {
		tb.Fatalf("open %v: %v", target.Endpoints, err)
	}
	tb.Cleanup(func() {
		if err := c.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return c
}
