//go:build linux

package agent

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
)

// releaseStart gives memory back that only the start of the program needed. The
// program carries whole database servers, whose tables are read once when it
// starts and never again by an agent; what is needed after all is read from the
// file anew.
func releaseStart() error {
	debug.FreeOSMemory()
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("find our own program: %w", err)
	}
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("list our own memory: %w", err)
	}
	defer file.Close()
	for _, m := range unchangedMappings(file, program) {
		// What is mapped from the file and was never written to is the same
		// when it is read again.
		if _, _, errno := syscall.Syscall(syscall.SYS_MADVISE, uintptr(m.from), uintptr(m.to-m.from), syscall.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("give memory of the program back: %w", errno)
		}
	}
	return nil
}

// A mapping is a range of addresses.
type mapping struct{ from, to uint64 }

// unchangedMappings returns where a file is mapped that cannot be written to
// and of which no page is our own: its code and its constants.
func unchangedMappings(smaps io.Reader, path string) []mapping {
	var found []mapping
	var current mapping
	inside := false
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		line := lines.Text()
		var head mapping
		var rights string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &head.from, &head.to, &rights); n == 3 {
			current = head
			inside = strings.HasSuffix(line, " "+path) && !strings.Contains(rights, "w")
			continue
		}
		if inside && strings.HasPrefix(line, "Anonymous:") {
			if fields := strings.Fields(line); len(fields) > 1 && fields[1] == "0" {
				found = append(found, current)
			}
			inside = false
		}
	}
	return found
}
