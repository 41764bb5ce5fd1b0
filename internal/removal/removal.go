//go:build linux

// Package removal deletes a directory tree and nothing else: it goes through
// no symbolic link and over no mount point, and refuses before it has deleted
// anything. It needs Linux 5.8 or later.
package removal

import (
	"errors"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// Why a tree is kept.
var (
	// ErrLink says that the way to the tree leads through a symbolic link.
	ErrLink = errors.New("the way leads through a symbolic link")
	// ErrMount says that the tree is, or holds, a mount point.
	ErrMount = errors.New("something is mounted there: unmount it first")
	// ErrDeep says that the tree is deeper than any store makes one.
	ErrDeep = errors.New("deeper than 100 folders")
)

// maxDepth bounds the open files of a walk: one for each level.
const maxDepth = 100

// strictly is how every directory is opened.
const strictly = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV

// Check returns an error unless name is a directory below root, reached through
// no symbolic link and on the very mount of root.
func Check(root *os.Root, name string) error {
	dir, err := open(root, name)
	if err != nil {
		return err
	}
	return unix.Close(dir)
}

// All deletes the directory name below root and everything in it. A symbolic
// link in it is deleted, what it leads to is not. If the tree holds a mount
// point nothing is deleted, unless it was mounted meanwhile: then that and what
// is above it stay. It is no error if the directory does not exist.
func All(root *os.Root, name string) error {
	dir, err := open(root, name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer func() { _ = unix.Close(dir) }()
	var own unix.Statx_t
	if err := unix.Statx(dir, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS, &own); err != nil {
		return at(name, err)
	}
	w := walk{major: own.Dev_major, minor: own.Dev_minor}
	if err := w.tree(dir, name, 0, nothing); err != nil {
		return err
	}
	if err := w.tree(dir, name, 0, unix.Unlinkat); err != nil {
		return err
	}
	return at(name, root.Remove(name))
}

func open(root *os.Root, name string) (int, error) {
	top, err := root.Open(".")
	if err != nil {
		return -1, err
	}
	defer top.Close()
	return openAt(int(top.Fd()), name, name)
}

func openAt(dir int, name, shown string) (int, error) {
	fd, err := unix.Openat2(dir, name, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: strictly,
	})
	return fd, at(shown, err)
}

// at names the place and gives the kernel's refusals their reason.
func at(place string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ELOOP):
		err = ErrLink
	case errors.Is(err, unix.EXDEV), errors.Is(err, unix.EBUSY):
		err = ErrMount
	}
	return fmt.Errorf("%s: %w", place, err)
}

// A walk stays on one device.
type walk struct{ major, minor uint32 }

// nothing is a remove for looking only.
func nothing(int, string, int) error { return nil }

// tree calls remove for everything in the directory, the deepest first.
func (w walk) tree(dir int, shown string, depth int, remove func(dir int, name string, flags int) error) error {
	if depth > maxDepth {
		return at(shown, ErrDeep)
	}
	names, err := list(dir)
	if err != nil {
		return at(shown, err)
	}
	for _, name := range names {
		place := path.Join(shown, name)
		isDir, err := w.look(dir, name)
		if errors.Is(err, unix.ENOENT) {
			continue
		} else if err != nil {
			return at(place, err)
		}
		flags := 0
		if isDir {
			flags = unix.AT_REMOVEDIR
			if err := w.below(dir, name, place, depth, remove); err != nil {
				return err
			}
		}
		if err := remove(dir, name, flags); err != nil && !errors.Is(err, unix.ENOENT) {
			return at(place, err)
		}
	}
	return nil
}

func (w walk) below(dir int, name, place string, depth int, remove func(dir int, name string, flags int) error) error {
	fd, err := openAt(dir, name, place)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return w.tree(fd, place, depth+1, remove)
}

// look tells whether an entry is a directory, or that it is mounted.
func (w walk) look(dir int, name string) (isDir bool, err error) {
	var found unix.Statx_t
	const flags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	if err := unix.Statx(dir, name, flags, unix.STATX_BASIC_STATS, &found); err != nil {
		return false, err
	}
	if found.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0 || found.Dev_major != w.major || found.Dev_minor != w.minor {
		return false, ErrMount
	}
	return found.Mode&unix.S_IFMT == unix.S_IFDIR, nil
}

// list reads the names in an open directory, which stays the caller's.
func list(dir int) ([]string, error) {
	fd, err := unix.Openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0) // its own position
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), ".")
	defer file.Close()
	return file.Readdirnames(-1)
}
