package consul_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/consul"
	"github.com/dbtester/dbtester/database/databasetest"
)

// hosts of this package's clusters.
func hosts() []string { return []string{"127.0.0.4", "127.0.0.5", "127.0.0.6"} }

func newDriver(t *testing.T, options string) database.Driver {
	t.Helper()
	d, err := consul.New(json.RawMessage(options))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// installations returns those of Consul below $DBTESTER_DATABASES, and skips
// the test if there is none.
func installations(t *testing.T) []database.Installation {
	t.Helper()
	root := os.Getenv("DBTESTER_DATABASES")
	if root == "" {
		t.Skip("DBTESTER_DATABASES names no folder with installations; make databases makes one")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := filepath.Glob(filepath.Join(root, "consul-*"))
	if err != nil {
		t.Fatal(err)
	}
	var all []database.Installation
	for _, dir := range dirs {
		name := filepath.Base(dir)
		all = append(all, database.Installation{Name: name, Dir: dir, Version: strings.TrimPrefix(name, "consul-")})
	}
	if len(all) == 0 {
		t.Skipf("%s holds no consul-VERSION; install one with scripts/install-databases.sh", root)
	}
	return all
}

func TestConformance(t *testing.T) {
	for _, i := range installations(t) {
		t.Run(i.Name, func(t *testing.T) {
			d := newDriver(t, ``)
			cluster := databasetest.StartCluster(t, d, i, hosts()...)
			for _, consistency := range []string{"linearizable", "default"} {
				t.Run(consistency, func(t *testing.T) {
					databasetest.Run(t, databasetest.Config{Driver: d, Endpoints: cluster.Endpoints, Consistency: consistency})
				})
			}
			for n := range cluster.Endpoints {
				cluster.Stop(t, n, 15*time.Second)
			}
		})
	}
}

// TestOneMember checks a cluster of one, where every consistency sees the
// client's own writes at once, and that its data outlives a restart.
func TestOneMember(t *testing.T) {
	for _, i := range installations(t) {
		t.Run(i.Name, func(t *testing.T) {
			d := newDriver(t, `{"raft_logstore": "boltdb"}`)
			cluster := databasetest.StartCluster(t, d, i, hosts()[:1]...)
			for _, consistency := range []string{"default", "consistent", "linearizable", "stale"} {
				c := open(t, d, database.Target{Endpoints: cluster.Endpoints, Consistency: consistency})
				if err := c.Put(t.Context(), "k1", []byte(consistency)); err != nil {
					t.Fatal(err)
				}
				if got, err := c.Get(t.Context(), "k1"); err != nil || string(got) != consistency {
					t.Errorf("%s: got %q, %v, want what was put", consistency, got, err)
				}
			}
			cluster.Stop(t, 0, 15*time.Second)
			cluster.Start(t, 0)
			cluster.WaitReady(t, 0)
			c := open(t, d, database.Target{Endpoints: cluster.Endpoints, Consistency: "linearizable"})
			if keys, err := c.(database.Counter).Count(t.Context(), "k"); err != nil || keys != 1 {
				t.Errorf("after the restart: got %d keys, %v, want 1", keys, err)
			}
			if leads, err := c.(database.LeaderProber).IsLeader(t.Context()); err != nil || !leads {
				t.Errorf("got leader %v, %v, want the only member to lead", leads, err)
			}
		})
	}
}
