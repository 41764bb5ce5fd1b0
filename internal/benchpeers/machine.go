//go:build linux

package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// A machine is what the figures depend on besides the programs.
type machine struct {
	cpu    string
	cpus   int   // the kernel lets this process run on
	procs  int   // of them a Go program uses at once
	memory int64 // bytes
	kernel string
	load   string // of the last minute, as the kernel prints it
}

func readMachine() (machine, error) {
	files := map[string]string{"/proc/cpuinfo": "", "/proc/meminfo": "", "/proc/sys/kernel/osrelease": "", "/proc/loadavg": ""}
	for path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return machine{}, err
		}
		files[path] = string(text)
	}
	memory, err := kibibytes(files["/proc/meminfo"], "MemTotal")
	if err != nil {
		return machine{}, err
	}
	load, _, _ := strings.Cut(files["/proc/loadavg"], " ")
	return machine{
		cpu:    cmp.Or(field(files["/proc/cpuinfo"], "model name"), "model not told"),
		cpus:   runtime.NumCPU(),
		procs:  runtime.GOMAXPROCS(0),
		memory: memory,
		kernel: strings.TrimSpace(files["/proc/sys/kernel/osrelease"]),
		load:   load,
	}, nil
}

// field returns the value of the first line "name: value".
func field(text, name string) string {
	for line := range strings.Lines(text) {
		key, value, found := strings.Cut(line, ":")
		if found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// kibibytes returns a field such as "VmHWM: 123 kB" in bytes.
func kibibytes(text, name string) (int64, error) {
	value, _ := strings.CutSuffix(field(text, name), " kB")
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", name, err)
	}
	return n * 1024, nil
}
