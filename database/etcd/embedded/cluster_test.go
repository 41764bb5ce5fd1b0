package embedded_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/databasetest"
	"github.com/dbtester/dbtester/database/etcd"
)

func newDriver(t *testing.T, options string) database.Driver {
	t.Helper()
	d, err := etcd.New(json.RawMessage(options))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestConformance(t *testing.T) {
	for _, i := range installations(t) {
		t.Run(i.Name, func(t *testing.T) {
			d := newDriver(t, `{"flags": {"max-txn-ops": 256, "pre-vote": true}}`)
			cluster := databasetest.StartCluster(t, d, i, "127.0.0.7", "127.0.0.8", "127.0.0.9")
			databasetest.Run(t, databasetest.Config{Driver: d, Endpoints: cluster.Endpoints})
			t.Run("server says its version", func(t *testing.T) { wantVersion(t, d, cluster, i.Version) })
			t.Run("stale reads", func(t *testing.T) { staleReads(t, d, cluster) })
			t.Run("kill a member", func(t *testing.T) { killMember(t, d, cluster) })
			t.Run("no quorum", func(t *testing.T) { loseQuorum(t, d, cluster) })
			t.Run("stop by signal", func(t *testing.T) {
				for n := range cluster.Endpoints {
					cluster.Stop(t, n, 15*time.Second)
				}
			})
		})
	}
}

// TestIPv6 runs one member whose address needs brackets.
func TestIPv6(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "[::1]:0")
	if err != nil {
		t.Skipf("this machine has no IPv6 loopback: %v", err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	d := newDriver(t, ``)
	cluster := databasetest.StartCluster(t, d, embeddedInstallation(t), "::1")
	c := open(t, d, database.Target{Endpoints: cluster.Endpoints, Consistency: "linearizable"})
	if err := c.Put(t.Context(), "k1", []byte("value")); err != nil {
		t.Error(err)
	}
}

func open(tb testing.TB, d database.Driver, target database.Target) database.Client {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 30*time.Second)
	defer cancel()
	c, err := d.Open(ctx, target)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return c
}

func wantVersion(t *testing.T, d database.Driver, cluster *databasetest.Cluster, want string) {
	t.Helper()
	c := open(t, d, database.Target{Endpoints: cluster.Endpoints, Consistency: "linearizable"})
	got, err := c.(database.Versioner).Version(t.Context())
	if err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// staleReads reads from one member what was written over another: at once or a
// little later, but never something else.
func staleReads(t *testing.T, d database.Driver, cluster *databasetest.Cluster) {
	t.Helper()
	writer := open(t, d, database.Target{Endpoints: cluster.Endpoints[:1], Consistency: "serializable"})
	reader := open(t, d, database.Target{Endpoints: cluster.Endpoints[1:2], Consistency: "stale"})
	if err := writer.Put(t.Context(), "k1", []byte("value")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		got, err := reader.Get(ctx, "k1")
		if err == nil && string(got) == "value" {
			return
		}
		if err == nil || ctx.Err() != nil {
			t.Fatalf("got %q, %v, want %q in the end", got, err, "value")
		}
	}
}

// killMember ends one member in the middle of writes over all of them. Nothing
// may hang, every error must be sorted, and every acknowledged key must be there
// once the member is back.
func killMember(t *testing.T, d database.Driver, cluster *databasetest.Cluster) {
	t.Helper()
	const timeout = 2 * time.Second
	w := &writers{timeout: timeout, kinds: make(map[string]int)}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var wg sync.WaitGroup
	for _, endpoint := range cluster.Endpoints {
		c := open(t, d, database.Target{Endpoints: []string{endpoint}, Consistency: "linearizable", Timeout: timeout})
		for range 8 {
			wg.Go(func() { w.run(ctx, t, c) })
		}
	}
	waitFor(t, "writes before the kill", func() bool { return w.acknowledged.Load() > 500 })
	cluster.Kill(t, 0)
	waitFor(t, "errors after the kill", func() bool { return w.failed.Load() > 0 })
	before := w.acknowledged.Load()
	waitFor(t, "writes after the kill", func() bool { return w.acknowledged.Load() > before+200 })
	cluster.Start(t, 0)
	cluster.WaitReady(t, 0)
	c := open(t, d, database.Target{Endpoints: cluster.Endpoints[:1], Consistency: "linearizable"})
	if err := c.Put(t.Context(), "k2", []byte("after the restart")); err != nil {
		t.Errorf("write over the member that is back: %v", err)
	}
	stop()
	wg.Wait()
	keys, err := c.(database.Counter).Count(t.Context(), "k9")
	if acknowledged, attempted := w.acknowledged.Load(), w.attempted.Load(); err != nil || keys < acknowledged || keys > attempted {
		t.Errorf("got %d keys, %v, want between the %d acknowledged and the %d attempted", keys, err, acknowledged, attempted)
	}
	t.Logf("%d of %d writes acknowledged, errors by kind: %v", w.acknowledged.Load(), w.attempted.Load(), w.kinds)
}

// loseQuorum kills two of three: writes fail within their deadline and may have
// been applied, stale reads go on.
func loseQuorum(t *testing.T, d database.Driver, cluster *databasetest.Cluster) {
	t.Helper()
	const timeout = 500 * time.Millisecond
	target := database.Target{Endpoints: cluster.Endpoints[:1], Consistency: "stale", Timeout: timeout}
	c := open(t, d, target)
	if err := c.Put(t.Context(), "k3", []byte("value")); err != nil {
		t.Fatal(err)
	}
	cluster.Kill(t, 1)
	cluster.Kill(t, 2)
	start := time.Now()
	err := c.Put(t.Context(), "k3", []byte("lost or not"))
	if took := time.Since(start); took > timeout+time.Second {
		t.Errorf("put took %v, want %v or little more", took, timeout)
	}
	databasetest.WantSorted(t, err)
	if sorted, ok := err.(*database.Error); !ok || !sorted.MayBeApplied { //nolint:errorlint // the contract is the type itself
		t.Errorf("got %v, want an indeterminate error", err)
	}
	if got, err := c.Get(t.Context(), "k3"); err != nil || string(got) != "value" {
		t.Errorf("stale read without quorum: got %q, %v, want %q", got, err, "value")
	}
	for n := 1; n <= 2; n++ {
		cluster.Start(t, n)
	}
	for n := 1; n <= 2; n++ {
		cluster.WaitReady(t, n)
	}
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("no %s in 30 s", what)
		}
	}
}

// writers write a key each time, count what becomes of it, and check each error.
type writers struct {
	timeout                         time.Duration
	attempted, acknowledged, failed atomic.Int64

	mu    sync.Mutex
	kinds map[string]int
}

func (w *writers) run(ctx context.Context, t *testing.T, c database.Client) {
	t.Helper()
	for ctx.Err() == nil {
		key := fmt.Sprintf("k9%010d", w.attempted.Add(1))
		start := time.Now()
		// The end of the test must not look like an error of the store.
		err := c.Put(context.WithoutCancel(ctx), key, []byte("value"))
		if took := time.Since(start); took > w.timeout+time.Second {
			t.Errorf("put took %v, want %v or little more", took, w.timeout)
		}
		if err == nil {
			w.acknowledged.Add(1)
			continue
		}
		databasetest.WantSorted(t, err)
		w.count(err)
		w.failed.Add(1)
	}
}

func (w *writers) count(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if sorted, ok := err.(*database.Error); ok { //nolint:errorlint // the contract is the type itself
		w.kinds[sorted.Kind]++
	}
}
