//go:build linux

package lifeline

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// GroupPrefix begins the name of every control group of ours.
const GroupPrefix = "dbtester-"

// A Group is a control group of version 2 that holds one member's tree.
// It is acted on through open directories: none of it is found by a path twice.
type Group struct {
	name        string
	dir, parent int // file descriptors
}

// FindParent returns the directory of the control group this process lives in,
// where a group of its own would stand.
func FindParent() (string, error) {
	mount, err := unifiedMount()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if own, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			return strings.TrimSuffix(mount+own, "/"), nil
		}
	}
	return "", errors.New("this process lives in no control group of version 2")
}

// unifiedMount finds where the tree of version 2 is mounted: alone, or beside
// those of version 1.
func unifiedMount() (string, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		before, after, _ := strings.Cut(line, " - ")
		if fields := strings.Fields(before); strings.HasPrefix(after, "cgroup2 ") && len(fields) > 4 {
			return fields[4], nil
		}
	}
	return "", errors.New("no control groups of version 2 are mounted")
}

// CreateGroup makes the group of a nonce below the directory parent.
func CreateGroup(parent, nonce string) (*Group, error) {
	g := &Group{name: GroupPrefix + nonce, dir: -1}
	var err error
	if g.parent, err = openGroupDir(unix.AT_FDCWD, parent); err != nil {
		return nil, err
	}
	if err := unix.Mkdirat(g.parent, g.name, 0o755); err != nil {
		g.Close()
		return nil, &os.PathError{Op: "mkdir", Path: parent + "/" + g.name, Err: err}
	}
	if g.dir, err = openGroupDir(g.parent, g.name); err != nil {
		return nil, errors.Join(err, unix.Unlinkat(g.parent, g.name, unix.AT_REMOVEDIR))
	}
	return g, nil
}

// OpenGroup opens a group that was made before, os.ErrNotExist if it is gone.
func OpenGroup(parent, nonce string) (*Group, error) {
	g := &Group{name: GroupPrefix + nonce, dir: -1}
	var err error
	if g.parent, err = openGroupDir(unix.AT_FDCWD, parent); err != nil {
		return nil, err
	}
	if g.dir, err = openGroupDir(g.parent, g.name); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// openGroupDir opens a directory only if it is one of control groups.
func openGroupDir(at int, name string) (int, error) {
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: name, Err: err}
	}
	var stat unix.Statfs_t
	if err := unix.Fstatfs(fd, &stat); err != nil || stat.Type != unix.CGROUP2_SUPER_MAGIC {
		_ = unix.Close(fd)
		return -1, errors.New(name + " is no control group of version 2")
	}
	return fd, nil
}

// Name of the group's directory.
func (g *Group) Name() string { return g.name }

// Dir returns the open directory of the group, which stays the group's.
func (g *Group) Dir() int { return g.dir }

// Close closes the directories and leaves the group as it is.
func (g *Group) Close() {
	for _, fd := range []int{g.dir, g.parent} {
		if fd >= 0 {
			_ = unix.Close(fd) // a directory, nothing was written
		}
	}
}

// End kills all that is in the group, whatever session or process group it
// went to, and removes the group once it is empty. It tries no longer than the
// time given. Ending a group that is gone is no error.
func (g *Group) End(within time.Duration) error {
	if err := g.Kill(within); err != nil {
		return err
	}
	err := unix.Unlinkat(g.parent, g.name, unix.AT_REMOVEDIR)
	if errors.Is(err, unix.EBUSY) { // the member made groups of its own in it
		removeBelow(g.dir)
		err = unix.Unlinkat(g.parent, g.name, unix.AT_REMOVEDIR)
	}
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return &os.PathError{Op: "remove control group", Path: g.name, Err: err}
	}
	return nil
}

// removeBelow removes the empty groups in the directory of another. What cannot
// be removed shows when that one cannot be.
func removeBelow(dir int) {
	fd, err := unix.Openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	file := os.NewFile(uintptr(fd), ".")
	names, _ := file.Readdirnames(-1)
	_ = file.Close() // it was only read
	for _, name := range names {
		if below, err := openGroupDir(dir, name); err == nil {
			removeBelow(below)
			_ = unix.Close(below)
			_ = unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
		}
	}
}

// Kill is End without the removal.
func (g *Group) Kill(within time.Duration) error {
	deadline := time.Now().Add(within)
	events, err := g.open("cgroup.events", unix.O_RDONLY)
	if gone(err) {
		return nil
	} else if err != nil {
		return err
	}
	defer func() { _ = unix.Close(events) }()
	for {
		if err := g.killOnce(); gone(err) {
			return nil
		} else if err != nil {
			return err
		}
		text := make([]byte, 256)
		n, err := unix.Pread(events, text, 0) // also arms the poll below
		if gone(err) || err == nil && strings.Contains(string(text[:n]), "populated 0") {
			return nil
		}
		left := time.Until(deadline)
		if left <= 0 {
			return errors.New("control group " + g.name + ": something is there still after " + within.String() + " of SIGKILL")
		}
		// Poll for no more than a while: a group of an old kernel may get new
		// members between two rounds of killing.
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(events), Events: unix.POLLPRI}}, int(min(left, 100*time.Millisecond).Milliseconds())+1)
	}
}

// killOnce kills what is there now: with one write where the kernel can
// (since 5.14), else one by one.
func (g *Group) killOnce() error {
	fd, err := g.open("cgroup.kill", unix.O_WRONLY)
	if errors.Is(err, unix.ENOENT) {
		return g.killEach()
	} else if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	_, err = unix.Write(fd, []byte("1"))
	return err
}

// killEach kills the processes of the group one by one, each held by a pidfd
// while it is looked up a second time: its number may have gone to another.
func (g *Group) killEach() error {
	pids, err := g.processes()
	if err != nil {
		return err
	}
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue // it has ended
		}
		own, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
		if err == nil && strings.Contains(string(own), "/"+g.name+"\n") {
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // it may have ended
		}
		_ = unix.Close(fd)
	}
	return nil
}

func (g *Group) processes() ([]int, error) {
	fd, err := g.open("cgroup.procs", unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "cgroup.procs")
	defer file.Close()
	var pids []int
	text := make([]byte, 64<<10) // of some ten thousand processes; the rest is read the next time
	n, _ := file.Read(text)      // at the end there is nothing to read
	if n == 0 {
		return nil, nil // nobody is there
	}
	for word := range strings.FieldsSeq(string(text[:n])) {
		if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

func (g *Group) open(name string, flags int) (int, error) {
	return unix.Openat(g.dir, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// gone reports whether the error says that the group was removed: under its
// open directory there are no files then, or files without a device.
func gone(err error) bool { return errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ENOENT) }
