//go:build linux

package monitor

import "testing"

func TestSwitchesOfEndedThreads(t *testing.T) {
	type threads = map[int]switchCounts
	tests := []struct {
		name  string
		found []threads
		want  switchCounts
	}{
		{"none", nil, switchCounts{}},
		{"growing", []threads{{1: {10, 1}}, {1: {15, 2}}}, switchCounts{15, 2}},
		{"one begins", []threads{{1: {10, 1}}, {1: {10, 1}, 2: {3, 0}}}, switchCounts{13, 1}},
		{"one ends", []threads{{1: {10, 1}, 2: {5, 5}}, {1: {11, 1}}}, switchCounts{16, 6}},
		{"one ends for good", []threads{{1: {10, 1}, 2: {5, 5}}, {1: {11, 1}}, {1: {11, 1}}}, switchCounts{16, 6}},
		{"number reused", []threads{{1: {10, 1}, 2: {5, 5}}, {1: {10, 1}, 2: {2, 7}}}, switchCounts{17, 13}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newSwitchCounter()
			got := c.update(nil)
			for _, found := range tt.found {
				next := c.update(found)
				if next.voluntary < got.voluntary || next.nonVoluntary < got.nonVoluntary {
					t.Errorf("the sum fell from %v to %v", got, next)
				}
				got = next
			}
			if got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
