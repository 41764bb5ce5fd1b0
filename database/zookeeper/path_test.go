package zookeeper

import (
	"fmt"
	"strings"
	"testing"
)

func TestKeyPath(t *testing.T) {
	tests := []struct{ key, name string }{
		{"k0000000001", "k0000000001"},
		{"a/b", "a%2Fb"},
		{"100%", "100%25"},
		{".", "%2E"},
		{"..", "%2E%2E"},
		{".hidden", ".hidden"},
		{"a b", "a%20b"},
		{"\x00\xff", "%00%FF"},
		{"é", "%C3%A9"},
	}
	for _, tt := range tests {
		t.Run(tt.key, func(t *testing.T) {
			path, err := keyPath(tt.key)
			if err != nil {
				t.Fatal(err)
			}
			parts := strings.Split(path, "/")
			if len(parts) != 4 || "/"+parts[1] != root || len(parts[2]) != 3 || parts[3] != tt.name {
				t.Errorf("got %q, want %s/XXX/%s", path, root, tt.name)
			}
		})
	}
}

// TestShardsAreEven checks that a million keys of the workload's form leave no
// parent much fuller than the others.
func TestShardsAreEven(t *testing.T) {
	const keys = 100_000
	counts := make(map[string]int)
	for n := range keys {
		path, err := keyPath(fmt.Sprintf("k%0255d", n))
		if err != nil {
			t.Fatal(err)
		}
		counts[path[:len(root)+4]]++
	}
	fullest := 0
	for _, n := range counts {
		fullest = max(fullest, n)
	}
	if len(counts) != shards || fullest > 2*keys/shards {
		t.Errorf("got %d parents, the fullest with %d of %d keys, want %d with about %d", len(counts), fullest, keys, shards, keys/shards)
	}
}

func FuzzEscape(f *testing.F) {
	for _, key := range []string{"k1", "a/b", "%", "..", "\x00", "é", "%2E"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		name := escape(key)
		if strings.ContainsAny(name, "/\x00") || name == "." || name == ".." {
			t.Errorf("%q is no name of a znode", name)
		}
		if got, err := unescape(name); err != nil || got != key {
			t.Errorf("got %q, %v, want %q", got, err, key)
		}
	})
}

func FuzzUnescape(f *testing.F) {
	for _, name := range []string{"k1", "a%2Fb", "%", "%2", "%2e", "%6B", "."} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		key, err := unescape(name)
		if err == nil && escape(key) != name {
			t.Errorf("%q is accepted as %q, which is %q", name, key, escape(key))
		}
	})
}
