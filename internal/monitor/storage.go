//go:build linux

package monitor

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/dbtester/dbtester/result"
)

// storage tells of the disk and file system that hold a folder.
func (f *facts) storage(dir string) {
	path, err := filepath.Abs(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return
	}
	if name, err := DeviceIn(filepath.Join(f.root, "proc"), path); err == nil {
		f.device(name)
	}
	if proc, err := procfs.NewFS(filepath.Join(f.root, "proc")); err == nil {
		if self, err := proc.Self(); err == nil {
			mounts, _ := self.MountInfo()
			f.mount(deviceFinder{mounts: mounts}.mountOf(path))
		}
	}
	var space unix.Statfs_t
	if err := unix.Statfs(path, &space); err == nil {
		block := uint64(max(space.Bsize, 0))
		f.add("data file system, free", humanize.Bytes(space.Bavail*block)+" of "+humanize.Bytes(space.Blocks*block))
	}
}

// device tells of a block device: which it is, why its counters are the ones
// that count, and of what it is made.
func (f *facts) device(name string) {
	class := filepath.Join("sys/class/block", name)
	disk := name
	if f.text(filepath.Join(class, "partition")) != "" {
		// /sys/class/block/sda1 is a link to …/block/sda/sda1.
		if real, err := filepath.EvalSymlinks(filepath.Join(f.root, class)); err == nil {
			disk = filepath.Base(filepath.Dir(real))
			class = filepath.Join("sys/class/block", disk)
		}
	}
	below := f.below(class)
	switch {
	case disk != name:
		f.add(result.FactDevice, name+", a partition of "+disk+"; its own operations are counted, flushes are those of the whole disk")
	case len(below) > 0:
		f.add(result.FactDevice, name+", a volume on "+strings.Join(below, ", ")+"; the operations that reach the volume are counted")
	default:
		f.add(result.FactDevice, name+", a whole disk")
	}
	// "LVM-…" or "CRYPT-…": what follows the kind names the volume.
	if kind, _, found := strings.Cut(f.text(filepath.Join(class, "dm/uuid")), "-"); found {
		f.add("data device, volume", kind)
	}
	models := []string{f.model(class)}
	for _, b := range below {
		models = append(models, f.model(filepath.Join("sys/class/block", b)))
	}
	models = slices.DeleteFunc(models, func(m string) bool { return m == "" })
	f.add(result.FactDiskModel, strings.Join(slices.Compact(models), ", "))
	switch f.text(filepath.Join(class, "queue/rotational")) {
	case "0":
		f.add(result.FactRotational, "no")
	case "1":
		f.add(result.FactRotational, "yes")
	}
	f.add("data device, scheduler", chosen(f.text(filepath.Join(class, "queue/scheduler"))))
	f.add("data device, write cache", f.text(filepath.Join(class, "queue/write_cache")))
}

// below lists the devices a volume is made of.
func (f *facts) below(class string) []string {
	entries, err := os.ReadDir(filepath.Join(f.root, class, "slaves"))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func (f *facts) model(class string) string {
	if model := f.text(filepath.Join(class, "device/model")); model != "" {
		return model
	}
	// A partition has none of its own.
	if real, err := filepath.EvalSymlinks(filepath.Join(f.root, class)); err == nil {
		if data, err := os.ReadFile(filepath.Join(filepath.Dir(real), "device/model")); err == nil {
			return strings.TrimSpace(string(data))
		}
	}
	return ""
}

// mount tells the file system and how it is mounted.
func (f *facts) mount(m *procfs.MountInfo) {
	if m == nil {
		return
	}
	f.add(result.FactFileSystem, m.FSType)
	options := map[string]string{}
	for _, set := range []map[string]string{m.SuperOptions, m.Options} {
		maps.Copy(options, set)
	}
	var list []string
	for name, value := range options {
		switch {
		case value == "":
			list = append(list, name)
		case strings.ContainsAny(value, "/:.@"): // a folder or a machine
			list = append(list, name+"=…")
		default:
			list = append(list, name+"="+value)
		}
	}
	slices.Sort(list)
	f.add("data file system, mounted", strings.Join(list, ","))
}
