//go:build linux

package agent

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/dbtester/dbtester/dbtesterpb"
)

func TestTwoAgentsInOneFolder(t *testing.T) {
	a := newTestAgent(t, nil)
	_, err := New(testOptions(a.dir))
	if err == nil || !strings.Contains(err.Error(), "--dir "+a.path()+": another agent works there") {
		t.Errorf("New = %v", err)
	}
}

// A sweep removes the data of members that may have been running, and no other.
func TestSweepRemovesOnlyStaleData(t *testing.T) {
	const nonce = `"nonce": "ABCDEFGHIJKLMNOPQRSTUVWXYZ"`
	tests := []struct {
		name, marker string
		removed      bool
	}{
		{"running", `{"run": "r", "database": "d", ` + nonce + `, "state": "running"}`, true},
		{"kept", `{"run": "r", "database": "d", ` + nonce + `, "state": "kept"}`, false},
		{"earlier version", `{"run": "r", "database": "d", ` + nonce + `}`, false},
		{"moved", `{"run": "r", "database": "other", ` + nonce + `, "state": "running"}`, false},
		{"no nonce", `{"run": "r", "database": "d", "state": "running"}`, false},
		{"not JSON", `running`, false},
		{"foreign control group", `{"run": "r", "database": "d", ` + nonce + `, "state": "running", "control_group": "/sys/fs/cgroup/system.slice"}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := testOptions(t.TempDir())
			folder := filepath.Join(o.Dir, "r", "d")
			for _, name := range []string{markerFile, "2-database.log", filepath.Join(dataFolder, "db")} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o750); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(folder, name), []byte(tt.marker), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 { // the second finds nothing to do
				a, err := New(o)
				if err != nil {
					t.Fatal(err)
				}
				if err := a.Close(); err != nil {
					t.Fatal(err)
				}
				want := []string{"2-database.log"}
				if !tt.removed {
					want = append(want, dataFolder, filepath.Join(dataFolder, "db"))
				}
				if got := entries(t, folder); !slices.Equal(got, append(want, markerFile)) {
					t.Errorf("left: %q", got)
				}
			}
		})
	}
}

// A marker that is a link is no marker.
func TestMarkerThroughLink(t *testing.T) {
	a := newTestAgent(t, nil)
	a.start(t, "")
	a.awaitLog(t, "ready")
	path := a.path("run-1", "fake-db", markerFile)
	if err := errors.Join(os.Rename(path, path+".moved"), os.Symlink(markerFile+".moved", path)); err != nil {
		t.Fatal(err)
	}
	_, err := a.Stop(t.Context(), &dbtesterpb.StopRequest{})
	wantStatus(t, err, codes.Internal, "is kept", "no regular file")
	if err := errors.Join(os.Remove(path), os.Rename(path+".moved", path)); err != nil {
		t.Fatal(err)
	}
	a.stop(t, false)
}

// A run's folder that is a link is refused before anything is made in it.
func TestRunThroughLink(t *testing.T) {
	a := newTestAgent(t, nil)
	if err := errors.Join(os.Mkdir(a.path("elsewhere"), 0o750), os.Symlink("elsewhere", a.path("run-1"))); err != nil {
		t.Fatal(err)
	}
	_, err := a.Start(t.Context(), request(""))
	wantStatus(t, err, codes.Internal, "symbolic link")
	if got := entries(t, a.path("elsewhere")); len(got) > 0 {
		t.Errorf("made through the link: %q", got)
	}
}

// spaceVariable says that a test runs in a mount namespace of its own.
const spaceVariable = "AGENT_TEST_SPACE"

// What is mounted in a member's data survives, and so do the data, until it is
// unmounted.
func TestMountInData(t *testing.T) {
	if os.Getenv(spaceVariable) == "" {
		inMountSpace(t)
		return
	}
	for _, flags := range []uintptr{0, syscall.MS_BIND} {
		a := newTestAgent(t, nil)
		a.start(t, "")
		a.awaitLog(t, "ready")
		on := a.path("run-1", "fake-db", dataFolder, "db")
		if err := syscall.Mount(t.TempDir(), on, "tmpfs", flags, ""); err != nil {
			t.Fatal(err)
		}
		precious := filepath.Join(on, "precious")
		if err := os.WriteFile(precious, []byte("gold"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := a.Stop(t.Context(), &dbtesterpb.StopRequest{})
		wantStatus(t, err, codes.Internal, "data/db", "mounted")
		if gold, err := os.ReadFile(precious); err != nil || string(gold) != "gold" {
			t.Errorf("%s = %q, %v", precious, gold, err)
		}
		if err := syscall.Unmount(on, 0); err != nil {
			t.Fatal(err)
		}
		a.stop(t, false)
	}
}

// inMountSpace runs the test where it may mount.
func inMountSpace(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), spaceVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("this root may make no mount namespace")
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("in a mount namespace: %v\n%s", err, out)
	}
}
