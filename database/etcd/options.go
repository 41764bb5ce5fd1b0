package etcd

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/dbtester/dbtester/database"
)

// The defaults of the server that validate needs, the same from 3.4 to 3.7.
const (
	defaultHeartbeatMillis = 100
	defaultElectionMillis  = 1000
	maxElectionMillis      = 50_000
)

// Modes of auto compaction.
const (
	compactPeriodic = "periodic"
	compactRevision = "revision"
)

// options are what an experiment's options key may say; see [New].
type options struct {
	SnapshotCount           int                        `json:"snapshot_count"`
	QuotaBackendBytes       int64                      `json:"quota_backend_bytes"`
	AutoCompactionMode      string                     `json:"auto_compaction_mode"`
	AutoCompactionRetention string                     `json:"auto_compaction_retention"`
	HeartbeatIntervalMillis int                        `json:"heartbeat_interval_ms"`
	ElectionTimeoutMillis   int                        `json:"election_timeout_ms"`
	Flags                   map[string]json.RawMessage `json:"flags"`
}

// defaultOptions returns values that make versions comparable and a million keys fit.
func defaultOptions() options {
	return options{SnapshotCount: 100_000, QuotaBackendBytes: 8 << 30}
}

// validate returns a [*database.OptionError] for the first option that no
// version of the server would run with.
func (o options) validate() error {
	if o.SnapshotCount < 1 {
		return optionError("snapshot_count", "%d is not a number of entries; want 1 or more", o.SnapshotCount)
	}
	if o.QuotaBackendBytes < 1 {
		return optionError("quota_backend_bytes", "%d is not a size; want 1 byte or more, such as 8589934592", o.QuotaBackendBytes)
	}
	if err := o.validateCompaction(); err != nil {
		return err
	}
	if err := o.validateElection(); err != nil {
		return err
	}
	return o.validateFlags()
}

func (o options) validateCompaction() error {
	const path = "auto_compaction_retention"
	keep := o.AutoCompactionRetention
	switch o.AutoCompactionMode {
	case "":
		if keep != "" {
			return optionError(path, "%q has no effect without auto_compaction_mode", keep)
		}
	case compactPeriodic:
		hours, err := strconv.ParseUint(keep, 10, 16)
		period, errPeriod := time.ParseDuration(keep)
		if (err != nil || hours == 0) && (errPeriod != nil || period < time.Second) {
			return optionError(path, `%q is not a period; want "5m" or a whole number of hours`, keep)
		}
	case compactRevision:
		if n, err := strconv.ParseInt(keep, 10, 64); err != nil || n < 1 {
			return optionError(path, "%q is not a number of revisions; want 1 or more", keep)
		}
	default:
		return optionError("auto_compaction_mode", "%q is unknown; want %s, %s or nothing for off",
			o.AutoCompactionMode, compactPeriodic, compactRevision)
	}
	return nil
}

// validateElection repeats the server's own rule, so that a wrong value is found
// before anything starts.
func (o options) validateElection() error {
	if o.HeartbeatIntervalMillis < 0 {
		return optionError("heartbeat_interval_ms", "%d is negative", o.HeartbeatIntervalMillis)
	}
	heartbeat, election := defaultHeartbeatMillis, defaultElectionMillis
	if o.HeartbeatIntervalMillis > 0 {
		heartbeat = o.HeartbeatIntervalMillis
	}
	if o.ElectionTimeoutMillis != 0 {
		election = o.ElectionTimeoutMillis
	}
	if election > maxElectionMillis || election/5 < heartbeat {
		return optionError("election_timeout_ms", "%d ms is not between 5 heartbeats of %d ms and %d ms",
			election, heartbeat, maxElectionMillis)
	}
	return nil
}

func (o options) validateFlags() error {
	if len(o.Flags) > maxFlags {
		return optionError("flags", "%d flags; want %d or fewer", len(o.Flags), maxFlags)
	}
	for _, name := range o.flagNames() {
		path := "flags." + name
		if _, err := findFlag(name); err != nil {
			return &database.OptionError{Path: path, Err: err}
		}
		if _, err := flagValue(o.Flags[name]); err != nil {
			return &database.OptionError{Path: path, Err: err}
		}
	}
	return nil
}

// flagNames returns the names of the further flags, sorted.
func (o options) flagNames() []string { return slices.Sorted(maps.Keys(o.Flags)) }

// flag returns the value of a further flag, or nothing if it is not set.
func (o options) flag(name string) string {
	raw, ok := o.Flags[name]
	if !ok {
		return ""
	}
	value, err := flagValue(raw)
	if err != nil { // refused by validate before
		return ""
	}
	return value
}

// noFsync reports whether a flag takes durability away, however it says true.
func (o options) noFsync() bool {
	volatile, err := strconv.ParseBool(o.flag(flagNoFsync))
	return err == nil && volatile
}

// compaction returns the mode and retention to start the server with. Off is
// said aloud too, so that every run records one.
func (o options) compaction() (mode, retention string) {
	if o.AutoCompactionMode == "" {
		return compactPeriodic, "0"
	}
	return o.AutoCompactionMode, o.AutoCompactionRetention
}

func optionError(path, format string, args ...any) error {
	return &database.OptionError{Path: path, Err: fmt.Errorf(format, args...)}
}
