package databasetest

import (
	"testing"
	"time"

	"github.com/dbtester/dbtester/database"
)

// stopGrace bounds the orderly end of a member.
const stopGrace = 15 * time.Second

// StopAll asks every member to end by its plan's signal, one after the other.
func (c *Cluster) StopAll(t testing.TB) {
	t.Helper()
	for n := range c.Endpoints {
		c.Stop(t, n, stopGrace)
	}
}

// OneMember checks a cluster of one, where every consistency sees the client's
// own writes at once, and that its data outlives a restart.
func OneMember(t *testing.T, d database.Driver, i database.Installation, host string, consistencies ...string) {
	t.Helper()
	cluster := StartCluster(t, d, i, host)
	for _, consistency := range consistencies {
		c := Open(t, d, database.Target{Endpoints: cluster.Endpoints, Consistency: consistency})
		put(t, c, "k1", []byte(consistency))
		if got := get(t, c, "k1"); string(got) != consistency {
			t.Errorf("%s: got %q, want what was put", consistency, got)
		}
	}
	cluster.Stop(t, 0, stopGrace)
	cluster.Start(t, 0)
	cluster.WaitReady(t, 0)
	c := Open(t, d, database.Target{Endpoints: cluster.Endpoints, Consistency: "linearizable"})
	if counter, ok := c.(database.Counter); ok {
		wantCount(t, counter, "k", 1)
	}
	if leads, err := isLeader(t, c); err != nil || !leads {
		t.Errorf("got leader %v, %v, want the only member to lead", leads, err)
	}
}
