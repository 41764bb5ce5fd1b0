package databasetest

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// residentBytes returns the resident memory of this process, without garbage.
func residentBytes(t *testing.T) int {
	t.Helper()
	runtime.GC()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(data))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// connections returns the local ends of all established IPv4 connections to the
// endpoints, sorted.
func connections(t *testing.T, endpoints []string) []string {
	t.Helper()
	file, err := os.Open("/proc/net/tcp")
	if err != nil {
		t.Skip(err)
	}
	defer file.Close()
	const established = "01"
	var local []string
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 3 && fields[3] == established && slices.Contains(endpoints, address(t, fields[2])) {
			local = append(local, fields[1])
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(local)
	return local
}

// address turns the kernel's 0400007F:0885 into 127.0.0.4:2181.
func address(t *testing.T, s string) string {
	t.Helper()
	host, port, _ := strings.Cut(s, ":")
	raw, err := hex.DecodeString(host)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		t.Fatal(err)
	}
	var ip [4]byte
	binary.NativeEndian.PutUint32(ip[:], binary.BigEndian.Uint32(raw))
	return netip.AddrPortFrom(netip.AddrFrom4(ip), uint16(number)).String()
}
