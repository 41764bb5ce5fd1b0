package etcd

import (
	"strconv"
	"time"

	"github.com/dbtester/dbtester/database"
)

// logLevel of the members. Info adds elections and snapshots, a few lines a
// minute, to the slow requests that even warn prints: they explain the dips.
const logLevel = "info"

// serverSettings lists what the launch set or deliberately left, for the manifest.
func (d *driver) serverSettings(r release) []database.Setting {
	compaction := "off"
	if mode, retention := d.options.compaction(); retention != "0" {
		compaction = mode + " " + retention
	}
	settings := []database.Setting{
		set("snapshot-count", strconv.Itoa(d.options.SnapshotCount), "the default is 100,000 up to 3.5 and 10,000 from 3.6: pinned, so that versions compare"),
		set("quota-backend-bytes", strconv.FormatInt(d.options.QuotaBackendBytes, 10), "the default of 2 GiB ends a run of a million keys with NOSPACE"),
		set("auto-compaction", compaction, "one explicit mode for every run; off lets overwrites grow"),
		set("log-level", logLevel, "elections and snapshots explain dips and are a few lines a minute"),
		d.timing("heartbeat-interval", d.options.HeartbeatIntervalMillis, defaultHeartbeatMillis),
		d.timing("election-timeout", d.options.ElectionTimeoutMillis, defaultElectionMillis),
		left("wal-dir", "data-dir", "the write-ahead log shares the data directory, and so the device, with backend and snapshots"),
		d.fsync(),
		left("alarms", "none", "a new data directory has none; an alarm outlives a restart, a data directory is not used twice"),
		left("unapplied entries", "5000", `hard-coded; above it the server answers "too many requests", counted as overload`),
		left("server request timeout", d.serverTimeout().String(), "5 s and two election timeouts, hard-coded; the client's default deadline of 5 s is below it"),
		left("GOMAXPROCS", "all cores", "the member has the machine; with --local it shares it"),
	}
	settings = append(settings, d.defaults(r)...)
	if hasV2(r) {
		settings = append(settings, set("enable-v2", "false", "the v2 store costs memory and is gone from 3.6"))
	}
	for _, name := range d.options.flagNames() {
		if name != flagNoFsync {
			settings = append(settings, set(name, d.options.flag(name), "from the experiment's flags"))
		}
	}
	return settings
}

// defaults lists flags with a default that matters, unless the experiment sets
// them.
func (d *driver) defaults(r release) []database.Setting {
	preVote := "true"
	if r == v34 {
		preVote = "false"
	}
	all := []database.Setting{
		left("backend-batch-interval", "100ms", "the backend commits in batches; the write-ahead log does not wait for it"),
		left("backend-batch-limit", "10000", "the backend commits in batches; the write-ahead log does not wait for it"),
		left("max-request-bytes", "1572864", "larger than any value the workload writes by default"),
		left("max-concurrent-streams", "4294967295", "any number of clients may share a connection"),
		left("pre-vote", preVote, "off in 3.4, on from 3.5; it matters only when a member is lost"),
	}
	var kept []database.Setting
	for _, s := range all {
		if d.options.flag(s.Name) == "" {
			kept = append(kept, s)
		}
	}
	return kept
}

func (d *driver) timing(name string, millis, otherwise int) database.Setting {
	if millis > 0 {
		return set(name, strconv.Itoa(millis)+"ms", "from the experiment's options")
	}
	return left(name, strconv.Itoa(otherwise)+"ms", "the default suits members in one place")
}

// serverTimeout returns when a server gives a request up by itself.
func (d *driver) serverTimeout() time.Duration {
	election := defaultElectionMillis
	if ms := d.options.ElectionTimeoutMillis; ms > 0 {
		election = ms
	}
	return 5*time.Second + 2*time.Duration(election)*time.Millisecond
}

func (d *driver) fsync() database.Setting {
	if d.options.noFsync() {
		return set(flagNoFsync, "true", "from the experiment's flags: writes are NOT durable")
	}
	return left(flagNoFsync, "false", "every entry is synced; on tmpfs or a virtual disk that measures little")
}

// clientSettings lists how the client differs from its defaults.
func clientSettings() []database.Setting {
	return []database.Setting{
		set("client: retries", "none", "the default of 100 hides failures in latency; the retry interceptor is taken out"),
		set("client: deadline", "on every call", "5 s unless the experiment says otherwise; a dead cluster must not look like a hang"),
		left("client: wait for ready", "true", "a call waits for its connection to come back, up to its deadline"),
		left("client: balancer", "round robin", "over the endpoints of one connection; the placement setting gives each connection its own"),
		set("client: keepalive", keepaliveTime.String(), "a machine that is gone is noticed; above the server's minimum of 5 s"),
		set("client: reconnect", reconnectMin.String()+" to "+reconnectMax.String(), "the default of up to 2 min would outlast a restart of the member"),
		set("client: flow control window", strconv.Itoa(windowBytes), "fixed, so that no bandwidth probes are sent with the answers"),
		set("client: message limit", strconv.Itoa(maxSendBytes), "as in the official client: a little above the server's own"),
	}
}

func set(name, value, reason string) database.Setting {
	return database.Setting{Name: name, Value: value, Set: true, Reason: reason}
}

func left(name, value, reason string) database.Setting {
	return database.Setting{Name: name, Value: value, Reason: reason}
}
