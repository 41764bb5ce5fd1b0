//go:build linux

package agent

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzPlainName checks that an accepted name can leave no folder.
func FuzzPlainName(f *testing.F) {
	for _, seed := range []string{"etcd-3.5.21", "..", "a/../b", ".hidden", "a\x00", "a\n", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if isPlainName(name) && (!filepath.IsLocal(name) || filepath.Base(name) != name || strings.ContainsAny(name, "/\\\n\x00 ")) {
			t.Errorf("%q is accepted", name)
		}
	})
}

// FuzzTail checks that any log can be sent.
func FuzzTail(f *testing.F) {
	f.Add([]byte("a\nb\n\xff"), true)
	f.Fuzz(func(t *testing.T, text []byte, cut bool) {
		got := tail(text, cut)
		if !utf8.ValidString(got) || strings.Count(got, "\n") >= tailLines {
			t.Errorf("tail = %q", got)
		}
	})
}
