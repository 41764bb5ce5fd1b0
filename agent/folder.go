//go:build linux

package agent

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/dbtester/dbtester/database"
)

// What the agent makes in the folder of a member, beside the files of package
// result.
const (
	markerFile = "dbtester-agent.json"
	dataFolder = "data"
)

// A marker says that a folder is this agent's: nothing is deleted without it.
type marker struct {
	Run      string `json:"run"`
	Database string `json:"database"`
	Nonce    string `json:"nonce"` // of this very start
}

// A folder holds one member's data, log and metrics. All access goes through
// the work folder's root, so that no symbolic link leads out of it.
type folder struct {
	work   *os.Root
	name   string // relative to work
	path   string // absolute
	marker marker
}

// absent returns an error if the member's folder exists already.
func absent(work *os.Root, name string) error {
	_, err := work.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return status.Errorf(codes.FailedPrecondition, "look for the member's folder: %v", err)
	}
	path := filepath.Join(work.Name(), name)
	if _, err := work.Lstat(filepath.Join(name, markerFile)); err == nil {
		return status.Errorf(codes.AlreadyExists, "%s is there already, from an earlier start: use another run name or remove it", path)
	}
	return status.Errorf(codes.AlreadyExists, "%s is there already and not ours, it has no %s: move it away or use another --dir", path, markerFile)
}

// createFolder makes the member's folder, with its marker and an empty data
// folder. A folder that exists already is an error.
func createFolder(work *os.Root, run, databaseName string) (*folder, error) {
	f := &folder{work: work, name: filepath.Join(run, databaseName)}
	f.path = filepath.Join(work.Name(), f.name)
	f.marker = marker{Run: run, Database: databaseName, Nonce: rand.Text()}
	if err := absent(work, f.name); err != nil {
		return nil, err
	}
	if err := work.MkdirAll(run, 0o750); err != nil {
		return nil, diskStatus("make the member's folder", err)
	}
	// Not MkdirAll: whoever makes it first owns it.
	if err := work.Mkdir(f.name, 0o750); err != nil {
		return nil, diskStatus("make the member's folder", err)
	}
	if err := f.fill(); err != nil {
		return nil, errors.Join(diskStatus("fill the member's folder", err), f.remove())
	}
	return f, nil
}

func (f *folder) fill() error {
	text, err := json.MarshalIndent(f.marker, "", "  ")
	if err != nil {
		return err
	}
	if err := f.work.WriteFile(filepath.Join(f.name, markerFile), append(text, '\n'), 0o600); err != nil {
		// Without a marker it could never be removed.
		return errors.Join(err, f.work.RemoveAll(f.name))
	}
	return f.work.Mkdir(filepath.Join(f.name, dataFolder), 0o700)
}

// ours returns an error unless the folder still has the marker of this start.
func (f *folder) ours() error {
	text, err := f.work.ReadFile(filepath.Join(f.name, markerFile))
	if err != nil {
		return fmt.Errorf("%s is kept: %w", f.path, err)
	}
	var found marker
	if err := json.Unmarshal(text, &found); err != nil || found != f.marker {
		return fmt.Errorf("%s is kept: its %s is not of this start", f.path, markerFile)
	}
	return nil
}

// remove deletes everything, after a start that came to nothing.
func (f *folder) remove() error {
	if _, err := f.work.Lstat(f.name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := f.ours(); err != nil {
		return err
	}
	if err := f.work.RemoveAll(f.name); err != nil {
		return fmt.Errorf("remove the member's folder: %w", err)
	}
	_ = f.work.Remove(filepath.Dir(f.name)) // the run's, unless it holds more
	return nil
}

// removeData deletes the member's data, and nothing else.
func (f *folder) removeData() error {
	if err := f.ours(); err != nil {
		return err
	}
	if err := f.work.RemoveAll(filepath.Join(f.name, dataFolder)); err != nil {
		return fmt.Errorf("remove the member's data: %w", err)
	}
	return nil
}

// write makes the launch's files in the data folder.
func (f *folder) write(files []database.File) (err error) {
	data, err := f.work.OpenRoot(filepath.Join(f.name, dataFolder))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	for _, file := range files {
		name, err := filepath.Rel(filepath.Join(f.path, dataFolder), file.Path)
		if err != nil {
			return err
		}
		if err := data.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := data.WriteFile(name, []byte(file.Content), file.Mode.Perm()); err != nil {
			return err
		}
	}
	return nil
}

// bytes sums the sizes of the files below the given absolute folders: the
// apparent size, as the published tables have it, which counts what a store
// preallocated and not how many blocks the file system gave for it.
func (f *folder) bytes(dirs []string) (int64, error) {
	var sum int64
	for _, dir := range dirs {
		name, err := filepath.Rel(f.work.Name(), dir)
		if err != nil {
			return 0, fmt.Errorf("measure %s: %w", dir, err)
		}
		err = fs.WalkDir(f.work.FS(), filepath.ToSlash(name), func(_ string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return ignoreMissing(err)
			}
			info, err := entry.Info()
			if err != nil {
				return ignoreMissing(err)
			}
			sum += info.Size()
			return nil
		})
		if err != nil {
			return 0, fmt.Errorf("measure %s: %w", dir, err)
		}
	}
	return sum, nil
}

// ignoreMissing forgives a file that went away while it was looked at.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
