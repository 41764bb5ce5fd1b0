//go:build linux

package monitor

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
	"golang.org/x/sys/unix"
)

// errNoDevice is why [DeviceOf] found nothing.
var errNoDevice = errors.New("no block device found behind it: name one with --device, as in /proc/diskstats")

// DeviceOf returns the block device that holds the folder dir, by its name in
// /proc/diskstats: a disk, a partition, or a volume made of them. A folder in
// memory, or on a file system that has no device of its own, is an error.
func DeviceOf(dir string) (string, error) { return DeviceIn(DefaultProcRoot, dir) }

// DeviceIn is [DeviceOf] with another folder like /proc.
func DeviceIn(procRoot, dir string) (string, error) {
	proc, block, err := openProc(procRoot)
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("find the device of %s: %w", dir, err)
	}
	disks, err := block.ProcDiskstats()
	if err != nil {
		return "", fmt.Errorf("find the device of %s: %w", dir, err)
	}
	finder := deviceFinder{disks: disks, stat: statDevice}
	// Without mounts the device of the folder itself may still do.
	if self, err := proc.Self(); err == nil {
		finder.mounts, _ = self.MountInfo()
	}
	if name, found := finder.find(path); found {
		return name, nil
	}
	return "", fmt.Errorf("find the device of %s: %w", dir, errNoDevice)
}

// Devices returns the names of all block devices in diskstats.
func Devices(procRoot string) ([]string, error) {
	_, block, err := openProc(procRoot)
	if err != nil {
		return nil, err
	}
	disks, err := block.ProcDiskstats()
	if err != nil {
		return nil, fmt.Errorf("read diskstats: %w", err)
	}
	names := make([]string, 0, len(disks))
	for _, d := range disks {
		names = append(names, d.DeviceName)
	}
	return names, nil
}

// deviceNumber is a major and minor number.
type deviceNumber struct{ major, minor uint32 }

// A deviceFinder follows a path to its device.
type deviceFinder struct {
	disks  []blockdevice.Diskstats
	mounts []*procfs.MountInfo
	// stat returns the device that holds a file, and the device that the file
	// is, if it is one.
	stat func(path string) (holder, self deviceNumber, err error)
}

func (f deviceFinder) find(path string) (string, bool) {
	if holder, _, err := f.stat(path); err == nil {
		if name, found := f.numbered(holder); found {
			return name, true
		}
	}
	// btrfs gives files a number that no device has, and overlay keeps them
	// in a folder of another file system: the mount tells the rest.
	mount := f.mountOf(path)
	if mount == nil {
		return "", false
	}
	if _, self, err := f.stat(mount.Source); err == nil {
		if name, found := f.numbered(self); found {
			return name, true
		}
	}
	if holder, _, err := f.stat(mount.SuperOptions["upperdir"]); err == nil {
		return f.numbered(holder)
	}
	return "", false
}

// numbered returns the disk with that number.
func (f deviceFinder) numbered(n deviceNumber) (string, bool) {
	for _, d := range f.disks {
		if n != (deviceNumber{}) && d.MajorNumber == n.major && d.MinorNumber == n.minor {
			return d.DeviceName, true
		}
	}
	return "", false
}

// mountOf returns the mount a path is on: the longest prefix, and of several
// mounted over each other the last.
func (f deviceFinder) mountOf(path string) *procfs.MountInfo {
	var best *procfs.MountInfo
	longest := -1
	for _, m := range f.mounts {
		point := unescapeMount(m.MountPoint)
		inside := path == point || strings.HasPrefix(path, strings.TrimSuffix(point, "/")+"/")
		if inside && len(point) >= longest {
			best, longest = m, len(point)
		}
	}
	return best
}

// unescapeMount undoes how mountinfo writes blanks in paths.
func unescapeMount(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

func statDevice(path string) (holder, self deviceNumber, err error) {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return deviceNumber{}, deviceNumber{}, err
	}
	if s.Mode&unix.S_IFMT == unix.S_IFBLK {
		self = deviceNumber{unix.Major(s.Rdev), unix.Minor(s.Rdev)}
	}
	return deviceNumber{unix.Major(s.Dev), unix.Minor(s.Dev)}, self, nil
}
