package consul

import (
	"strconv"
	"time"

	"github.com/dbtester/dbtester/database"
)

const (
	// retryInterval is the pause between tries to join; Consul's own of 30 s
	// makes a member wait that long for another that starts a moment later.
	retryInterval = time.Second
	// verifyInterval is how often Consul reads its write-ahead log back, by
	// its own default for a new data directory.
	verifyInterval = time.Minute
	// maxValueBytes is Consul's own limit of a value.
	maxValueBytes = 512 << 10
)

// serverSettings lists what the launch set or deliberately left, for the manifest.
func (d *driver) serverSettings() []database.Setting {
	o := d.options
	verified := "off"
	if d.logStore().Verification.Enabled {
		verified = "every " + verifyInterval.String()
	}
	return []database.Setting{
		set("limits.http_max_conns_per_client", "0", "no limit; 200 per address would refuse most of a thousand clients of one machine"),
		set("performance.raft_multiplier", strconv.Itoa(o.RaftMultiplier), "the default of 5 is for small machines; 1 is Consul's own advice for production"),
		set("raft_logstore.backend", o.RaftLogStore, "pinned; the default is boltdb in older versions and wal in 1.22"),
		set("raft_logstore.verification", verified, "as Consul itself has it for a new data directory"),
		set("raft_snapshot_threshold", strconv.Itoa(o.RaftSnapshotThreshold), "pinned, so that versions compare"),
		set("raft_snapshot_interval", o.RaftSnapshotInterval, "pinned, so that versions compare"),
		set("raft_trailing_logs", strconv.Itoa(o.RaftTrailingLogs), "pinned, so that versions compare"),
		set("client_addr", "the member's host", "the default is 127.0.0.1"),
		set("retry_interval", retryInterval.String(), "the default of 30s is the wait for a member that starts a moment later"),
		set("autopilot.cleanup_dead_servers", "false", "a killed member stays a member, as in the other stores"),
		set("leave_on_terminate", "false", "a stop is quick and leaves the data"),
		set("limits.kv_max_value_size", strconv.Itoa(maxValueBytes), "the default, written down; a larger value is refused before it is sent"),
		set("datacenter", "of the run", "agents of another run cannot join"),
		set("dns, grpc, serf_wan, ui, connect, peering", "off", "not what is measured; fewer ports"),
		set("telemetry.prometheus_retention_time", retentionTime, "the agent's own figures, asked each second; without it they are those of the last whole 10 s"),
		set("telemetry.disable_hostname", "true", "the machine's name would be part of the figures' names"),
		set("disable_update_check", "true", "no traffic to anywhere else"),
		set("log_level", logLevel, "elections and snapshots explain dips and are a few lines a minute"),
		left("-dev", "not used", "it keeps the data in memory and changes timing"),
		left("performance.rpc_hold_timeout", "7s", "a request without a leader waits that long in the server; the client's deadline is below it"),
		left("limits.request_limits", "disabled", "no rate limit"),
		left("limits.rpc_max_conns_per_client", "100", "members share one connection for all requests they forward"),
		left("log fsync", "every batch", "every entry is synced; on tmpfs or a virtual disk that measures little"),
		left("GOMAXPROCS", "all cores", "the member has the machine; with --local it shares it"),
	}
}

// clientSettings lists how the client differs from its defaults.
func clientSettings() []database.Setting {
	return []database.Setting{
		set("client: idle connections", strconv.Itoa(maxIdleConns), "the default of one more than there are cores redials for ever"),
		set("client: idle timeout", "none", "a connection is not dialed anew between the steps of a ladder"),
		left("client: connections", "one per concurrent caller", "HTTP/1.1 carries one request at a time; clients that share a connection of the experiment share a pool"),
		set("client: redial", "after "+redialPause.String(), "after a dial in vain; or a dead agent's clients would spend the run's requests on refused connections"),
		set("client: deadline", "on every call", "the library has none; 5 s unless the experiment says otherwise"),
		set("client: compression", "off", "the default would ask the server to compress its answers"),
		set("client: proxy", "none", "none from the environment either"),
		left("client: repeated reads", "by net/http", "a read whose idle connection the server has just closed is sent again; a write is not"),
		set("client: readiness", "a write, then a read", "an agent is ready once a quorum has answered a write through it; later connections begin with a read"),
	}
}

func set(name, value, reason string) database.Setting {
	return database.Setting{Name: name, Value: value, Set: true, Reason: reason}
}

func left(name, value, reason string) database.Setting {
	return database.Setting{Name: name, Value: value, Reason: reason}
}
