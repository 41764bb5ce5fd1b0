package consul

import (
	"fmt"
	"time"

	"github.com/dbtester/dbtester/database"
)

// Raft log stores.
const (
	logWAL    = "wal"
	logBoltDB = "boltdb"
)

// options are an experiment's options for Consul.
type options struct {
	RaftMultiplier        int    `json:"raft_multiplier"`
	RaftLogStore          string `json:"raft_logstore"`
	RaftSnapshotThreshold int    `json:"raft_snapshot_threshold"`
	RaftSnapshotInterval  string `json:"raft_snapshot_interval"`
	RaftTrailingLogs      int    `json:"raft_trailing_logs"`
}

// defaultOptions are those of Consul 1.22, written down because they differ
// between versions, save for the multiplier.
func defaultOptions() options {
	return options{
		RaftMultiplier: 1, RaftLogStore: logWAL,
		RaftSnapshotThreshold: 16_384, RaftSnapshotInterval: "30s", RaftTrailingLogs: 10_240,
	}
}

// validate returns a [*database.OptionError] for the first option out of bounds.
func (o options) validate() error {
	for _, number := range []struct {
		path             string
		value, low, high int
	}{
		{"raft_multiplier", o.RaftMultiplier, 1, 10},
		{"raft_snapshot_threshold", o.RaftSnapshotThreshold, 1, 1 << 30},
		{"raft_trailing_logs", o.RaftTrailingLogs, 1, 1 << 30},
	} {
		if number.value < number.low || number.value > number.high {
			return optionError(number.path, "%d is out of range; want %d to %d", number.value, number.low, number.high)
		}
	}
	if o.RaftLogStore != logWAL && o.RaftLogStore != logBoltDB {
		return optionError("raft_logstore", "%q is unknown; want %s or %s", o.RaftLogStore, logWAL, logBoltDB)
	}
	if interval, err := time.ParseDuration(o.RaftSnapshotInterval); err != nil || interval < time.Second || interval > time.Hour {
		return optionError("raft_snapshot_interval", `%q is not a pause; want 1s to 1h, such as "30s"`, o.RaftSnapshotInterval)
	}
	return nil
}

func optionError(path, format string, args ...any) error {
	return &database.OptionError{Path: path, Err: fmt.Errorf(format, args...)}
}
