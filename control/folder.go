package control

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/dbtester/dbtester/result"
)

// newPrefix begins the name of a result folder that is being made.
const newPrefix = ".new-"

// A folder is a result folder that only this process writes to. The lock on it
// is free again when the process ends, however it ends.
type folder struct {
	dir  string
	lock *os.File
}

// makeFolder makes a result folder with what it must hold from its first moment
// on: the manifest, and the key of the agents' leases. One that is there already
// is never written to.
func makeFolder(dir string, m *result.Manifest, key string) (*folder, error) {
	parent, name := filepath.Split(dir)
	if err := os.MkdirAll(filepath.Clean(parent), 0o755); err != nil {
		return nil, fmt.Errorf("make the folder for results: %w; choose another with --out", err)
	}
	if err := sweepNew(parent); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("result folder %s is already there: wait a second or choose another place with --out", dir)
	}
	made := filepath.Join(parent, newPrefix+name)
	if err := os.Mkdir(made, 0o755); err != nil {
		return nil, fmt.Errorf("make result folder: %w; choose another place with --out", err)
	}
	f, err := lockFolder(made)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(made))
	}
	if err := errors.Join(m.Write(made), f.keepKey(key)); err != nil {
		return nil, errors.Join(err, f.close(), os.RemoveAll(made))
	}
	if err := os.Rename(made, dir); err != nil {
		return nil, errors.Join(fmt.Errorf("make result folder: %w", err), f.close(), os.RemoveAll(made))
	}
	f.dir = dir
	return f, nil
}

// sweepNew removes folders whose run was killed while it made them: of what is
// in them only the files that such a run writes.
func sweepNew(parent string) error {
	found, err := filepath.Glob(filepath.Join(parent, newPrefix+"*"))
	if err != nil {
		return fmt.Errorf("look for result folders that were not finished: %w", err)
	}
	for _, dir := range found {
		f, err := lockFolder(dir)
		if err != nil {
			continue // another run is making it
		}
		for _, name := range []string{result.ManifestFile, result.ManifestFile + ".tmp", result.LeaseKeyFile, ""} {
			_ = os.Remove(filepath.Join(dir, name)) // what holds more is not ours, and stays
		}
		if err := f.close(); err != nil {
			return fmt.Errorf("look for result folders that were not finished: %w", err)
		}
	}
	return nil
}

// lockFolder keeps other controllers out of a result folder.
func lockFolder(dir string) (*folder, error) {
	file, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return nil, fmt.Errorf("open result folder: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errors.New("another dbtester control writes to it: wait for its end, or end it")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("result folder %s: %w", dir, err), file.Close())
	}
	return &folder{dir: dir, lock: file}, nil
}

// close lets others write to the folder, if it was made.
func (f *folder) close() error {
	if f == nil {
		return nil
	}
	return f.lock.Close()
}

// keepKey puts the key of the agents' leases where a resumed run finds it.
func (f *folder) keepKey(key string) error {
	if err := os.WriteFile(f.keyFile(), []byte(key+"\n"), 0o600); err != nil {
		return fmt.Errorf("keep the key of the agents' leases: %w", err)
	}
	return nil
}

// key returns the one a run that was killed has left; empty if there is none.
func (f *folder) key() string {
	text, err := os.ReadFile(f.keyFile())
	if err != nil {
		return "" // the lease was given back, or will end by itself
	}
	return strings.TrimSpace(string(text))
}

// dropKey removes the key when the leases were given back.
func (f *folder) dropKey() error {
	if err := os.Remove(f.keyFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the key of the agents' leases: %w", err)
	}
	return nil
}

func (f *folder) keyFile() string { return filepath.Join(f.dir, result.LeaseKeyFile) }
