//go:build linux

package monitor

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestSwitchesOfEndedThreads(t *testing.T) {
	type threadSet = map[int]switchCounts
	tests := []struct {
		name  string
		found []threadSet
		want  switchCounts
	}{
		{"growing", []threadSet{{1: {10, 1}}, {1: {15, 2}}}, switchCounts{15, 2}},
		{"one begins", []threadSet{{1: {10, 1}}, {1: {10, 1}, 2: {3, 0}}}, switchCounts{13, 1}},
		{"one ends", []threadSet{{1: {10, 1}, 2: {5, 5}}, {1: {11, 1}}}, switchCounts{16, 6}},
		{"one ends for good", []threadSet{{1: {10, 1}, 2: {5, 5}}, {1: {11, 1}}, {1: {11, 1}}}, switchCounts{16, 6}},
		{"number reused", []threadSet{{1: {10, 1}, 2: {5, 5}}, {1: {10, 1}, 2: {2, 7}}}, switchCounts{17, 13}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			all := newThreads(filepath.Join(root, "task"))
			last := switchCounts{}
			for _, found := range tt.found {
				writeThreads(t, root, found)
				if err := all.read(&source{root: root}, true); err != nil {
					t.Fatal(err)
				}
				if all.sum.voluntary < last.voluntary || all.sum.nonVoluntary < last.nonVoluntary {
					t.Errorf("the sum fell from %v to %v", last, all.sum)
				}
				last = all.sum
			}
			if last != tt.want {
				t.Errorf("got %v, want %v", last, tt.want)
			}
		})
	}
}

func writeThreads(t *testing.T, root string, found map[int]switchCounts) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(root, "task")); err != nil {
		t.Fatal(err)
	}
	for id, c := range found {
		dir := fmt.Sprintf("task/%d", id)
		if err := os.MkdirAll(filepath.Join(root, dir), 0o750); err != nil {
			t.Fatal(err)
		}
		write(t, root, dir+"/status", fmt.Sprintf("Name:\tx\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n", c.voluntary, c.nonVoluntary))
	}
}
