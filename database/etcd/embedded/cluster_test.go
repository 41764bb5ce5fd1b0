package embedded_test

import (
	"context"
	"encoding/json"
	"net"
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
			t.Run("figures", func(t *testing.T) { databasetest.Figures(t, d, cluster.Endpoints...) })
			t.Run("stale reads", func(t *testing.T) { staleReads(t, d, cluster) })
			t.Run("kill a member", databasetest.Kill{Driver: d, Cluster: cluster, Connections: 1, Consistency: "linearizable"}.Run)
			t.Run("no quorum", func(t *testing.T) { loseQuorum(t, d, cluster) })
			t.Run("stop by signal", func(t *testing.T) { cluster.StopAll(t) })
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
	c := databasetest.Open(t, d, database.Target{Endpoints: cluster.Endpoints, Consistency: "linearizable"})
	if err := c.Put(t.Context(), "k1", []byte("value")); err != nil {
		t.Error(err)
	}
}

func wantVersion(t *testing.T, d database.Driver, cluster *databasetest.Cluster, want string) {
	t.Helper()
	c := databasetest.Open(t, d, database.Target{Endpoints: cluster.Endpoints, Consistency: "linearizable"})
	got, err := c.(database.Versioner).Version(t.Context())
	if err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// staleReads reads from one member what was written over another: at once or a
// little later, but never something else.
func staleReads(t *testing.T, d database.Driver, cluster *databasetest.Cluster) {
	t.Helper()
	writer := databasetest.Open(t, d, database.Target{Endpoints: cluster.Endpoints[:1], Consistency: "serializable"})
	reader := databasetest.Open(t, d, database.Target{Endpoints: cluster.Endpoints[1:2], Consistency: "stale"})
	if err := writer.Put(t.Context(), "k1", []byte("value")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		got, err := reader.Get(ctx, "k1", nil)
		if err == nil && string(got) == "value" {
			return
		}
		if err == nil || ctx.Err() != nil {
			t.Fatalf("got %q, %v, want %q in the end", got, err, "value")
		}
	}
}

// loseQuorum kills two of three: writes fail within their deadline and may have
// been applied, stale reads go on.
func loseQuorum(t *testing.T, d database.Driver, cluster *databasetest.Cluster) {
	t.Helper()
	const timeout = 500 * time.Millisecond
	target := database.Target{Endpoints: cluster.Endpoints[:1], Consistency: "stale", Timeout: timeout}
	c := databasetest.Open(t, d, target)
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
	if got, err := c.Get(t.Context(), "k3", nil); err != nil || string(got) != "value" {
		t.Errorf("stale read without quorum: got %q, %v, want %q", got, err, "value")
	}
	for n := 1; n <= 2; n++ {
		cluster.Start(t, n)
	}
	for n := 1; n <= 2; n++ {
		cluster.WaitReady(t, n)
	}
}
