//go:build linux

package agent

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/internal/process"
	"github.com/dbtester/dbtester/internal/removal"
)

// dataFolder is what the agent makes in the folder of a member, beside its
// marker and the files of package result.
const dataFolder = "data"

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
// folder. A folder that exists already is an error. The user is whom the
// member runs as, or nil.
func createFolder(work *os.Root, run, databaseName string, user *process.User) (*folder, error) {
	f := &folder{work: work, name: filepath.Join(run, databaseName)}
	f.path = filepath.Join(work.Name(), f.name)
	nonce := rand.Text()
	f.marker = marker{Run: run, Database: databaseName, Nonce: nonce, State: stateRunning, Group: process.GroupPath(nonce)}
	if err := absent(work, f.name); err != nil {
		return nil, err
	}
	if err := work.MkdirAll(run, folderMode(user)); err != nil {
		return nil, diskStatus("make the member's folder", err)
	}
	// What is made there must be removable again.
	if err := removal.Check(work, run); err != nil {
		return nil, diskStatus("make the member's folder", err)
	}
	// Not MkdirAll: whoever makes it first owns it.
	if err := work.Mkdir(f.name, folderMode(user)); err != nil {
		return nil, diskStatus("make the member's folder", err)
	}
	if err := f.open(user); err != nil {
		return nil, errors.Join(diskStatus("open the member's folder", err), f.work.Remove(f.name))
	}
	if err := f.fill(); err != nil {
		return nil, errors.Join(diskStatus("fill the member's folder", err), f.remove())
	}
	return f, nil
}

// open lets another user through to the data, whatever the umask and whoever
// made the run's folder.
func (f *folder) open(user *process.User) error {
	if user == nil {
		return nil
	}
	mode := folderMode(user)
	return errors.Join(f.work.Chmod(filepath.Dir(f.name), mode), f.work.Chmod(f.name, mode))
}

func (f *folder) fill() error {
	if err := f.marker.write(f.work, f.name); err != nil {
		// Without a marker it could never be removed.
		return errors.Join(err, removal.All(f.work, f.name))
	}
	return f.work.Mkdir(filepath.Join(f.name, dataFolder), 0o700)
}

// remove deletes everything, after a start that came to nothing.
func (f *folder) remove() error {
	if _, err := f.work.Lstat(f.name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := f.ours(); err != nil {
		return err
	}
	if err := removal.All(f.work, f.name); err != nil {
		return fmt.Errorf("remove the member's folder in %s: %w", f.work.Name(), err)
	}
	_ = f.work.Remove(filepath.Dir(f.name)) // the run's, unless it holds more
	return nil
}

// removeData deletes the member's data, and nothing else, and notes it.
func (f *folder) removeData() error {
	if err := f.ours(); err != nil {
		return err
	}
	if err := removal.All(f.work, filepath.Join(f.name, dataFolder)); err != nil {
		return fmt.Errorf("remove the member's data in %s: %w", f.work.Name(), err)
	}
	return f.note(stateStopped)
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
