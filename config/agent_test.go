package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseAgent(t *testing.T) {
	for text, want := range map[string]Agent{
		"10.0.0.2:3500":               {Host: "10.0.0.2", Address: "10.0.0.2:3500"},
		"[fe80::1]:3500":              {Host: "fe80::1", Address: "[fe80::1]:3500"},
		"db1.lab:3500":                {Host: "db1.lab", Address: "db1.lab:3500"},
		"unix:/run/agent.sock":        {Socket: "/run/agent.sock"},
		"10.0.0.2=unix:/run/a=b.sock": {Host: "10.0.0.2", Socket: "/run/a=b.sock"},
		"fe80::1=unix:/run/unix:sock": {Host: "fe80::1", Socket: "/run/unix:sock"},
	} {
		got, err := ParseAgent(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", text, err, diff)
		}
	}
}
