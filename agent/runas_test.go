//go:build linux

package agent

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRunAsRefused(t *testing.T) {
	tests := []struct{ name, user, root, other string }{
		{"no such user", "nobody-of-that-name", "useradd", "only root"},
		{"root", "root", "that is root", "only root"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := testOptions(t.TempDir())
			o.RunAs = tt.user
			want := tt.root
			if os.Geteuid() != 0 {
				want = tt.other
			}
			_, err := New(o)
			if err == nil || !strings.Contains(err.Error(), "--run-as "+tt.user) || !strings.Contains(err.Error(), want) {
				t.Errorf("New = %v, want it to say %q", err, want)
			}
		})
	}
}

// openFolder makes a folder that everybody can enter, as those of tests are not.
func openFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for at := dir; at != os.TempDir(); at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRunAs(t *testing.T) {
	if _, err := checkRunAs("nobody"); err != nil {
		t.Skip(err)
	}
	dir := openFolder(t)
	a := newTestAgent(t, func(o *Options) {
		o.Dir = filepath.Join(dir, "work")
		o.RunAs = "nobody"
		o.MemberLimits.OpenFiles = 1234
	})
	a.dir = dir
	started := a.start(t, `{"behaviour": "status"}`)
	a.awaitLog(t, "ready")
	if started.GetUser() != "nobody" || started.GetLimits().GetOpenFiles() != 1234 {
		t.Errorf("Start = %v", started)
	}
	log := a.status(t).GetLastLog()
	for _, want := range []string{"Uid: 65534 65534 65534 65534", "Gid: 65534 65534 65534 65534", "Groups:\n", "NoNewPrivs: 1", "files 1234 1234"} {
		if !strings.Contains(log, want) {
			t.Errorf("the member printed\n%s\nwant %q", log, want)
		}
	}
	for name, want := range map[string]uint32{
		dataFolder: 65534, filepath.Join(dataFolder, "conf", "fake.conf"): 65534, filepath.Join(dataFolder, "db", "store"): 65534,
		markerFile: 0, "2-database.log": 0, "2-server-system-metrics.csv": 0,
	} {
		info, err := os.Stat(a.path("run-1", "fake-db", name))
		if err != nil {
			t.Fatal(err)
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != want {
			t.Errorf("%s is of user %d, want %d", name, stat.Uid, want)
		}
	}
	a.stop(t, false)
}

// A folder on the way that the user cannot enter is named at the start.
func TestRunAsCannotReach(t *testing.T) {
	if _, err := checkRunAs("nobody"); err != nil {
		t.Skip(err)
	}
	dir := openFolder(t)
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	o := testOptions(dir)
	o.Dir, o.RunAs = filepath.Join(closed, "work"), "nobody"
	_, err := New(o)
	if err == nil || !strings.Contains(err.Error(), "user nobody cannot enter "+closed+" ") {
		t.Errorf("New = %v", err)
	}
}
