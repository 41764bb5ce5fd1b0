//go:build linux

package monitor

import (
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/procfs/blockdevice"
)

func fixtureFinder(t *testing.T) deviceFinder {
	t.Helper()
	proc, block, err := openProc(filepath.Join("testdata", "proc"))
	if err != nil {
		t.Fatal(err)
	}
	disks, err := block.ProcDiskstats()
	if err != nil {
		t.Fatal(err)
	}
	self, err := proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	mounts, err := self.MountInfo()
	if err != nil {
		t.Fatal(err)
	}
	return deviceFinder{disks: disks, mounts: mounts}
}

func TestFindDevice(t *testing.T) {
	// What stat says on the machine of the fixture.
	holders := map[string]deviceNumber{
		"/data":               {259, 2}, // ext4 on a partition
		"/srv/my data/etcd":   {0, 52},  // btrfs makes numbers up
		"/box/data":           {0, 41},  // overlay in a folder of the partition
		"/upper":              {259, 2},
		"/dev/shm/data":       {0, 23}, // memory
		"/dev/mapper/vg-data": {0, 6},
	}
	devices := map[string]deviceNumber{"/dev/mapper/vg-data": {253, 1}, "/dev/root": {259, 2}}
	finder := fixtureFinder(t)
	finder.stat = func(path string) (holder, self deviceNumber, err error) {
		holder, found := holders[path]
		if !found {
			err = os.ErrNotExist
		}
		return holder, devices[path], err
	}
	tests := []struct{ name, path, want string }{
		{"partition", "/data", "nvme0n1p2"},
		{"btrfs on a volume", "/srv/my data/etcd", "dm-1"},
		{"overlay", "/box/data", "nvme0n1p2"},
		{"memory", "/dev/shm/data", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, found := finder.find(tt.path)
			if got != tt.want || found != (tt.want != "") {
				t.Errorf("find(%s) = %q, %t, want %q", tt.path, got, found, tt.want)
			}
		})
	}
}

func TestMountOf(t *testing.T) {
	finder := fixtureFinder(t)
	tests := map[string]string{
		"/":              "/",
		"/home":          "/",
		"/boxer":         "/",
		"/box":           "/box",
		"/dev/shm/a":     "/dev/shm",
		"/srv/my data/x": `/srv/my\040data`,
	}
	for path, want := range tests {
		if got := finder.mountOf(path); got == nil || got.MountPoint != want {
			t.Errorf("mountOf(%s) = %+v, want %s", path, got, want)
		}
	}
}

// TestDeviceIn asks for a folder of this machine in the fixture, whose
// diskstats get this machine's number.
func TestDeviceIn(t *testing.T) {
	root := fixture(t)
	holder, _, err := statDevice(root)
	if err != nil {
		t.Fatal(err)
	}
	if name, err := DeviceIn(root, root); err == nil {
		t.Errorf("DeviceIn = %s without such a device", name)
	} else if !strings.Contains(err.Error(), "--device") {
		t.Errorf("%v: want a hint at --device", err)
	}
	if holder.major == 0 {
		t.Skip("the test's folder is on no block device")
	}
	writeDisk(t, root, blockdevice.Diskstats{Info: blockdevice.Info{
		MajorNumber: holder.major, MinorNumber: holder.minor, DeviceName: "disk7",
	}})
	if name, err := DeviceIn(root, root); name != "disk7" || err != nil {
		t.Errorf("DeviceIn = %q, %v, want disk7", name, err)
	}
}

func TestDeviceErrors(t *testing.T) {
	for _, dir := range []string{"testdata/nowhere", "/proc/self"} {
		if name, err := DeviceOf(dir); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("DeviceOf(%s) = %q, %v, want an error that names it", dir, name, err)
		}
	}
}

func TestCarrier(t *testing.T) {
	networks := []network{
		{"lo", netip.MustParsePrefix("127.0.0.1/8")},
		{"lo", netip.MustParsePrefix("::1/128")},
		{"eth0", netip.MustParsePrefix("10.0.0.2/16")},
		{"eth1", netip.MustParsePrefix("10.0.1.9/24")},
		{"eth1", netip.MustParsePrefix("fe80::1/64")},
	}
	tests := map[string]string{
		"127.0.0.1": "lo", "127.0.0.2": "lo", "::1": "lo",
		"10.0.0.2": "eth0", "10.0.7.7": "eth0", "10.0.1.7": "eth1", "fe80::1": "eth1",
		"192.168.0.1": "", "::2": "",
	}
	for addr, want := range tests {
		if got := carrier(netip.MustParseAddr(addr), networks); got != want {
			t.Errorf("carrier(%s) = %q, want %q", addr, got, want)
		}
	}
}

func TestInterfaceOf(t *testing.T) {
	for _, ip := range []string{"127.0.0.1", "127.0.0.2"} {
		if got, err := InterfaceOf(ip); got != "lo" || err != nil {
			t.Errorf("InterfaceOf(%s) = %q, %v, want lo", ip, got, err)
		}
	}
	for ip, want := range map[string]string{"localhost": "IP address", "": "IP address", "240.1.2.3": "--interface"} {
		if got, err := InterfaceOf(ip); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("InterfaceOf(%q) = %q, %v, want an error with %q", ip, got, err, want)
		}
	}
}

func TestNames(t *testing.T) {
	root := filepath.Join("testdata", "proc")
	if got, err := Devices(root); err != nil || !slices.Equal(got, []string{"loop0", "nvme0n1", "nvme0n1p2", "dm-1"}) {
		t.Errorf("Devices = %q, %v", got, err)
	}
	if got, err := Interfaces(root); err != nil || !slices.Equal(got, []string{"eth0", "lo"}) {
		t.Errorf("Interfaces = %q, %v", got, err)
	}
}

func TestHost(t *testing.T) {
	host := Host(t.TempDir())
	id, err := MachineID()
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != 8 || host.MachineID != id {
		t.Errorf("MachineID = %q, in Host %q", id, host.MachineID)
	}
	if host.NetworkID == "" || host.NetworkID == id || networkID("") != "" {
		t.Errorf("NetworkID = %q, want a word of its own", host.NetworkID)
	}
	if hashID("a") == hashID("b") || hashID("a") == "a" {
		t.Error("hashID gives two boots one word, or their own")
	}
	if host.CPUs < 1 || host.MemoryBytes < 1<<26 || host.Kernel == "" || host.OpenFiles < 1 || host.Go == "" {
		t.Errorf("Host = %+v", host)
	}
}

func TestParseValue(t *testing.T) {
	text := "NAME=Debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\nmodel name\t: A CPU: fast\n"
	if got := parseValue(strings.NewReader(text), "PRETTY_NAME", "="); got != "Debian GNU/Linux 12" {
		t.Errorf("PRETTY_NAME = %q", got)
	}
	if got := parseValue(strings.NewReader(text), "model name", ":"); got != "A CPU: fast" {
		t.Errorf("model name = %q", got)
	}
	if got := parseValue(strings.NewReader(text), "none", ":"); got != "" {
		t.Errorf("none = %q", got)
	}
}

func TestListener(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := netip.MustParseAddrPort(listener.Addr().String())
	if got := Listener(address); !strings.Contains(got, "monitor.test, process ") {
		t.Errorf("Listener(%s) = %q, want this test", address, got)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if got := Listener(address); got != "" {
		t.Errorf("Listener of a closed port = %q", got)
	}
}

func writeDisk(t *testing.T, root string, d blockdevice.Diskstats) {
	t.Helper()
	edit(t, root, "diskstats", "   7       0 loop0", "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0\n "+
		fmt.Sprint(d.MajorNumber, d.MinorNumber, " ", d.DeviceName))
}
