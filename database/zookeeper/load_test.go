package zookeeper_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/databasetest"
)

func open(t *testing.T, d database.Driver, target database.Target) database.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, err := d.Open(ctx, target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return c
}

// TestThousandClients puts load on one connection per client, 334 of them from
// one address to each server.
func TestThousandClients(t *testing.T) {
	const clients, requests = 1002, 100_000
	for _, i := range installations(t) {
		t.Run(i.Name, func(t *testing.T) {
			d := newDriver(t, `{"heap": "1g"}`)
			cluster := databasetest.StartCluster(t, d, i, hosts()...)
			before := residentBytes(t)
			all := openAll(t, d, cluster.Endpoints, clients)
			sockets := connections(t, cluster.Endpoints)
			if len(sockets) != clients {
				t.Errorf("got %d connections, want %d", len(sockets), clients)
			}
			var failed, next atomic.Int64
			value := make([]byte, 1024)
			began := time.Now()
			each(all, func(c database.Client) {
				for n := next.Add(1); n <= requests; n = next.Add(1) {
					key := fmt.Sprintf("k%0255d", n)
					err := c.Put(t.Context(), key, value)
					if n%4 == 0 && err == nil {
						_, err = c.Get(t.Context(), key)
					}
					if err != nil && failed.Add(1) < 10 {
						t.Errorf("request %d: %v", n, err)
					}
				}
			})
			t.Logf("%d writes and %d reads over %d clients in %v", requests, requests/4, clients, time.Since(began).Round(time.Millisecond))
			if after := connections(t, cluster.Endpoints); !slices.Equal(sockets, after) {
				t.Errorf("connections were dialed anew: %d before the load, %d after", len(sockets), len(after))
			}
			resident := residentBytes(t)
			t.Logf("resident memory: %d MB before, %d MB with %d clients after load", before/1e6, resident/1e6, clients)
			if resident > 200e6 {
				t.Errorf("resident memory is %d MB, want below 200", resident/1e6)
			}
			counter := all[0].(database.Counter)
			for _, prefix := range []string{"k", ""} {
				began = time.Now()
				if got, err := counter.Count(t.Context(), prefix); err != nil || got != requests {
					t.Errorf("count %q: got %d, %v, want %d", prefix, got, err, requests)
				}
				t.Logf("counted prefix %q in %v", prefix, time.Since(began).Round(time.Millisecond))
			}
		})
	}
}

// openAll opens clients, 32 at a time, spread over the endpoints.
func openAll(t *testing.T, d database.Driver, endpoints []string, n int) []database.Client {
	t.Helper()
	all, errs := make([]database.Client, n), make([]error, n)
	var wg sync.WaitGroup
	turns := make(chan struct{}, 32)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i := range n {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			all[i], errs[i] = d.Open(ctx, database.Target{
				Endpoints: endpoints[i%len(endpoints):][:1], Consistency: "sequential", Timeout: 30 * time.Second,
			})
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { each(all, func(c database.Client) { _ = c.Close() }) })
	return all
}

// each calls fn for all clients at once.
func each(all []database.Client, fn func(database.Client)) {
	var wg sync.WaitGroup
	for _, c := range all {
		wg.Go(func() { fn(c) })
	}
	wg.Wait()
}

// residentBytes returns the resident memory of this process, without garbage.
func residentBytes(t *testing.T) int {
	t.Helper()
	runtime.GC()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(data))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// connections returns the local ends of all established connections to the
// endpoints, sorted.
func connections(t *testing.T, endpoints []string) []string {
	t.Helper()
	file, err := os.Open("/proc/net/tcp")
	if err != nil {
		t.Skip(err)
	}
	defer file.Close()
	var local []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) > 3 && fields[3] == "01" && slices.Contains(endpoints, address(t, fields[2])) {
			local = append(local, fields[1])
		}
	}
	slices.Sort(local)
	return local
}

// address turns the kernel's 0400007F:0885 into 127.0.0.4:2181.
func address(t *testing.T, s string) string {
	t.Helper()
	host, port, _ := strings.Cut(s, ":")
	raw, err := hex.DecodeString(host)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		t.Fatal(err)
	}
	var ip [4]byte
	binary.NativeEndian.PutUint32(ip[:], binary.BigEndian.Uint32(raw))
	return netip.AddrPortFrom(netip.AddrFrom4(ip), uint16(number)).String()
}

// TestKillMember ends one member in the middle of writes over all of them.
// Nothing may hang, every error must be sorted, and every acknowledged key must
// be there once the member is back.
func TestKillMember(t *testing.T) {
	for _, i := range installations(t) {
		t.Run(i.Name, func(t *testing.T) {
			d := newDriver(t, `{"heap": "256m"}`)
			cluster := databasetest.StartCluster(t, d, i, hosts()...)
			t.Run("follower or leader, by chance", func(t *testing.T) { killMember(t, d, cluster, 0) })
			t.Run("leader", func(t *testing.T) { killMember(t, d, cluster, leader(t, d, cluster)) })
		})
	}
}

// leader returns the index of the member that leads.
func leader(t *testing.T, d database.Driver, cluster *databasetest.Cluster) int {
	t.Helper()
	for n, endpoint := range cluster.Endpoints {
		c := open(t, d, database.Target{Endpoints: []string{endpoint}, Consistency: "sequential"})
		leads, err := c.(database.LeaderProber).IsLeader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if leads {
			return n
		}
	}
	t.Fatal("no member leads")
	return 0
}

func killMember(t *testing.T, d database.Driver, cluster *databasetest.Cluster, victim int) {
	t.Helper()
	const timeout = 2 * time.Second
	w := &writers{prefix: fmt.Sprintf("k%d-", time.Now().UnixNano()), timeout: timeout, kinds: make(map[string]int)}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var wg sync.WaitGroup
	for _, endpoint := range cluster.Endpoints {
		for range 8 {
			c := open(t, d, database.Target{Endpoints: []string{endpoint}, Consistency: "sequential", Timeout: timeout})
			wg.Go(func() { w.run(ctx, t, c) })
		}
	}
	waitFor(t, "writes before the kill", func() bool { return w.acknowledged.Load() > 500 })
	cluster.Kill(t, victim)
	waitFor(t, "errors after the kill", func() bool { return w.failed.Load() > 0 })
	before := w.acknowledged.Load()
	waitFor(t, "writes after the kill", func() bool { return w.acknowledged.Load() > before+200 })
	cluster.Start(t, victim)
	cluster.WaitReady(t, victim)
	before = w.acknowledged.Load()
	waitFor(t, "writes after the restart", func() bool { return w.acknowledged.Load() > before+200 })
	stop()
	wg.Wait()
	c := open(t, d, database.Target{Endpoints: cluster.Endpoints[victim : victim+1], Consistency: "sync"})
	keys, err := c.(database.Counter).Count(t.Context(), w.prefix)
	if acknowledged, attempted := w.acknowledged.Load(), w.attempted.Load(); err != nil || keys < acknowledged || keys > attempted {
		t.Errorf("got %d keys, %v, want between the %d acknowledged and the %d attempted", keys, err, acknowledged, attempted)
	}
	t.Logf("%d of %d writes acknowledged, %d keys counted, errors by kind: %v",
		w.acknowledged.Load(), w.attempted.Load(), keys, w.kinds)
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(60 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("no %s in 60 s", what)
		}
	}
}

// writers write a key each time, count what becomes of it, and check each error.
type writers struct {
	prefix                          string
	timeout                         time.Duration
	attempted, acknowledged, failed atomic.Int64

	mu    sync.Mutex
	kinds map[string]int
}

func (w *writers) run(ctx context.Context, t *testing.T, c database.Client) {
	t.Helper()
	for ctx.Err() == nil {
		key := fmt.Sprintf("%s%010d", w.prefix, w.attempted.Add(1))
		start := time.Now()
		// Not ctx: the end of the test must not look like an error of the store.
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
