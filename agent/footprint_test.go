//go:build linux

package agent

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnchangedMappings(t *testing.T) {
	const smaps = `00400000-01a00000 r-xp 00000000 fe:00 123 /opt/dbtester
Rss:                9000 kB
Anonymous:             0 kB
01a00000-03000000 r--p 01600000 fe:00 123 /opt/dbtester
Anonymous:             0 kB
03000000-03100000 r--p 02c00000 fe:00 123 /opt/dbtester
Anonymous:            12 kB
03100000-03200000 rw-p 02d00000 fe:00 123 /opt/dbtester
Anonymous:             0 kB
7f0000000000-7f0000100000 r-xp 00000000 fe:00 9 /lib/libc.so
Anonymous:             0 kB
c000000000-c000400000 rw-p 00000000 00:00 0
Anonymous:          4096 kB
`
	want := []mapping{{0x400000, 0x1a00000}, {0x1a00000, 0x3000000}}
	if diff := cmp.Diff(want, unchangedMappings(strings.NewReader(smaps), "/opt/dbtester"), cmp.AllowUnexported(mapping{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReleaseStart gives the test's own pages back and goes on.
func TestReleaseStart(t *testing.T) {
	if err := releaseStart(); err != nil {
		t.Fatal(err)
	}
}
