package control

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Only work directories that had a lock, which is free now, are swept.
func TestSweepOfWorkDirectories(t *testing.T) {
	out := t.TempDir()
	running, err := newLocal(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := running.stop(false); err != nil {
			t.Error(err)
		}
	})
	elsewhere := t.TempDir()
	for _, file := range []string{
		filepath.Join(out, ".local-killed", "1", "run", "data"),
		filepath.Join(out, ".local-killed", lockFile),
		filepath.Join(out, ".local-foreign", "file"), // has no lock
		filepath.Join(out, "results", lockFile),
		filepath.Join(elsewhere, lockFile),
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o750), os.WriteFile(file, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(elsewhere, filepath.Join(out, ".local-killed", "link")); err != nil {
		t.Fatal(err)
	}
	if err := sweep(out); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		running.work:                         true,
		filepath.Join(out, ".local-killed"):  false,
		filepath.Join(out, ".local-foreign"): true,
		filepath.Join(out, "results"):        true,
		filepath.Join(elsewhere, lockFile):   true,
	} {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) == want {
			t.Errorf("%s: there %t, want %t", path, err == nil, want)
		}
	}
}
