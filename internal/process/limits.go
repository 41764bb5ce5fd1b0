//go:build linux

package process

import (
	"cmp"
	"fmt"
	"os/user"
	"strconv"

	"golang.org/x/sys/unix"
)

// Defaults of [Limits].
const (
	// MaxOpenFiles is the default limit on open files where the parent may
	// have more: the kernel's own bound unless it was raised (fs.nr_open).
	MaxOpenFiles = 1 << 20
	// MaxFileBytes is the default limit on the size of a file: several times
	// the largest data file of a run of millions of keys, and less than would
	// fill a disk unseen.
	MaxFileBytes = 64 << 30
)

// Limits are a child's resource limits, soft and hard. The zero value stands
// for the defaults.
type Limits struct {
	// OpenFiles is RLIMIT_NOFILE; 0 means as many as this process may have, at
	// most [MaxOpenFiles].
	OpenFiles uint64
	// FileBytes is RLIMIT_FSIZE; 0 means [MaxFileBytes].
	FileBytes uint64
	// CoreBytes is RLIMIT_CORE; 0 means that no core is dumped.
	CoreBytes uint64
}

// Effective returns the limits with the defaults filled in and never above the
// hard limits of this process, which only root can exceed.
func (l Limits) Effective() (Limits, error) {
	l.FileBytes = cmp.Or(l.FileBytes, MaxFileBytes)
	wanted := l.OpenFiles
	l.OpenFiles = cmp.Or(l.OpenFiles, MaxOpenFiles)
	for _, limit := range []struct {
		name     string
		resource int
		value    *uint64
		lower    bool
	}{
		{"open files", unix.RLIMIT_NOFILE, &l.OpenFiles, wanted == 0},
		{"the size of a file", unix.RLIMIT_FSIZE, &l.FileBytes, true},
		{"the size of a core", unix.RLIMIT_CORE, &l.CoreBytes, true},
	} {
		var own unix.Rlimit
		if err := unix.Getrlimit(limit.resource, &own); err != nil {
			return l, fmt.Errorf("read our own limit on %s: %w", limit.name, err)
		}
		if *limit.value > own.Max && !limit.lower {
			return l, fmt.Errorf("a limit of %d on %s: our own hard limit is %d; raise that or ask for less", *limit.value, limit.name, own.Max)
		}
		*limit.value = min(*limit.value, own.Max)
	}
	return l, nil
}

// A User is whom a child runs as.
type User struct {
	Name     string
	UID, GID int
}

// LookupUser finds a user of this machine by name.
func LookupUser(name string) (*User, error) {
	found, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	u := &User{Name: name}
	if u.UID, err = strconv.Atoi(found.Uid); err != nil {
		return nil, fmt.Errorf("user %s has the id %q: %w", name, found.Uid, err)
	}
	if u.GID, err = strconv.Atoi(found.Gid); err != nil {
		return nil, fmt.Errorf("user %s has the group id %q: %w", name, found.Gid, err)
	}
	return u, nil
}
