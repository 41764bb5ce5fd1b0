package zookeeper

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbtester/dbtester/database"
)

// TestMain knows the flag that writes the golden files.
func TestMain(m *testing.M) {
	flag.Bool("update", false, "write the golden files")
	os.Exit(m.Run())
}

func testMember() database.Member {
	return database.Member{
		Index: 2,
		Cluster: []database.Peer{
			{Name: "member-1", Host: "10.0.0.2"}, {Name: "member-2", Host: "10.0.0.3"}, {Name: "member-3", Host: "10.0.0.4"},
		},
		Token:        "run-1",
		DataDir:      "/data/member-2",
		Installation: database.Installation{Name: "zookeeper-3.9.4", Dir: "/databases/zookeeper-3.9.4", Version: "3.9.4"},
	}
}

func TestPlanGolden(t *testing.T) {
	tests := []struct {
		name    string
		options string
		change  func(*database.Member)
	}{
		{"three", ``, func(*database.Member) {}},
		{"one", ``, func(m *database.Member) { m.Index, m.Cluster = 1, m.Cluster[:1] }},
		{"ipv6", ``, func(m *database.Member) {
			for i, host := range []string{"fd00::2", "fd00::3", "fd00::4"} {
				m.Cluster[i].Host = host
			}
		}},
		{"every-option", `{
			"tick_time_ms": 1000, "init_limit": 20, "sync_limit": 10, "snap_count": 10000, "heap": "4g",
			"jute_maxbuffer": 4194304, "data_log_dir": false, "max_value_bytes": 1048576,
			"jvm_flags": ["-XX:+UseZGC", "-XX:ParallelGCThreads=4"]
		}`, func(*database.Member) {}},
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
			wantGolden(t, "plan-"+tt.name, describe(launch))
		})
	}
}

// describe writes a launch as a person reads it.
func describe(l database.Launch) string {
	var b strings.Builder
	for _, arg := range l.Argv {
		fmt.Fprintf(&b, "argv: %s\n", arg)
	}
	fmt.Fprintf(&b, "env: %q\ndata: %q\nendpoint: %s\nports: %q\nstop: %v\n", l.Env, l.DataDirs, l.Endpoint, l.Ports, l.StopSignal)
	for _, f := range l.Files {
		fmt.Fprintf(&b, "\nfile: %s %v\n%s", f.Path, f.Mode, f.Content)
	}
	b.WriteString("\n")
	for _, s := range l.Settings {
		how := "left"
		if s.Set {
			how = "set"
		}
		fmt.Fprintf(&b, "%s: %s = %s; %s\n", how, s.Name, s.Value, s.Reason)
	}
	return b.String()
}

func wantGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if flag.Lookup("update").Value.String() == "true" {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(got), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); write it with -update if that is meant:\n%s", path, diff)
	}
}

func TestPlanRefused(t *testing.T) {
	tests := []struct {
		name   string
		change func(*database.Member)
	}{
		{"no such member", func(m *database.Member) { m.Index = 4 }},
		{"host name", func(m *database.Member) { m.Cluster[0].Host = "localhost" }},
		{"any host", func(m *database.Member) { m.Cluster[0].Host = "0.0.0.0" }},
		{"host with a line", func(m *database.Member) { m.Cluster[0].Host = "10.0.0.2\nautopurge.purgeInterval=1" }},
		{"embedded", func(m *database.Member) { m.Installation.Dir = "" }},
		{"relative folder", func(m *database.Member) { m.DataDir = "data" }},
		{"folder with a line", func(m *database.Member) { m.DataDir = "/data\nx=y" }},
		{"folder with a backslash", func(m *database.Member) { m.DataDir = `/my\data` }},
		{"folder that ends in a space", func(m *database.Member) { m.DataDir = "/data " }},
		{"folder beyond ASCII", func(m *database.Member) { m.DataDir = "/dät" }},
		{"two class paths", func(m *database.Member) { m.Installation.Dir = "/a:/b" }},
		{"way out", func(m *database.Member) { m.DataDir = "/data/../etc" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := testMember()
			tt.change(&m)
			if got, err := newTestDriver(t, ``).Plan(m); err == nil {
				t.Errorf("got %q, want an error", got.Argv)
			}
		})
	}
}
