//go:build linux

package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMain knows the flag that writes the golden files.
func TestMain(m *testing.M) {
	flag.Bool("update", false, "write the golden files")
	os.Exit(m.Run())
}

// testReport has three pairs of one scenario and one of another.
func testReport() report {
	faster := func(by float64) sample {
		s := typicalSample()
		s.Throughput *= by
		s.cpu = time.Duration(float64(s.cpu) / by)
		s.memory = 60e6
		return s
	}
	single := typicalSample()
	single.Requests, single.Throughput, single.Average = 5_000, 900, 1100*time.Microsecond
	peer := program{goVersion: "go1.26.0", versions: map[string]string{modulePeer: "v3.7.3", moduleClient: "v3.7.3", moduleGRPC: "v1.79.0"}}
	return report{
		results: []outcome{
			{scenarios()[0], []sample{faster(1.1), faster(1.02), faster(1.0496)}, []sample{typicalSample(), typicalSample(), typicalSample()}},
			{scenarios()[3], []sample{single}, []sample{single}},
		},
		versions: programs{
			server: program{goVersion: "go1.26.1", versions: map[string]string{moduleServer: "v3.6.16"}},
			ours:   program{goVersion: "go1.26.1", versions: map[string]string{moduleClient: "v3.6.16", moduleGRPC: "v1.80.0"}},
			peer:   peer,
		},
		date:   time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		before: machine{cpu: "Example CPU", cpus: 2, procs: 2, memory: 8e9, kernel: "6.1.0", load: "0.10"},
		after:  machine{load: "1.90"},
		pairs:  3, floor: 12_300_000,
	}
}

func TestReportGolden(t *testing.T) {
	path, got := filepath.Join("testdata", "report.golden"), testReport().render()
	if flag.Lookup("update").Value.String() == "true" {
		if err := errors.Join(os.MkdirAll("testdata", 0o750), os.WriteFile(path, []byte(got), 0o600)); err != nil {
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

func TestReplacePart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func() string {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	write("before\n" + beginMarker + "\nold\n" + endMarker + "\nafter\n")
	for _, text := range []string{"new\n", "newer\n"} {
		if err := replacePart(path, text); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("before\n"+beginMarker+"\n\n"+text+"\n"+endMarker+"\nafter\n", read()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	for _, page := range []string{"", "text\n", beginMarker, endMarker + "\n" + beginMarker} {
		write(page)
		if err := replacePart(path, "new"); err == nil {
			t.Errorf("%q: got no error", page)
		}
		if got := read(); got != page {
			t.Errorf("%q became %q though it was refused", page, got)
		}
	}
	if err := replacePart(path+".missing", "new"); err == nil {
		t.Error("no such file: got no error")
	}
}

func TestMachineIsRead(t *testing.T) {
	m, err := readMachine()
	if err != nil {
		t.Fatal(err)
	}
	if m.cpu == "" || m.cpus < 1 || m.procs < 1 || m.memory < 1e8 || m.kernel == "" || m.load == "" {
		t.Errorf("got %+v, want every field", m)
	}
	if _, err := kibibytes("VmHWM: many kB\n", "VmHWM"); err == nil {
		t.Error("memory in words: got no error")
	}
	if _, err := kibibytes("VmRSS: 1 kB\n", "VmHWM"); err == nil {
		t.Error("no such field: got no error")
	}
}
