package result_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dbtester/dbtester/result"
)

func TestManifestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	want := &result.Manifest{
		FormatVersion: result.FormatVersion, Experiment: "write-1M", Title: "Write 1M keys",
		Started: time.Unix(1700000000, 0).UTC(), Status: result.Partial, Reason: "interrupted",
		Configuration: json.RawMessage(`{}`),
		Databases: []result.Database{{
			Name: "etcd-v3.6", Kind: "etcd", Workload: json.RawMessage(`{}`), Status: result.Partial,
			Members: []result.Member{{Index: 1, Name: "member-1", ClockOffset: -3 * time.Millisecond}},
			Stages:  []result.Stage{{Number: 1, Clients: 10, Planned: 5, OK: 2, Failed: 1, Indeterminate: 1, Unsent: 1}},
			Keys:    &result.KeyCount{Counted: 3, Acknowledged: 2, Possible: 3},
		}},
	}
	if err := want.Write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := result.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	got.Configuration, got.Databases[0].Workload = json.RawMessage(`{}`), json.RawMessage(`{}`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the manifest changed on the way (-want +got):\n%s", diff)
	}
	if n := got.Databases[0].Stages[0].Attempted(); n != 4 {
		t.Errorf("attempted = %d, want 4", n)
	}
}

func TestUnreadableManifestsSayWhy(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"no JSON":       {"{\n  \"format_version\": 1,\n  oops\n}", "manifest.json:3: column 4:"},
		"other type":    {"{\n  \"format_version\": \"one\"\n}", "manifest.json:2:"},
		"later version": {`{"format_version": 99}`, "format version 99: this dbtester reads 1 to"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, result.ManifestFile), []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := result.ReadManifest(dir); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want it to contain %q", err, test.want)
			}
		})
	}
	if _, err := result.ReadManifest(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not a result folder") {
		t.Errorf("an empty folder gave %v", err)
	}
}
