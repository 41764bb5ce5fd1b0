package zookeeper

import (
	"strings"
	"testing"
)

func TestParseStatus(t *testing.T) {
	const answer = `Zookeeper version: %s
Latency min/avg/max: 0/0.0/0
Received: 1
Zxid: 0x100000000
Mode: %s
Node count: 5
Proposal sizes last/min/max: -1/-1/-1
`
	full := func(version, mode string) string {
		return strings.Replace(strings.Replace(answer, "%s", version, 1), "%s", mode, 1)
	}
	tests := []struct {
		name, answer string
		want         status // empty: an error
	}{
		{"3.9", full("3.9.4-7246445ec281f3dbf53dc54e970c914f39713903, built on 2025-08-19 19:53 UTC", "leader"), status{"3.9.4", "leader"}},
		{"3.5", full("3.5.3-beta-8ce24f9e675cbefffb8f21a47e06b42864475a60, built on 04/03/2017 16:19 GMT", "follower"), status{"3.5.3", "follower"}},
		{"alone", full("3.9.4, built on x", "standalone"), status{"3.9.4", "standalone"}},
		{"not serving", "This ZooKeeper instance is not currently serving requests\n", status{}},
		{"not on the whitelist", "srvr is not executed because it is not in the whitelist.\n", status{}},
		{"nothing", "", status{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseStatus(strings.NewReader(tt.answer))
			if got != tt.want && err == nil || (tt.want == status{}) != (err != nil) {
				t.Errorf("got %+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add("Zookeeper version: 3.9.4-x, built on y\nMode: leader\n")
	f.Add("Mode: \n")
	f.Fuzz(func(t *testing.T, answer string) {
		s, err := parseStatus(strings.NewReader(answer))
		if err == nil && (s.version == "" || s.mode == "" || strings.ContainsAny(s.version, "\n,-")) {
			t.Errorf("accepted %q as %+v", answer, s)
		}
	})
}
