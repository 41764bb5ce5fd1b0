//go:build linux

package monitor

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"golang.org/x/sys/unix"

	"github.com/dbtester/dbtester/result"
)

// maxFact bounds a value: whoever makes the machine up may write anything there.
const maxFact = 256

// facts collects what the kernel tells of a machine. What cannot be read is
// left out. Nothing here names the machine: no host name, no serial number, no
// hardware address, no path.
type facts struct {
	root string // "/", or a captured tree
	list []result.Fact
}

// machineFacts are the facts about the machine, and about the disk that holds
// the folder dir, if one is named.
func machineFacts(root, dir string) []result.Fact {
	f := &facts{root: root}
	f.processor()
	f.virtual()
	f.clock()
	f.limits()
	f.kernel()
	if dir != "" {
		f.storage(dir)
	}
	return f.list
}

// add keeps a fact, if there is one.
func (f *facts) add(name, value string) {
	value = printable(strings.TrimSpace(value))
	if value == "" {
		return
	}
	if len(value) > maxFact {
		value = strings.ToValidUTF8(value[:maxFact], "") + "…"
	}
	f.list = append(f.list, result.Fact{Name: name, Value: value})
}

// text reads a small file, or nothing.
func (f *facts) text(path string) string {
	data, err := os.ReadFile(filepath.Clean(filepath.Join(f.root, path)))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// value reads the first line "key SEPARATOR value" of a file.
func (f *facts) value(path, key, separator string) string {
	return parseValue(strings.NewReader(f.text(path)), key, separator)
}

func (f *facts) processor() {
	if mhz, err := strconv.ParseFloat(f.value("proc/cpuinfo", "cpu MHz", ":"), 64); err == nil {
		f.add("cpu clock", fmt.Sprintf("%.0f MHz", mhz))
	}
	if khz, err := strconv.ParseFloat(f.text("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"), 64); err == nil {
		f.add("cpu clock, highest", fmt.Sprintf("%.0f MHz", khz/1000))
	}
	f.add("cpu governor", f.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
	if kib, _, ok := strings.Cut(f.value("proc/meminfo", "SwapTotal", ":"), " "); ok {
		if n, err := strconv.ParseUint(kib, 10, 50); err == nil {
			f.add("swap", humanize.Bytes(n<<10))
		}
	}
}

// virtual tells what stands between the kernel and the hardware.
func (f *facts) virtual() {
	flags := " " + f.value("proc/cpuinfo", "flags", ":") + " "
	if strings.Contains(flags, " hypervisor ") {
		f.add("virtual machine", "yes")
	} else if strings.TrimSpace(flags) != "" {
		f.add("virtual machine", "no")
	}
	f.add("hypervisor", f.text("sys/hypervisor/type"))
	f.add("machine", f.text("sys/class/dmi/id/sys_vendor")+" "+f.text("sys/class/dmi/id/product_name"))
	for path, kind := range map[string]string{".dockerenv": "docker", "run/.containerenv": "podman"} {
		if _, err := os.Stat(filepath.Join(f.root, path)); err == nil {
			f.add("container", kind)
		}
	}
}

func (f *facts) clock() {
	f.add("clock source", f.text("sys/devices/system/clocksource/clocksource0/current_clocksource"))
	if f.root != "/" {
		return
	}
	var state unix.Timex // asks and sets nothing
	if _, err := unix.Adjtimex(&state); err == nil {
		f.add("clock kept by NTP", map[bool]string{true: "no", false: "yes"}[state.Status&unix.STA_UNSYNC != 0])
	}
}

// limits are those of this process, which its members inherit unless the agent
// sets others.
func (f *facts) limits() {
	text := f.text("proc/self/limits")
	for _, name := range []string{"open files", "processes", "file size", "locked memory", "core file size"} {
		line, found := after([]byte(text), "Max "+name)
		if !found {
			continue
		}
		w := words{line}
		soft, hard := string(w.next()), string(w.next())
		f.add("ulimit "+name, soft+", at most "+hard)
	}
}

// kernel are the settings that have changed the outcome of benchmarks.
func (f *facts) kernel() {
	f.add("transparent huge pages", chosen(f.text("sys/kernel/mm/transparent_hugepage/enabled")))
	for _, name := range []string{
		"vm.swappiness", "vm.dirty_ratio", "vm.dirty_background_ratio", "vm.dirty_bytes", "vm.dirty_background_bytes",
		"vm.dirty_expire_centisecs", "vm.dirty_writeback_centisecs", "vm.overcommit_memory", "vm.max_map_count",
		"fs.file-max", "fs.nr_open",
		"net.core.somaxconn", "net.core.netdev_max_backlog", "net.core.rmem_max", "net.core.wmem_max", "net.core.default_qdisc",
		"net.ipv4.tcp_max_syn_backlog", "net.ipv4.tcp_congestion_control", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
		"net.ipv4.tcp_tw_reuse", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_max_tw_buckets",
		"net.ipv4.ip_local_port_range", "kernel.sched_autogroup_enabled",
	} {
		f.add(name, strings.Join(strings.Fields(f.text("proc/sys/"+strings.ReplaceAll(name, ".", "/"))), " "))
	}
}

// chosen returns the word in brackets of "always [madvise] never", or the one
// word there is.
func chosen(text string) string {
	if _, rest, found := strings.Cut(text, "["); found {
		word, _, _ := strings.Cut(rest, "]")
		return word
	}
	return text
}
