package consul_test

import (
	"encoding/json"
	"testing"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/consul"
	"github.com/dbtester/dbtester/database/databasetest"
)

const kind = "consul"

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

func TestConformance(t *testing.T) {
	for _, i := range databasetest.RequireInstallations(t, kind) {
		t.Run(i.Name, func(t *testing.T) {
			d := newDriver(t, ``)
			cluster := databasetest.StartCluster(t, d, i, hosts()...)
			for _, consistency := range []string{"linearizable", "default"} {
				t.Run(consistency, func(t *testing.T) {
					databasetest.Run(t, databasetest.Config{Driver: d, Endpoints: cluster.Endpoints, Consistency: consistency})
				})
			}
			t.Run("figures", func(t *testing.T) { databasetest.Figures(t, d, cluster.Endpoints...) })
			cluster.StopAll(t)
		})
	}
}

func TestOneMember(t *testing.T) {
	for _, i := range databasetest.RequireInstallations(t, kind) {
		t.Run(i.Name, func(t *testing.T) {
			d := newDriver(t, `{"raft_logstore": "boltdb"}`)
			databasetest.OneMember(t, d, i, hosts()[0], "default", "consistent", "linearizable", "stale")
		})
	}
}

func TestThousandClients(t *testing.T) {
	for _, i := range databasetest.RequireInstallations(t, kind) {
		t.Run(i.Name, func(t *testing.T) {
			// Long timeouts: on a machine that tests share with the members, a
			// leader that is not heard for half a second is not lost.
			d := newDriver(t, `{"raft_multiplier": 10}`)
			databasetest.Crowd{
				Driver: d, Cluster: databasetest.StartCluster(t, d, i, hosts()...), Consistency: "default",
				Clients: 1002, Requests: 100_000, MemoryLimit: 200e6,
			}.Run(t)
		})
	}
}

func TestKillMember(t *testing.T) {
	for _, i := range databasetest.RequireInstallations(t, kind) {
		t.Run(i.Name, func(t *testing.T) {
			d := newDriver(t, ``)
			kill := databasetest.Kill{Driver: d, Cluster: databasetest.StartCluster(t, d, i, hosts()...), Connections: 8, Consistency: "linearizable"}
			t.Run("follower or leader, by chance", kill.Run)
			kill.Victim = kill.Cluster.Leader(t)
			t.Run("leader", kill.Run)
		})
	}
}
