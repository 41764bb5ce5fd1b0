package databasetest

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

// A Plan is one launch to compare with a golden file.
type Plan struct {
	Name    string // of the test and of testdata/plan-NAME.golden
	Options string // of the driver, as JSON
	// Change makes the member to launch out of [Member]; none leaves it.
	Change func(*database.Member)
}

// A Refusal is a member that a driver must not launch.
type Refusal struct {
	Name   string
	Change func(*database.Member) // makes it out of [Member]
	Want   string                 // a part of the error; empty for any
}

// Member returns the second of three members, with that installation.
func Member(i database.Installation) database.Member {
	return database.Member{
		Index: 2,
		Cluster: []database.Peer{
			{Name: "member-1", Host: "10.0.0.2"}, {Name: "member-2", Host: "10.0.0.3"}, {Name: "member-3", Host: "10.0.0.4"},
		},
		Token:        "run-1",
		DataDir:      "/data/member-2",
		Installation: i,
	}
}

// IPv6 moves a member's cluster to addresses that need brackets.
func IPv6(m *database.Member) {
	for i, host := range []string{"fd00::2", "fd00::3", "fd00::4"} {
		m.Cluster[i].Host = host
	}
}

// Plans compares the launch of every plan with its golden file, and that a
// second one is the same.
func Plans(t *testing.T, factory database.Factory, i database.Installation, plans ...Plan) {
	t.Helper()
	for _, p := range plans {
		t.Run(p.Name, func(t *testing.T) {
			m := Member(i)
			if p.Change != nil {
				p.Change(&m)
			}
			d := newDriver(t, factory, p.Options)
			launch, err := d.Plan(m)
			if err != nil {
				t.Fatal(err)
			}
			again, err := d.Plan(m)
			if diff := cmp.Diff(launch, again); err != nil || diff != "" {
				t.Errorf("the second plan differs: %v\n%s", err, diff)
			}
			wantGolden(t, "plan-"+p.Name, describe(launch))
		})
	}
}

// Refusals checks that the driver, with its default options, launches none of
// the members.
func Refusals(t *testing.T, factory database.Factory, i database.Installation, refusals ...Refusal) {
	t.Helper()
	d := newDriver(t, factory, ``)
	for _, r := range refusals {
		t.Run(r.Name, func(t *testing.T) {
			m := Member(i)
			r.Change(&m)
			launch, err := d.Plan(m)
			if err == nil || !strings.Contains(err.Error(), r.Want) {
				t.Errorf("got %q, %v, want an error with %q", launch.Argv, err, r.Want)
			}
		})
	}
}

func newDriver(tb testing.TB, factory database.Factory, options string) database.Driver {
	tb.Helper()
	d, err := factory([]byte(options))
	if err != nil {
		tb.Fatalf("options %s: %v", options, err)
	}
	return d
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

// wantGolden compares with testdata/NAME.golden, or writes it if the test
// binary has a flag -update and it was given.
func wantGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
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
