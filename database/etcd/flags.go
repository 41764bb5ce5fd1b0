package etcd

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

const (
	// maxFlags is the most further flags one experiment may set.
	maxFlags = 32
	// maxFlagValue is the longest value of a flag, in bytes.
	maxFlagValue = 128
	// flagNoFsync makes writes volatile, so [driver.Guarantee] must know of it.
	flagNoFsync = "unsafe-no-fsync"
)

// plainValue has no slash, backslash, colon, quote or blank: whatever the flag,
// its value can be neither a path nor an address nor a command.
var plainValue = regexp.MustCompile(`^[A-Za-z0-9_.,=+-]+$`)

var errFlagValue = errors.New("want a string, a number, true or false")

// A serverFlag is a flag of the server that an experiment may set, and the
// releases that have it.
type serverFlag struct {
	name  string
	since release
	until release // the last one that has it; 0 if it is there still
}

// in reports whether the release has the flag.
func (f serverFlag) in(r release) bool {
	return r >= f.since && (f.until == 0 || r <= f.until)
}

// serverFlags lists what an experiment may set. It is an allow list because
// etcd gains flags with every release: one that names a file, an address, a
// certificate or a discovery service must be refused on the day it appears.
// What the plan itself sets is not here either.
func serverFlags() []serverFlag {
	return []serverFlag{
		{name: "backend-batch-interval", since: v34},
		{name: "backend-batch-limit", since: v34},
		{name: "backend-bbolt-freelist-type", since: v35},
		{name: "bootstrap-defrag-threshold-megabytes", since: v36},
		{name: "compact-hash-check-time", since: v36},
		{name: "compaction-batch-limit", since: v36},
		{name: "compaction-sleep-interval", since: v36},
		{name: "corrupt-check-time", since: v36},
		{name: "enable-pprof", since: v34},
		{name: "experimental-backend-bbolt-freelist-type", since: v34, until: v34},
		{name: "experimental-bootstrap-defrag-threshold-megabytes", since: v35, until: v36},
		{name: "experimental-compact-hash-check-enabled", since: v35, until: v36},
		{name: "experimental-compact-hash-check-time", since: v35, until: v36},
		{name: "experimental-compaction-batch-limit", since: v34, until: v36},
		{name: "experimental-compaction-sleep-interval", since: v35, until: v36},
		{name: "experimental-corrupt-check-time", since: v34, until: v36},
		{name: "experimental-enable-lease-checkpoint", since: v34, until: v36},
		{name: "experimental-initial-corrupt-check", since: v34, until: v36},
		{name: "experimental-memory-mlock", since: v35, until: v36},
		{name: "experimental-txn-mode-write-with-shared-buffer", since: v35, until: v36},
		{name: "experimental-warning-apply-duration", since: v34, until: v36},
		{name: "experimental-watch-progress-notify-interval", since: v34, until: v36},
		{name: "feature-gates", since: v36},
		{name: "grpc-keepalive-interval", since: v34},
		{name: "grpc-keepalive-min-time", since: v34},
		{name: "grpc-keepalive-timeout", since: v34},
		{name: "initial-election-tick-advance", since: v34},
		{name: "max-concurrent-streams", since: v34},
		{name: "max-learners", since: v36},
		{name: "max-request-bytes", since: v34},
		{name: "max-snapshots", since: v34},
		{name: "max-txn-ops", since: v34},
		{name: "max-wals", since: v34},
		{name: "memory-mlock", since: v36},
		{name: "metrics", since: v34},
		{name: "pre-vote", since: v34},
		{name: "raft-read-timeout", since: v35},
		{name: "raft-write-timeout", since: v35},
		{name: "snapshot-catchup-entries", since: v36},
		{name: "strict-reconfig-check", since: v34},
		{name: flagNoFsync, since: v35},
		{name: "warning-apply-duration", since: v36},
		{name: "warning-unary-request-duration", since: v36},
		{name: "watch-progress-notify-interval", since: v36},
	}
}

// findFlag returns the flag of that name, or why an experiment may not set it.
func findFlag(name string) (serverFlag, error) {
	for _, f := range serverFlags() {
		if f.name == name {
			return f, nil
		}
	}
	return serverFlag{}, errors.New("not a flag an experiment may set: " +
		"paths, addresses, certificates and what the launch itself sets are refused, " +
		"and so is what is not on the list in docs/config.md")
}

// flagValue returns the JSON string, number or boolean as the text of a flag.
func flagValue(raw json.RawMessage) (string, error) {
	if len(raw) == 0 {
		return "", errFlagValue
	}
	value := string(raw)
	switch raw[0] {
	case '"':
		if err := json.Unmarshal(raw, &value); err != nil {
			return "", errFlagValue
		}
	case '{', '[', 'n':
		return "", errFlagValue
	}
	if len(value) > maxFlagValue {
		return "", fmt.Errorf("%d bytes is too long a value; want %d or fewer", len(value), maxFlagValue)
	}
	if !plainValue.MatchString(value) {
		return "", fmt.Errorf("%q: want letters, digits and _.,=+- only", value)
	}
	return value, nil
}
