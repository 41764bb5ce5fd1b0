package zookeeper

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/dbtester/dbtester/database"
)

func TestOptionsRefused(t *testing.T) {
	tests := []struct {
		name, options string
		path          string // of the option error
	}{
		{"not a mapping", `[]`, ""},
		{"unknown", `{"snapCount": 1}`, "snapCount"},
		{"wrong type", `{"snap_count": "many"}`, "snap_count"},
		{"no tick", `{"tick_time_ms": 0}`, "tick_time_ms"},
		{"tick of two minutes", `{"tick_time_ms": 120000}`, "tick_time_ms"},
		{"no init limit", `{"init_limit": 0}`, "init_limit"},
		{"negative sync limit", `{"sync_limit": -1}`, "sync_limit"},
		{"no snapshots", `{"snap_count": 0}`, "snap_count"},
		{"heap without unit", `{"heap": "1024"}`, "heap"},
		{"heap with a flag", `{"heap": "1g -Dx=y"}`, "heap"},
		{"no heap", `{"heap": "0g"}`, "heap"},
		{"small packets", `{"jute_maxbuffer": 1024}`, "jute_maxbuffer"},
		{"value larger than a packet", `{"max_value_bytes": 1048576}`, "max_value_bytes"},
		{"no value", `{"max_value_bytes": 0}`, "max_value_bytes"},
		{"flags not a list", `{"jvm_flags": "-XX:+UseZGC"}`, "jvm_flags"},
		{"other than -XX", `{"jvm_flags": ["-Xmx4g"]}`, "jvm_flags"},
		{"property", `{"jvm_flags": ["-Dzookeeper.forceSync=no"]}`, "jvm_flags"},
		{"agent", `{"jvm_flags": ["-javaagent:x.jar"]}`, "jvm_flags"},
		{"command", `{"jvm_flags": ["-XX:OnError=1"]}`, "jvm_flags"},
		{"command on out of memory", `{"jvm_flags": ["-XX:OnOutOfMemoryError=reboot"]}`, "jvm_flags"},
		{"path", `{"jvm_flags": ["-XX:HeapDumpPath=/etc"]}`, "jvm_flags"},
		{"flag file", `{"jvm_flags": ["-XX:Flags=1"]}`, "jvm_flags"},
		{"two flags in one", `{"jvm_flags": ["-XX:+UseZGC -version"]}`, "jvm_flags"},
		{"flag of the plan", `{"jvm_flags": ["-XX:-ExitOnOutOfMemoryError"]}`, "jvm_flags"},
		{"too many flags", `{"jvm_flags": [` + strings.Repeat(`"-XX:+UseZGC",`, maxJVMFlags) + `"-XX:+UseZGC"]}`, "jvm_flags"},
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

func TestOptionsAccepted(t *testing.T) {
	for _, options := range []string{
		``, `null`, `{}`,
		`{"heap": "512m", "jvm_flags": ["-XX:+UseZGC", "-XX:MaxGCPauseMillis=50", "-XX:SoftMaxHeapSize=4G", "-XX:MaxRAMPercentage=75.5"]}`,
		`{"jute_maxbuffer": 4194304, "max_value_bytes": 1048576}`,
	} {
		if _, err := New(json.RawMessage(options)); err != nil {
			t.Errorf("%s: %v", options, err)
		}
	}
}

func TestGuarantee(t *testing.T) {
	d := newTestDriver(t, ``)
	tests := []struct{ consistency, reads string }{
		{"sequential", "sequential"},
		{"stale", "sequential"},
		{"sync", readsSynced},
		{"linearizable", readsSynced},
		{"serializable", ""},
		{"", ""},
	}
	for _, tt := range tests {
		got, err := d.Guarantee(tt.consistency)
		if got.Reads != tt.reads || (err != nil) != (tt.reads == "") {
			t.Errorf("%q: got %q, %v, want %q", tt.consistency, got.Reads, err, tt.reads)
		}
	}
}
