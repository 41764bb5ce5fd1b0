package consul

import (
	"flag"
	"os"
	"testing"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/databasetest"
)

// TestMain knows the flag that writes the golden files.
func TestMain(m *testing.M) {
	flag.Bool("update", false, "write the golden files")
	os.Exit(m.Run())
}

func testInstallation() database.Installation {
	return database.Installation{Name: "consul-1.22.0", Dir: "/databases/consul-1.22.0", Version: "1.22.0"}
}

func TestPlanGolden(t *testing.T) {
	databasetest.Plans(t, New, testInstallation(),
		databasetest.Plan{Name: "three"},
		databasetest.Plan{Name: "one", Change: func(m *database.Member) { m.Index, m.Cluster = 1, m.Cluster[:1] }},
		databasetest.Plan{Name: "ipv6", Change: databasetest.IPv6},
		databasetest.Plan{Name: "every-option", Options: `{
			"raft_multiplier": 5, "raft_logstore": "boltdb", "raft_snapshot_threshold": 100000,
			"raft_snapshot_interval": "1m", "raft_trailing_logs": 1000
		}`},
	)
}

func TestPlanRefused(t *testing.T) {
	databasetest.Refusals(t, New, testInstallation(), []databasetest.Refusal{
		{Name: "no such member", Change: func(m *database.Member) { m.Index = 4 }},
		{Name: "host name", Change: func(m *database.Member) { m.Cluster[0].Host = "localhost" }},
		{Name: "any host", Change: func(m *database.Member) { m.Cluster[0].Host = "0.0.0.0" }},
		{Name: "name with a dot", Change: func(m *database.Member) { m.Cluster[0].Name = "member.1" }},
		{Name: "no token", Change: func(m *database.Member) { m.Token = "" }},
		{Name: "embedded", Change: func(m *database.Member) { m.Installation.Dir = "" }},
		{Name: "relative folder", Change: func(m *database.Member) { m.DataDir = "data" }},
		{Name: "relative installation", Change: func(m *database.Member) { m.Installation.Dir = "consul" }},
	}...)
}
