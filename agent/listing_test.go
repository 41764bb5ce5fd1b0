//go:build linux

package agent_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbtester/dbtester/agent"
	"github.com/dbtester/dbtester/database"
)

func TestListNamesWhatThereIsAndHowItWasFound(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"etcd-3.5.21", "etcd-3.7.3", "something-else", "etcd-"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	marker := "name=etcd-3.7.3\nsource=Go module x@v3.7.3\nsha256=0123456789abcdef\n"
	if err := os.WriteFile(filepath.Join(dir, "etcd-3.7.3", "INSTALLED"), []byte(marker), 0o600); err != nil {
		t.Fatal(err)
	}
	got := agent.List(agent.Options{
		Databases: dir,
		Drivers:   map[string]database.Factory{"etcd": nil},
		Embedded:  map[string]database.Installation{"etcd": {Version: "3.6.16"}},
	})
	want := []agent.Listing{
		{Name: "embedded", Kind: "etcd", Version: "3.6.16", Found: "inside this binary"},
		{Name: "etcd-3.5.21", Kind: "etcd", Version: "3.5.21", Found: "folder " + filepath.Join(dir, "etcd-3.5.21") + ", version from its name"},
		{Name: "etcd-3.7.3", Kind: "etcd", Version: "3.7.3", Found: "folder " + filepath.Join(dir, "etcd-3.7.3") + ", from Go module x@v3.7.3, sha256 0123456789ab…"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
