//go:build linux

package monitor

import (
	"strings"
	"testing"
	"time"
	"unicode"
)

// FuzzStat checks that whatever a process calls itself, or the kernel writes,
// makes a row of one line.
func FuzzStat(f *testing.F) {
	f.Add("4242 (etcd) S 1 1 1")
	f.Add("4242 (cut off)")
	f.Add("4242 (a\nb) R 1 1 1 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 1 1 1 1 1 1 1 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0")
	root := fixture(f)
	f.Fuzz(func(t *testing.T, stat string) {
		write(t, root, "4242/stat", stat)
		row := newFixtureMonitor(t, root).Sample(time.Unix(1, 0))
		if strings.ContainsFunc(row.Program+row.State, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("program %q, state %q", row.Program, row.State)
		}
	})
}

// FuzzParseValue checks the reader of cpuinfo and os-release.
func FuzzParseValue(f *testing.F) {
	f.Add("PRETTY_NAME=\"Debian\"\n", "PRETTY_NAME")
	f.Fuzz(func(t *testing.T, text, key string) {
		if got := parseValue(strings.NewReader(text), key, "="); strings.ContainsAny(got, "\n\x00") {
			t.Errorf("value %q", got)
		}
	})
}
