package etcd

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbtester/dbtester/database"
)

func newTestDriver(t *testing.T, options string) database.Driver {
	t.Helper()
	d, err := New(json.RawMessage(options))
	if err != nil {
		t.Fatalf("options %s: %v", options, err)
	}
	return d
}

func testMember() database.Member {
	return database.Member{
		Index: 2,
		Cluster: []database.Peer{
			{Name: "member-1", Host: "10.0.0.2"}, {Name: "member-2", Host: "10.0.0.3"}, {Name: "member-3", Host: "10.0.0.4"},
		},
		Token:        "run-1",
		DataDir:      "/data/member-2",
		Installation: database.Installation{Name: "etcd-3.6.16", Dir: "/databases/etcd-3.6.16", Version: "3.6.16"},
	}
}

func TestPlanGolden(t *testing.T) {
	version := func(v string) func(*database.Member) {
		return func(m *database.Member) {
			m.Installation = database.Installation{Name: "etcd-" + v, Dir: "/databases/etcd-" + v, Version: v}
		}
	}
	tests := []struct {
		name    string
		options string
		change  func(*database.Member)
	}{
		{"3.4", ``, version("3.4.23")},
		{"3.5", ``, version("3.5.21")},
		{"3.6", ``, version("3.6.16")},
		{"3.7", ``, version("3.7.3")},
		{"embedded", ``, func(m *database.Member) {
			m.Installation = database.Installation{Name: database.Embedded, Version: "3.6.16", Command: []string{"/bin/dbtester", "embedded-etcd"}}
		}},
		{"ipv6", ``, func(m *database.Member) {
			for i, host := range []string{"fd00::2", "fd00::3", "fd00::4"} {
				m.Cluster[i].Host = host
			}
		}},
		{"every-option", `{
			"snapshot_count": 10000, "quota_backend_bytes": 2147483648,
			"auto_compaction_mode": "periodic", "auto_compaction_retention": "5m",
			"heartbeat_interval_ms": 50, "election_timeout_ms": 500,
			"flags": {"max-txn-ops": 256, "pre-vote": false, "backend-batch-interval": "10ms", "unsafe-no-fsync": true}
		}`, version("3.6.16")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := testMember()
			tt.change(&m)
			d := newTestDriver(t, tt.options)
			launch, err := d.Plan(m)
			if err != nil {
				t.Fatal(err)
			}
			again, err := d.Plan(m)
			if diff := cmp.Diff(launch, again); err != nil || diff != "" {
				t.Errorf("the second plan differs: %v\n%s", err, diff)
			}
			got, err := json.MarshalIndent(launch, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "plan-"+tt.name+".golden", string(got)+"\n")
		})
	}
}

// golden compares with a file in testdata, or writes it if -update is given.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run the test with -update to write it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func TestMain(m *testing.M) {
	flag.Bool("update", false, "write the golden files")
	flag.Parse()
	os.Exit(m.Run())
}

func TestPlanRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*database.Member)
		want   string
	}{
		{"index 0", func(m *database.Member) { m.Index = 0 }, "index 0 is outside"},
		{"index past the end", func(m *database.Member) { m.Index = 4 }, "index 4 is outside"},
		{"name is two members", func(m *database.Member) { m.Cluster[0].Name = "a=http://x,b" }, "name"},
		{"host name", func(m *database.Member) { m.Cluster[0].Host = "localhost" }, "IP address"},
		{"host with port", func(m *database.Member) { m.Cluster[1].Host = "10.0.0.3:2379" }, "IP address"},
		{"every address", func(m *database.Member) { m.Cluster[1].Host = "0.0.0.0" }, "IP address"},
		{"zone", func(m *database.Member) { m.Cluster[1].Host = "fe80::1%eth0" }, "IP address"},
		{"empty token", func(m *database.Member) { m.Token = "" }, "token"},
		{"relative data directory", func(m *database.Member) { m.DataDir = "data" }, "absolute"},
		{"relative installation", func(m *database.Member) { m.Installation.Dir = "etcd" }, "absolute"},
		{"no installation", func(m *database.Member) { m.Installation.Dir = "" }, "neither a folder nor a command"},
		{"folder and command", func(m *database.Member) { m.Installation.Command = []string{"/bin/true"} }, "not both"},
		{"no version", func(m *database.Member) { m.Installation.Version = "" }, "not an etcd version"},
		{"version 2", func(m *database.Member) { m.Installation.Version = "2.3.8" }, "not an etcd version"},
		{"version 3.3", func(m *database.Member) { m.Installation.Version = "3.3.27" }, "too old"},
	}
	d := newTestDriver(t, ``)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := testMember()
			tt.change(&m)
			_, err := d.Plan(m)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestPlanRefusesFlagOfAnotherRelease(t *testing.T) {
	m := testMember()
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
