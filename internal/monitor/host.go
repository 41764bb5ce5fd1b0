//go:build linux

package monitor

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/dbtester/dbtester/result"
)

// Host describes this machine and the disk that holds the folder dir. What
// cannot be read stays empty or 0.
func Host(dir string) result.Host {
	id, _ := MachineID() // empty if unknown
	return result.Host{
		MachineID:   id,
		NetworkID:   networkID(id),
		CPUModel:    cpuModel(),
		CPUs:        runtime.NumCPU(),
		MemoryBytes: memoryBytes(),
		OS:          osName(),
		Kernel:      kernelRelease(),
		OpenFiles:   openFileLimit(),
		Go:          runtime.Version(),
		Facts:       machineFacts("/", dir),
	}
}

// MachineID returns a word that is the same for all processes of one machine
// until it boots again. It is a hash: the machine cannot be told from it.
func MachineID() (string, error) {
	boot, err := os.ReadFile(filepath.Join(DefaultProcRoot, "sys/kernel/random/boot_id"))
	if err != nil {
		return "", fmt.Errorf("tell this machine from others: %w", err)
	}
	return hashID(strings.TrimSpace(string(boot))), nil
}

// networkID returns a word for the network namespace of this process, whose
// interfaces are no other namespace's. It is empty if unknown.
func networkID(machine string) string {
	namespace, err := os.Readlink(filepath.Join(DefaultProcRoot, "self/ns/net"))
	if err != nil || machine == "" {
		return ""
	}
	return hashID(machine + " " + namespace)
}

func hashID(boot string) string {
	sum := sha256.Sum256([]byte("dbtester machine " + boot))
	return hex.EncodeToString(sum[:8])
}

// cpuModel is empty on processors that tell no model, such as most ARM ones.
func cpuModel() string {
	file, err := os.Open(filepath.Join(DefaultProcRoot, "cpuinfo"))
	if err != nil {
		return ""
	}
	defer file.Close()
	return parseValue(file, "model name", ":")
}

func osName() string {
	file, err := os.Open("/etc/os-release")
	if err != nil {
		return ""
	}
	defer file.Close()
	return parseValue(file, "PRETTY_NAME", "=")
}

// parseValue returns the value of the first line "key SEPARATOR value".
func parseValue(r io.Reader, key, separator string) string {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		name, value, found := strings.Cut(lines.Text(), separator)
		if found && strings.TrimSpace(name) == key {
			return printable(strings.Trim(strings.TrimSpace(value), `"'`))
		}
	}
	return ""
}

func memoryBytes() int64 {
	proc, _, err := openProc(DefaultProcRoot)
	if err != nil {
		return 0
	}
	memory, err := proc.Meminfo()
	if err != nil || memory.MemTotalBytes == nil {
		return 0
	}
	return int64(*memory.MemTotalBytes)
}

func kernelRelease() string {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return ""
	}
	return unix.ByteSliceToString(name.Release[:])
}

// openFileLimit is this process's soft limit, which Go raises to the hard one
// when it starts.
func openFileLimit() int64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int64(min(limit.Cur, 1<<62))
}
