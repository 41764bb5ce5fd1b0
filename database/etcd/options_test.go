package etcd

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/databasetest"
)

func TestOptionsRefused(t *testing.T) {
	many := make(map[string]int)
	for i := range maxFlags + 1 {
		many[strings.Repeat("x", i+1)] = i
	}
	manyFlags, err := json.Marshal(map[string]any{"flags": many})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, options string
		path          string // of the option error
	}{
		{"not a mapping", `[]`, ""},
		{"unknown", `{"snapshots": 1}`, "snapshots"},
		{"another case", `{"Snapshot_Count": 1}`, "Snapshot_Count"},
		{"wrong type", `{"snapshot_count": "many"}`, "snapshot_count"},
		{"fraction", `{"snapshot_count": 1.5}`, "snapshot_count"},
		{"no snapshots", `{"snapshot_count": 0}`, "snapshot_count"},
		{"negative quota", `{"quota_backend_bytes": -1}`, "quota_backend_bytes"},
		{"unknown mode", `{"auto_compaction_mode": "hourly"}`, "auto_compaction_mode"},
		{"retention without mode", `{"auto_compaction_retention": "5m"}`, "auto_compaction_retention"},
		{"mode without retention", `{"auto_compaction_mode": "periodic"}`, "auto_compaction_retention"},
		{"no period", `{"auto_compaction_mode": "periodic", "auto_compaction_retention": "0"}`, "auto_compaction_retention"},
		{"negative period", `{"auto_compaction_mode": "periodic", "auto_compaction_retention": "-5m"}`, "auto_compaction_retention"},
		{"revisions as a period", `{"auto_compaction_mode": "revision", "auto_compaction_retention": "5m"}`, "auto_compaction_retention"},
		{"negative heartbeat", `{"heartbeat_interval_ms": -1}`, "heartbeat_interval_ms"},
		{"heartbeat above a fifth of the default election", `{"heartbeat_interval_ms": 300}`, "election_timeout_ms"},
		{"election below five default heartbeats", `{"election_timeout_ms": 400}`, "election_timeout_ms"},
		{"election above the server's limit", `{"election_timeout_ms": 60000}`, "election_timeout_ms"},
		{"negative election", `{"election_timeout_ms": -1000}`, "election_timeout_ms"},
		{"flags not a mapping", `{"flags": ["pre-vote"]}`, "flags"},
		{"too many flags", string(manyFlags), "flags"},
		{"unknown flag", `{"flags": {"no-such-flag": 1}}`, "flags.no-such-flag"},
		{"flag with dashes", `{"flags": {"--max-txn-ops": 1}}`, "flags.--max-txn-ops"},
		{"flag with a value", `{"flags": {"max-txn-ops=1 --data-dir": 1}}`, "flags.max-txn-ops=1 --data-dir"},
		{"path flag", `{"flags": {"wal-dir": "wal"}}`, "flags.wal-dir"},
		{"certificate flag", `{"flags": {"cert-file": "x"}}`, "flags.cert-file"},
		{"configuration flag", `{"flags": {"config-file": "x"}}`, "flags.config-file"},
		{"address flag", `{"flags": {"listen-metrics-urls": "x"}}`, "flags.listen-metrics-urls"},
		{"discovery flag", `{"flags": {"discovery-endpoints": "x"}}`, "flags.discovery-endpoints"},
		{"tracing address flag", `{"flags": {"distributed-tracing-address": "x"}}`, "flags.distributed-tracing-address"},
		{"flag of the plan", `{"flags": {"data-dir": "x"}}`, "flags.data-dir"},
		{"option as a flag", `{"flags": {"snapshot-count": 1}}`, "flags.snapshot-count"},
		{"log flag", `{"flags": {"log-outputs": "x"}}`, "flags.log-outputs"},
		{"value is a path", `{"flags": {"metrics": "/etc/passwd"}}`, "flags.metrics"},
		{"value is an address", `{"flags": {"metrics": "10.0.0.1:80"}}`, "flags.metrics"},
		{"value is two arguments", `{"flags": {"metrics": "basic --wal-dir"}}`, "flags.metrics"},
		{"value is empty", `{"flags": {"metrics": ""}}`, "flags.metrics"},
		{"value is null", `{"flags": {"metrics": null}}`, "flags.metrics"},
		{"value is a list", `{"flags": {"metrics": [1]}}`, "flags.metrics"},
		{"value is long", `{"flags": {"metrics": "` + strings.Repeat("a", maxFlagValue+1) + `"}}`, "flags.metrics"},
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
	tests := []string{
		``,
		`null`,
		`{}`,
		`{"snapshot_count": 1, "quota_backend_bytes": 1}`,
		`{"auto_compaction_mode": "periodic", "auto_compaction_retention": "1"}`,
		`{"auto_compaction_mode": "revision", "auto_compaction_retention": "1000"}`,
		`{"heartbeat_interval_ms": 500, "election_timeout_ms": 2500}`,
		`{"flags": {"max-txn-ops": 1, "pre-vote": true, "metrics": "extensive", "backend-batch-interval": "1.5ms"}}`,
		`{"flags": {"feature-gates": "StopGRPCServiceOnDefrag=true,InitialCorruptCheck=false"}}`,
	}
	for _, options := range tests {
		if _, err := New(json.RawMessage(options)); err != nil {
			t.Errorf("%s: %v", options, err)
		}
	}
}

func TestGuarantee(t *testing.T) {
	const durable = "fsync of the write-ahead log on a quorum before the answer"
	d := newTestDriver(t, ``)
	for consistency, reads := range map[string]string{
		"linearizable": "linearizable", "serializable": "stale", "stale": "stale",
	} {
		got, err := d.Guarantee(consistency)
		if diff := cmp.Diff(database.Guarantee{Reads: reads, Durable: durable, Fsync: true}, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", consistency, err, diff)
		}
	}
	if _, err := d.Guarantee(""); err == nil || !strings.Contains(err.Error(), "linearizable, serializable") {
		t.Errorf("no consistency: got %v, want an error that lists the known", err)
	}
	for _, value := range []string{`true`, `"true"`, `1`, `"T"`} {
		got, err := newTestDriver(t, `{"flags": {"unsafe-no-fsync": `+value+`}}`).Guarantee("linearizable")
		if err != nil || got.Fsync || !strings.Contains(got.Durable, "no fsync") {
			t.Errorf("without fsync, %s: got %q, %v, want it to say so", value, got.Durable, err)
		}
	}
	got, err := newTestDriver(t, `{"flags": {"unsafe-no-fsync": false}}`).Guarantee("linearizable")
	if err != nil || got.Durable != durable {
		t.Errorf("with fsync: got %q, %v, want %q", got.Durable, err, durable)
	}
}

// TestFlagsAreSorted keeps the list readable and free of doubles.
func TestFlagsAreSorted(t *testing.T) {
	last := ""
	for _, f := range serverFlags() {
		if f.name <= last {
			t.Errorf("%q comes after %q", f.name, last)
		}
		if f.until != 0 && f.until < f.since {
			t.Errorf("%s: since %v until %v", f.name, f.since, f.until)
		}
		last = f.name
	}
}

// FuzzFlagValue checks that no accepted value could be a path, an address or a
// second argument.
func FuzzFlagValue(f *testing.F) {
	for _, seed := range []string{`"a"`, `1`, `true`, `null`, `{}`, `"/"`, `"\u002f"`, `1e400`, `"a b"`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		value, err := flagValue(raw)
		if err != nil {
			return
		}
		if value == "" || len(value) > maxFlagValue || strings.ContainsAny(value, "/\\: \t\n\"'$;&|\x00") {
			t.Errorf("%q was accepted as %q", raw, value)
		}
	})
}

// FuzzNew checks that options which are accepted can be planned, and that the
// rest is an option error.
func FuzzNew(f *testing.F) {
	f.Add([]byte(`{"snapshot_count": 1}`))
	f.Add([]byte(`{"flags": {"max-txn-ops": 1}}`))
	f.Add([]byte(`{"auto_compaction_mode": "revision", "auto_compaction_retention": "1"}`))
	f.Add([]byte(`{"heartbeat_interval_ms": 9223372036854775807, "election_timeout_ms": 1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := New(raw)
		var option *database.OptionError
		if err != nil {
			if !errors.As(err, &option) {
				t.Errorf("%q: got %v, want an option error", raw, err)
			}
			return
		}
		if _, err := d.Plan(databasetest.Member(testInstallation())); err != nil && !errors.As(err, &option) {
			t.Errorf("%q: plan: %v", raw, err)
		}
	})
}
