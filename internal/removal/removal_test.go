//go:build linux

package removal

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// spaceVariable says that a test runs in a mount namespace of its own.
const spaceVariable = "REMOVAL_TEST_SPACE"

// inSpace reports whether the test runs where it may mount, and if not runs it
// there.
func inSpace(t *testing.T) bool {
	t.Helper()
	if os.Getenv(spaceVariable) != "" {
		return true
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), spaceVariable+"=1")
	cmd.SysProcAttr = &unix.SysProcAttr{Cloneflags: unix.CLONE_NEWNS, Unshareflags: unix.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) {
		t.Skip("this root may make no mount namespace")
	}
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("in a mount namespace: %v", err)
	}
	return false
}

// newTree makes work/run/db/data with a few files, and returns work.
func newTree(t *testing.T) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	data := filepath.Join(dir, "run", "db", "data")
	for _, sub := range []string{"wal", filepath.Join("snap", "deep")} {
		if err := os.MkdirAll(filepath.Join(data, sub), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(data, sub, "file"))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root, data
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

const data = "run/db/data"

func TestAll(t *testing.T) {
	root, path := newTree(t)
	if err := Check(root, data); err != nil {
		t.Error(err)
	}
	if err := All(root, data); err != nil {
		t.Error(err)
	}
	if exists(path) || !exists(filepath.Dir(path)) {
		t.Errorf("data there: %t, its parent: %t", exists(path), exists(filepath.Dir(path)))
	}
	if err := All(root, data); err != nil {
		t.Errorf("of nothing: %v", err)
	}
}

// A link anywhere on the way is refused, and what it leads to survives.
func TestLinkOnTheWay(t *testing.T) {
	for _, level := range []string{"run", "run/db", data} {
		t.Run(level, func(t *testing.T) {
			root, path := newTree(t)
			elsewhere := filepath.Join(root.Name(), "elsewhere")
			link := filepath.Join(root.Name(), level)
			if err := errors.Join(os.Rename(link, elsewhere), os.Symlink(elsewhere, link)); err != nil {
				t.Fatal(err)
			}
			if err := All(root, data); !errors.Is(err, ErrLink) {
				t.Errorf("All = %v, want it refused", err)
			}
			if !exists(filepath.Join(path, "wal", "file")) {
				t.Error("what the link leads to was deleted")
			}
		})
	}
}

// A link inside is deleted as a link.
func TestLinkInside(t *testing.T) {
	root, path := newTree(t)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.Mkdir(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(outside, "file"))
	for _, link := range []string{filepath.Join(path, "link"), filepath.Join(path, "snap", "deep", "link")} {
		if err := os.Symlink(outside, link); err != nil {
			t.Fatal(err)
		}
	}
	if err := All(root, data); err != nil {
		t.Error(err)
	}
	if exists(path) || !exists(filepath.Join(outside, "file")) {
		t.Errorf("tree there: %t, file outside: %t", exists(path), exists(filepath.Join(outside, "file")))
	}
}

func TestOutsideAndNoDirectory(t *testing.T) {
	root, path := newTree(t)
	for name, want := range map[string]error{"../" + filepath.Base(root.Name()): ErrMount, data + "/wal/file": unix.ENOTDIR} {
		if err := All(root, name); !errors.Is(err, want) {
			t.Errorf("All(%s) = %v, want %v", name, err, want)
		}
	}
	if !exists(filepath.Join(path, "wal", "file")) {
		t.Error("it was deleted")
	}
}

func TestTooDeep(t *testing.T) {
	root, path := newTree(t)
	deep := filepath.Join(path, strings.Repeat("d/", maxDepth+2))
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := All(root, data); !errors.Is(err, ErrDeep) {
		t.Errorf("All = %v", err)
	}
	if !exists(deep) || !exists(filepath.Join(path, "wal", "file")) {
		t.Error("something was deleted")
	}
}

// Whatever is mounted in the tree, or on the way to it, it is refused and all
// of it survives.
func TestMounts(t *testing.T) {
	if !inSpace(t) {
		return
	}
	tests := []struct{ name, on, kind string }{
		{"tmpfs in the tree", data + "/wal", "tmpfs"},
		{"tmpfs deep in the tree", data + "/snap/deep", "tmpfs"},
		{"bind mount of the same device in the tree", data + "/snap", "bind"},
		{"bind mount of a file", data + "/wal/file", "file"},
		{"tmpfs on the tree", data, "tmpfs"},
		{"bind mount of the tree", data, "bind"},
		{"bind mount on the way", "run/db", "bind"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root, _ := newTree(t)
			on := filepath.Join(root.Name(), tt.on)
			source := t.TempDir()
			mounted := on
			var err error
			switch tt.kind {
			case "tmpfs":
				err = unix.Mount("none", on, "tmpfs", 0, "")
			case "bind":
				err = unix.Mount(source, on, "", unix.MS_BIND, "")
			case "file":
				write(t, filepath.Join(source, "file"))
				err = unix.Mount(filepath.Join(source, "file"), on, "", unix.MS_BIND, "")
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = unix.Unmount(on, unix.MNT_DETACH) })
			if tt.kind != "file" {
				mounted = filepath.Join(on, strings.TrimPrefix(strings.TrimPrefix(data, tt.on), "/"), "precious")
				if err := os.MkdirAll(filepath.Dir(mounted), 0o700); err != nil {
					t.Fatal(err)
				}
				write(t, mounted)
			}
			if err := All(root, data); !errors.Is(err, ErrMount) {
				t.Errorf("All = %v, want it refused for the mount", err)
			}
			text, err := os.ReadFile(mounted)
			if err != nil || string(text) != "precious" {
				t.Errorf("what was mounted: %q, %v", text, err)
			}
			if err := unix.Unmount(on, 0); err != nil {
				t.Fatal(err)
			}
			if err := All(root, data); err != nil {
				t.Errorf("unmounted: %v", err)
			}
		})
	}
}
