package embedded_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/etcd"
)

// flagValues has a value for every flag an experiment may set that is not a
// number.
func flagValues() map[string]any {
	return map[string]any{
		"backend-batch-interval": "100ms", "backend-bbolt-freelist-type": "map",
		"compact-hash-check-time": "1m", "compaction-sleep-interval": "10ms", "corrupt-check-time": "1m",
		"enable-pprof": true, "experimental-backend-bbolt-freelist-type": "map",
		"experimental-compact-hash-check-enabled": true, "experimental-compact-hash-check-time": "1m",
		"experimental-compaction-sleep-interval": "10ms", "experimental-corrupt-check-time": "1m",
		"experimental-enable-lease-checkpoint": true, "experimental-initial-corrupt-check": true,
		"experimental-memory-mlock": true, "experimental-txn-mode-write-with-shared-buffer": true,
		"experimental-warning-apply-duration": "1s", "experimental-watch-progress-notify-interval": "1m",
		"feature-gates":           "StopGRPCServiceOnDefrag=true",
		"grpc-keepalive-interval": "1h", "grpc-keepalive-min-time": "5s", "grpc-keepalive-timeout": "20s",
		"initial-election-tick-advance": true, "memory-mlock": true, "metrics": "extensive", "pre-vote": true,
		"raft-read-timeout": "5s", "raft-write-timeout": "5s", "strict-reconfig-check": true, "unsafe-no-fsync": true,
		"warning-apply-duration": "1s", "warning-unary-request-duration": "1s", "watch-progress-notify-interval": "1m",
	}
}

// numericFlags are the others.
func numericFlags() []string {
	return []string{
		"backend-batch-limit", "bootstrap-defrag-threshold-megabytes", "compaction-batch-limit",
		"experimental-bootstrap-defrag-threshold-megabytes", "experimental-compaction-batch-limit",
		"max-concurrent-streams", "max-learners", "max-request-bytes", "max-snapshots", "max-txn-ops", "max-wals",
		"snapshot-catchup-entries",
	}
}

// TestServerKnowsItsFlags gives each server every flag that the driver lets
// through for its version, one at a time, together with --version: etcd parses
// all flags first, and ends with an error at one it does not know.
func TestServerKnowsItsFlags(t *testing.T) {
	values := flagValues()
	for _, name := range numericFlags() {
		values[name] = 1
	}
	for _, i := range installations(t) {
		t.Run(i.Name, func(t *testing.T) {
			accepted := 0
			for name, value := range values {
				argv, ok := launchWith(t, i, name, value)
				if !ok {
					continue
				}
				accepted++
				argv = append(argv, "--version")
				output, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
				if err != nil || !strings.Contains(string(output), i.Version) {
					t.Errorf("%s: %v\n%s", name, err, output)
				}
			}
			if accepted < 15 {
				t.Errorf("only %d flags are for this version, want most of the %d", accepted, len(values))
			}
		})
	}
}

// launchWith returns the command line with one further flag, or false if the
// version does not have the flag.
func launchWith(t *testing.T, i database.Installation, name string, value any) ([]string, bool) {
	t.Helper()
	options, err := json.Marshal(map[string]any{"flags": map[string]any{name: value}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := etcd.New(options)
	if err != nil {
		t.Fatalf("%s: %v", options, err)
	}
	launch, err := d.Plan(database.Member{
		Index: 1, Cluster: []database.Peer{{Name: "member-1", Host: "127.0.0.7"}}, Token: "test",
		DataDir: filepath.Join(t.TempDir(), "data"), Installation: i,
	})
	if _, refused := errors.AsType[*database.OptionError](err); refused {
		return nil, false
	}
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("--%s=%v", name, value); launch.Argv[len(launch.Argv)-1] != want {
		t.Fatalf("got last argument %q, want %q", launch.Argv[len(launch.Argv)-1], want)
	}
	return launch.Argv, true
}
