package consul

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/dbtester/dbtester/database"
)

func TestOptionsRefused(t *testing.T) {
	tests := []struct {
		name, options string
		path          string // of the option error
	}{
		{"not a mapping", `[]`, ""},
		{"unknown", `{"dev": true}`, "dev"},
		{"wrong type", `{"raft_multiplier": "1"}`, "raft_multiplier"},
		{"no multiplier", `{"raft_multiplier": 0}`, "raft_multiplier"},
		{"multiplier above the store's own limit", `{"raft_multiplier": 11}`, "raft_multiplier"},
		{"unknown log store", `{"raft_logstore": "default"}`, "raft_logstore"},
		{"no snapshots", `{"raft_snapshot_threshold": 0}`, "raft_snapshot_threshold"},
		{"number as a pause", `{"raft_snapshot_interval": "30"}`, "raft_snapshot_interval"},
		{"no pause", `{"raft_snapshot_interval": "0s"}`, "raft_snapshot_interval"},
		{"negative logs", `{"raft_trailing_logs": -1}`, "raft_trailing_logs"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(json.RawMessage(tt.options))
			var option *database.OptionError
			if !errors.As(err, &option) {
				t.Fatalf("got %v, want an option error", err)
			}
			if option.Path != tt.path {
				t.Errorf("got path %q (%v), want %q", option.Path, err, tt.path)
			}
		})
	}
}

func TestGuarantee(t *testing.T) {
	d := newTestDriver(t, ``)
	tests := []struct{ consistency, reads string }{
		{"linearizable", linearizable},
		{"consistent", linearizable},
		{"default", readsLeased},
		{"stale", "stale"},
		{"sequential", ""},
		{"", ""},
	}
	for _, tt := range tests {
		got, err := d.Guarantee(tt.consistency)
		if got.Reads != tt.reads || (err != nil) != (tt.reads == "") {
			t.Errorf("%q: got %q, %v, want %q", tt.consistency, got.Reads, err, tt.reads)
		}
	}
}
