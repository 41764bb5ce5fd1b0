//go:build linux

package monitor

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/procfs"

	"github.com/dbtester/dbtester/result"
)

func TestMachineFacts(t *testing.T) {
	want := []result.Fact{
		{Name: "cpu clock", Value: "2795 MHz"},
		{Name: "cpu governor", Value: "performance"},
		{Name: "swap", Value: "2.1 GB"},
		{Name: "virtual machine", Value: "yes"},
		{Name: "machine", Value: "Example Vendor Model 7"},
		{Name: "clock source", Value: "tsc"},
		{Name: "ulimit open files", Value: "1024, at most 524288"},
		{Name: "ulimit processes", Value: "96348, at most 96348"},
		{Name: "ulimit file size", Value: "unlimited, at most unlimited"},
		{Name: "ulimit locked memory", Value: "8388608, at most 8388608"},
		{Name: "ulimit core file size", Value: "0, at most unlimited"},
		{Name: "transparent huge pages", Value: "madvise"},
		{Name: "vm.swappiness", Value: "60"},
		{Name: "net.ipv4.ip_local_port_range", Value: "32768 60999"},
	}
	if diff := cmp.Diff(want, machineFacts(filepath.Join("testdata", "host"), "")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNoFacts(t *testing.T) {
	if got := machineFacts(t.TempDir(), ""); len(got) > 0 {
		t.Errorf("facts of a machine that tells nothing: %v", got)
	}
}

func TestDeviceFacts(t *testing.T) {
	tests := map[string][]result.Fact{
		"nvme0n1p2": {
			{Name: "data device", Value: "nvme0n1p2, a partition of nvme0n1; its own operations are counted, flushes are those of the whole disk"},
			{Name: "data device, model", Value: "Fast SSD"},
			{Name: "data device, rotational", Value: "no"},
			{Name: "data device, scheduler", Value: "none"},
			{Name: "data device, write cache", Value: "write back"},
		},
		"dm-1": {
			{Name: "data device", Value: "dm-1, a volume on nvme0n1p2; the operations that reach the volume are counted"},
			{Name: "data device, volume", Value: "LVM"},
			{Name: "data device, model", Value: "Fast SSD"},
			{Name: "data device, rotational", Value: "no"},
		},
		"nvme0n1": {
			{Name: "data device", Value: "nvme0n1, a whole disk"},
			{Name: "data device, model", Value: "Fast SSD"},
			{Name: "data device, rotational", Value: "no"},
			{Name: "data device, scheduler", Value: "none"},
			{Name: "data device, write cache", Value: "write back"},
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			f := &facts{root: filepath.Join("testdata", "host")}
			f.device(name)
			if diff := cmp.Diff(want, f.list); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestMountHidesPlaces keeps folders and machines out of the facts.
func TestMountHidesPlaces(t *testing.T) {
	f := &facts{}
	f.mount(&procfs.MountInfo{
		FSType: "overlay", Source: "server.example:/export",
		Options:      map[string]string{"rw": "", "noatime": ""},
		SuperOptions: map[string]string{"upperdir": "/home/somebody/up", "addr": "192.0.2.7", "data": "ordered"},
	})
	want := []result.Fact{
		{Name: "data file system", Value: "overlay"},
		{Name: "data file system, mounted", Value: "addr=…,data=ordered,noatime,rw,upperdir=…"},
	}
	if diff := cmp.Diff(want, f.list); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOwnFacts reads those of this machine, whose names must not be among them.
func TestOwnFacts(t *testing.T) {
	list := Host(t.TempDir()).Facts
	if len(list) == 0 {
		t.Fatal("no facts of this machine")
	}
	for _, f := range list {
		if strings.Contains(f.Value, t.TempDir()) || f.Value == "" || len(f.Value) > maxFact+4 {
			t.Errorf("%s = %q", f.Name, f.Value)
		}
	}
}
