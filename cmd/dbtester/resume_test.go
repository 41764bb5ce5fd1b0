package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dbtester/dbtester/result"
)

// twice is an experiment whose load takes three seconds for each database.
const twice = `
title: Twice
workload: {operation: write, requests: 1500, rate: 500, clients: 20, connections: 5, key: {size: 32}, value: {size: 64}}
databases:
  - {name: first, kind: etcd, installation: embedded}
  - {name: second, kind: etcd, installation: embedded}
`

// TestAKilledRunIsResumed kills control at each moment of a run and continues
// it: what comes of it has the form of a run that nobody killed, and every key
// is counted once.
func TestAKilledRunIsResumed(t *testing.T) {
	whole := twiceCommand(t, "control", "--local", "-c", "test.yaml")
	if status := whole.status(); status != exitDone {
		t.Fatalf("status %d, printed:\n%s", status, whole.stderr)
	}
	want := filesOf(t, whole.resultDir())
	for name, test := range map[string]struct {
		moment func(dir string) bool // when control is killed
		aside  []string              // what is put aside at least
	}{
		"at the start":      {func(dir string) bool { return exists(filepath.Join(dir, result.ManifestFile)) }, nil},
		"as members start":  {func(dir string) bool { return exists(filepath.Join(dir, "first", result.ClientMetricsFile)) }, []string{"first"}},
		"under load":        {func(dir string) bool { return rowsIn(filepath.Join(dir, "first")) > 1 }, []string{"first"}},
		"as members stop":   {func(dir string) bool { return exists(filepath.Join(dir, "first", result.SummaryFile)) }, []string{"first"}},
		"between databases": {func(dir string) bool { return completeIn(dir) == 1 }, nil},
		"in the second":     {func(dir string) bool { return rowsIn(filepath.Join(dir, "second")) > 1 }, []string{"second"}},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "under load" && name != "between databases" && os.Getenv(faultsEnv) == "" {
				t.Skipf("set %s to kill control at this moment too", faultsEnv)
			}
			c := twiceCommand(t, "control", "--local", "-c", "test.yaml")
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Process.Kill() })
			var dir string
			c.until("the moment "+name, time.Minute, func() bool {
				found, _ := filepath.Glob(filepath.Join(c.dir, "results", "test-*Z"))
				if len(found) == 1 {
					dir = found[0]
				}
				return dir != "" && test.moment(dir)
			})
			if err := c.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			before := rowsIn(filepath.Join(dir, "first"))
			complete := completeIn(dir)

			again := dbtester(t, "control", "--resume", dir)
			if status := again.status(); status != exitDone {
				t.Fatalf("status %d, printed:\n%s", status, again.stderr)
			}
			again.nothingLeft()
			checkResumed(t, dir, want, test.aside)
			if complete > 0 && before != rowsIn(filepath.Join(dir, "first")) {
				t.Error("a database that was complete was touched")
			}
			if !strings.Contains(again.stdout.String(), "1,500") {
				t.Errorf("no table was printed:\n%s", again.stdout)
			}
		})
	}
}

// checkResumed compares a result folder with that of a run nobody killed.
func checkResumed(t *testing.T, dir string, want map[string]bool, aside []string) {
	t.Helper()
	m, err := result.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m.Status != result.Complete || len(m.Resumptions) != 1 || !m.Local || len(m.Databases) != 2 {
		t.Errorf("status %q, resumptions %+v, local %v, %d databases", m.Status, m.Resumptions, m.Local, len(m.Databases))
	}
	for _, d := range m.Databases {
		if d.Status != result.Complete || d.Keys == nil || d.Keys.Counted != 1500 || len(d.Stages) != 1 || d.Stages[0].OK != 1500 {
			t.Errorf("%s: status %q, keys %+v, stages %+v; want 1,500 keys of one stage", d.Name, d.Status, d.Keys, d.Stages)
		}
		if ok := requestsIn(t, filepath.Join(dir, d.Name)); ok != 1500 {
			t.Errorf("%s: the time series counts %d requests, want 1,500", d.Name, ok)
		}
	}
	got := filesOf(t, dir)
	told := map[string]bool{}
	for _, again := range m.Resumptions[0].Again {
		told[again.Database] = true
		if again.Folder != result.IncompleteDir(again.Database, 1) || !got[again.Folder] {
			t.Errorf("put aside as %q, which is there: %v", again.Folder, got[again.Folder])
		}
		for path := range got {
			if strings.HasPrefix(path, again.Folder) {
				delete(got, path)
			}
		}
	}
	for _, name := range aside {
		if !told[name] {
			t.Errorf("the manifest does not tell that %s was begun again: %+v", name, m.Resumptions)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files of a run that was not killed (-), and of this one (+):\n%s", diff)
	}
}

func TestWhatCannotBeResumed(t *testing.T) {
	c := dbtester(t, "control", "--local", "-c", "test.yaml", "--set", "workload.requests=200")
	if status := c.status(); status != exitDone {
		t.Fatalf("status %d, printed:\n%s", status, c.stderr)
	}
	dir := c.resultDir()
	manifest := filepath.Join(dir, result.ManifestFile)
	good, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	partial := strings.ReplaceAll(string(good), `"status": "complete"`, `"status": "running"`)
	for name, test := range map[string]struct {
		manifest string
		args     []string
		before   func(t *testing.T)
		status   int
		says     string
	}{
		"complete already":      {string(good), nil, nil, exitDone, "nothing to continue"},
		"another configuration": {partial, []string{"-c", "test.yaml"}, nil, exitUsage, "workload.requests was 200 and is now 3000"},
		"override":              {partial, []string{"--set", "seed=7"}, nil, exitUsage, "seed was 1 and is now 7"},
		"another place":         {partial, []string{"--out", "elsewhere"}, nil, exitUsage, "leave --out away"},
		"no manifest": {"", nil, func(t *testing.T) {
			t.Helper()
			if err := os.Remove(manifest); err != nil {
				t.Fatal(err)
			}
		}, exitUsage, "it has no manifest.json"},
		"cut manifest": {partial[:len(partial)/2], nil, nil, exitUsage, result.ManifestFile + ":"},
		"other controller": {partial, nil, func(t *testing.T) {
			t.Helper()
			held, err := os.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = held.Close() })
			if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
				t.Fatal(err)
			}
		}, exitFailed, "another dbtester control writes to it"},
		"full disk": {partial, nil, func(t *testing.T) {
			t.Helper()
			if err := os.Symlink("/dev/full", manifest+".tmp"); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Remove(manifest + ".tmp") })
		}, exitFailed, "no space left on device"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(manifest, []byte(test.manifest), 0o600); err != nil {
				t.Fatal(err)
			}
			if test.before != nil {
				test.before(t)
			}
			again := dbtester(t, append([]string{"control", "--resume", dir}, test.args...)...)
			if status := again.status(); status != test.status || !strings.Contains(again.stderr.String(), test.says) {
				t.Errorf("status %d, want %d and %q; printed:\n%s", status, test.status, test.says, again.stderr)
			}
			again.nothingLeft()
			if !exists(filepath.Join(dir, "etcd", result.SummaryFile)) {
				t.Error("what was measured is gone")
			}
		})
	}
}

func twiceCommand(t *testing.T, args ...string) *command {
	t.Helper()
	c := dbtester(t, args...)
	c.write("test.yaml", twice)
	return c
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// rowsIn is how many seconds of load are on disk.
func rowsIn(dir string) int {
	rows, _ := result.ReadTable[result.TimeseriesRow](filepath.Join(dir, result.TimeseriesFile))
	return len(rows)
}

func requestsIn(t *testing.T, dir string) (ok int64) {
	t.Helper()
	rows, err := result.ReadTable[result.TimeseriesRow](filepath.Join(dir, result.TimeseriesFile))
	if err != nil {
		t.Error(err)
	}
	for _, r := range rows {
		ok += r.Throughput
	}
	return ok
}

func completeIn(dir string) (n int) {
	m, err := result.ReadManifest(dir)
	if err != nil {
		return 0
	}
	for _, d := range m.Databases {
		if d.Status == result.Complete {
			n++
		}
	}
	return n
}

// filesOf lists what is in a folder, without the charts: which there are
// depends on whether the machine had anything to show.
func filesOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(dir, path)
		chart := !strings.Contains(rel, "/") && (strings.HasSuffix(rel, ".svg") || strings.HasSuffix(rel, ".csv"))
		if relErr == nil && !chart {
			files[rel] = true
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return files
}
