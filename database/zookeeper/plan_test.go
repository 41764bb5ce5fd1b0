package zookeeper

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
	return database.Installation{Name: "zookeeper-3.9.4", Dir: "/databases/zookeeper-3.9.4", Version: "3.9.4"}
}

func TestPlanGolden(t *testing.T) {
	databasetest.Plans(t, New, testInstallation(),
		databasetest.Plan{Name: "three"},
		databasetest.Plan{Name: "one", Change: func(m *database.Member) { m.Index, m.Cluster = 1, m.Cluster[:1] }},
		databasetest.Plan{Name: "ipv6", Change: databasetest.IPv6},
		databasetest.Plan{Name: "every-option", Options: `{
			"tick_time_ms": 1000, "init_limit": 20, "sync_limit": 10, "snap_count": 10000, "heap": "4g",
			"jute_maxbuffer": 4194304, "data_log_dir": false, "max_value_bytes": 1048576,
			"jvm_flags": ["-XX:+UseZGC", "-XX:ParallelGCThreads=4"]
		}`},
	)
}

func TestPlanRefused(t *testing.T) {
	databasetest.Refusals(t, New, testInstallation(), []databasetest.Refusal{
		{Name: "no such member", Change: func(m *database.Member) { m.Index = 4 }},
		{Name: "host name", Change: func(m *database.Member) { m.Cluster[0].Host = "localhost" }},
		{Name: "any host", Change: func(m *database.Member) { m.Cluster[0].Host = "0.0.0.0" }},
		{Name: "host with a line", Change: func(m *database.Member) { m.Cluster[0].Host = "10.0.0.2\nautopurge.purgeInterval=1" }},
		{Name: "embedded", Change: func(m *database.Member) { m.Installation.Dir = "" }},
		{Name: "relative folder", Change: func(m *database.Member) { m.DataDir = "data" }},
		{Name: "folder with a line", Change: func(m *database.Member) { m.DataDir = "/data\nx=y" }},
		{Name: "folder with a backslash", Change: func(m *database.Member) { m.DataDir = `/my\data` }},
		{Name: "folder that ends in a space", Change: func(m *database.Member) { m.DataDir = "/data " }},
		{Name: "folder beyond ASCII", Change: func(m *database.Member) { m.DataDir = "/dät" }},
		{Name: "two class paths", Change: func(m *database.Member) { m.Installation.Dir = "/a:/b" }},
		{Name: "way out", Change: func(m *database.Member) { m.DataDir = "/data/../etc" }},
	}...)
}
