package etcd

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/databasetest"
)

func newTestDriver(t *testing.T, options string) database.Driver {
	t.Helper()
	d, err := New(json.RawMessage(options))
	if err != nil {
		t.Fatalf("options %s: %v", options, err)
	}
	return d
}

func testInstallation() database.Installation { return installation("3.6.16") }

func installation(version string) database.Installation {
	return database.Installation{Name: "etcd-" + version, Dir: "/databases/etcd-" + version, Version: version}
}

func TestPlanGolden(t *testing.T) {
	version := func(v string) databasetest.Plan {
		return databasetest.Plan{Name: v[:3], Change: func(m *database.Member) { m.Installation = installation(v) }}
	}
	databasetest.Plans(t, New, testInstallation(),
		version("3.4.23"), version("3.5.21"), version("3.6.16"), version("3.7.3"),
		databasetest.Plan{Name: "embedded", Change: func(m *database.Member) {
			m.Installation = database.Installation{Name: database.Embedded, Version: "3.6.16", Command: []string{"/bin/dbtester", "embedded-etcd"}}
		}},
		databasetest.Plan{Name: "ipv6", Change: databasetest.IPv6},
		databasetest.Plan{Name: "every-option", Options: `{
			"snapshot_count": 10000, "quota_backend_bytes": 2147483648,
			"auto_compaction_mode": "periodic", "auto_compaction_retention": "5m",
			"heartbeat_interval_ms": 50, "election_timeout_ms": 500,
			"flags": {"max-txn-ops": 256, "pre-vote": false, "backend-batch-interval": "10ms", "unsafe-no-fsync": true}
		}`},
	)
}

func TestMain(m *testing.M) {
	flag.Bool("update", false, "write the golden files")
	flag.Parse()
	os.Exit(m.Run())
}

func TestPlanRefuses(t *testing.T) {
	databasetest.Refusals(t, New, testInstallation(), []databasetest.Refusal{
		{Name: "index 0", Change: func(m *database.Member) { m.Index = 0 }, Want: "index 0 is outside"},
		{Name: "index past the end", Change: func(m *database.Member) { m.Index = 4 }, Want: "index 4 is outside"},
		{Name: "name is two members", Change: func(m *database.Member) { m.Cluster[0].Name = "a=http://x,b" }, Want: "name"},
		{Name: "host name", Change: func(m *database.Member) { m.Cluster[0].Host = "localhost" }, Want: "IP address"},
		{Name: "host with port", Change: func(m *database.Member) { m.Cluster[1].Host = "10.0.0.3:2379" }, Want: "IP address"},
		{Name: "every address", Change: func(m *database.Member) { m.Cluster[1].Host = "0.0.0.0" }, Want: "IP address"},
		{Name: "zone", Change: func(m *database.Member) { m.Cluster[1].Host = "fe80::1%eth0" }, Want: "IP address"},
		{Name: "empty token", Change: func(m *database.Member) { m.Token = "" }, Want: "token"},
		{Name: "relative data directory", Change: func(m *database.Member) { m.DataDir = "data" }, Want: "absolute"},
		{Name: "relative installation", Change: func(m *database.Member) { m.Installation.Dir = "etcd" }, Want: "absolute"},
		{Name: "no installation", Change: func(m *database.Member) { m.Installation.Dir = "" }, Want: "neither a folder nor a command"},
		{Name: "folder and command", Change: func(m *database.Member) { m.Installation.Command = []string{"/bin/true"} }, Want: "not both"},
		{Name: "no version", Change: func(m *database.Member) { m.Installation.Version = "" }, Want: "not an etcd version"},
		{Name: "version 2", Change: func(m *database.Member) { m.Installation.Version = "2.3.8" }, Want: "not an etcd version"},
		{Name: "version 3.3", Change: func(m *database.Member) { m.Installation.Version = "3.3.27" }, Want: "too old"},
	}...)
}

func TestPlanRefusesFlagOfAnotherRelease(t *testing.T) {
	m := databasetest.Member(testInstallation())
	tests := []struct{ version, flag string }{
		{"3.4.23", "raft-read-timeout"},
		{"3.5.21", "feature-gates"},
		{"3.5.21", "experimental-backend-bbolt-freelist-type"},
		{"3.7.3", "experimental-compaction-batch-limit"},
	}
	for _, tt := range tests {
		t.Run(tt.version+" "+tt.flag, func(t *testing.T) {
			m.Installation.Version = tt.version
			_, err := newTestDriver(t, `{"flags": {"`+tt.flag+`": "1"}}`).Plan(m)
			var option *database.OptionError
			if !errors.As(err, &option) || option.Path != "flags."+tt.flag {
				t.Errorf("got %v, want an option error at flags.%s", err, tt.flag)
			}
		})
	}
}

func TestParseRelease(t *testing.T) {
	tests := []struct {
		version string
		want    release
	}{
		{"3.4.0", 4},
		{"3.5.21", 5},
		{"v3.6.16", 6},
		{"3.7.0-rc.0", 7},
		{"3.6", 6},
		{"3.12.1", 12},
		{"3.3.27", 0},
		{"4.0.0", 0},
		{"3.x", 0},
		{"3.5.21/../..", 0},
		{"", 0},
	}
	for _, tt := range tests {
		got, err := parseRelease(tt.version)
		if got != tt.want || (err == nil) != (tt.want != 0) {
			t.Errorf("%q: got %v, %v, want %v", tt.version, got, err, tt.want)
		}
	}
}
