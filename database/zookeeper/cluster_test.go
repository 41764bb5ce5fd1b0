package zookeeper_test

import (
	"encoding/json"
	"testing"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/databasetest"
	"github.com/dbtester/dbtester/database/zookeeper"
)

const kind = "zookeeper"

// hosts of this package's clusters.
func hosts() []string { return []string{"127.0.0.4", "127.0.0.5", "127.0.0.6"} }

func newDriver(t *testing.T, options string) database.Driver {
	t.Helper()
	d, err := zookeeper.New(json.RawMessage(options))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestConformance(t *testing.T) {
	for _, i := range databasetest.RequireInstallations(t, kind) {
		t.Run(i.Name, func(t *testing.T) {
			d := newDriver(t, `{"heap": "256m", "max_value_bytes": 524288}`)
			cluster := databasetest.StartCluster(t, d, i, hosts()...)
			databasetest.Run(t, databasetest.Config{Driver: d, Endpoints: cluster.Endpoints})
			t.Run("figures", func(t *testing.T) { databasetest.Figures(t, d, cluster.Endpoints...) })
			cluster.StopAll(t)
		})
	}
}

func TestOneMember(t *testing.T) {
	for _, i := range databasetest.RequireInstallations(t, kind) {
		t.Run(i.Name, func(t *testing.T) {
			databasetest.OneMember(t, newDriver(t, `{"heap": "256m"}`), i, hosts()[0], "sequential", "stale", "sync", "linearizable")
		})
	}
}

func TestThousandClients(t *testing.T) {
	for _, i := range databasetest.RequireInstallations(t, kind) {
		t.Run(i.Name, func(t *testing.T) {
			d := newDriver(t, `{"heap": "1g"}`)
			databasetest.Crowd{
				Driver: d, Cluster: databasetest.StartCluster(t, d, i, hosts()...), Consistency: "sequential",
				Clients: 1002, Requests: 100_000, MemoryLimit: 200e6,
			}.Run(t)
		})
	}
}

func TestKillMember(t *testing.T) {
	for _, i := range databasetest.RequireInstallations(t, kind) {
		t.Run(i.Name, func(t *testing.T) {
			d := newDriver(t, `{"heap": "256m"}`)
			kill := databasetest.Kill{Driver: d, Cluster: databasetest.StartCluster(t, d, i, hosts()...), Connections: 8, Consistency: "sync"}
			t.Run("follower or leader, by chance", kill.Run)
			kill.Victim = kill.Cluster.Leader(t)
			t.Run("leader", kill.Run)
		})
	}
}
