//go:build linux

package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/dbtester/dbtester/internal/process"
)

// checkRunAs finds the user that members are to run as; nil if name is empty.
func checkRunAs(name string) (*process.User, error) {
	if name == "" {
		return nil, nil
	}
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("--run-as %s: only root can start a member as another user; start the agent as root or leave --run-as out", name)
	}
	user, err := process.LookupUser(name)
	if err != nil {
		return nil, fmt.Errorf("--run-as %s: %w; make it with useradd --system %s", name, err, name)
	}
	if user.UID == 0 {
		return nil, fmt.Errorf("--run-as %s: that is root; name a user without rights", name)
	}
	return user, nil
}

// checkReach returns an error that names the folder on the way to path that
// the user may not enter.
func checkReach(user *process.User, path string) error {
	if user == nil {
		return nil
	}
	var way []string
	for at := path; ; at = filepath.Dir(at) {
		way = append(way, at)
		if at == filepath.Dir(at) {
			break
		}
	}
	for _, at := range slices.Backward(way) {
		info, err := os.Stat(at)
		if err != nil {
			return err
		}
		if !mayEnter(user, info) {
			return fmt.Errorf("user %s cannot enter %s (%v): chmod o+x it, or use another place", user.Name, at, info.Mode())
		}
	}
	return nil
}

// mayEnter looks at the mode bits only: access lists are not asked.
func mayEnter(user *process.User, info fs.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return true
	case int(owner.Uid) == user.UID:
		return info.Mode()&0o100 != 0
	case int(owner.Gid) == user.GID:
		return info.Mode()&0o010 != 0
	default:
		return info.Mode()&0o001 != 0
	}
}

// folderMode is that of the folders above the data: a member of another user
// must get through, and see nothing of others.
func folderMode(user *process.User) fs.FileMode {
	if user == nil {
		return 0o750
	}
	return 0o711
}

// give makes the user the owner of the data folder and of all in it, while no
// member runs that could exchange any of it.
func (f *folder) give(user *process.User) error {
	if user == nil {
		return nil
	}
	data := filepath.Join(f.name, dataFolder)
	return fs.WalkDir(f.work.FS(), filepath.ToSlash(data), func(name string, _ fs.DirEntry, err error) error {
		return errors.Join(err, f.work.Lchown(filepath.FromSlash(name), user.UID, user.GID))
	})
}
