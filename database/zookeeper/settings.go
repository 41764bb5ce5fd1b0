package zookeeper

import (
	"strconv"
	"strings"
	"time"

	"github.com/dbtester/dbtester/database"
)

const (
	// listenBacklog takes the connects of a thousand clients at once; the
	// server's own of 50 stalls them.
	listenBacklog = 2048
	// maxSessionTimeout lets a client have the sessionTimeout it asks for also
	// with a short tick; the server's own is 20 ticks.
	maxSessionTimeout = time.Minute
	// sessionTimeout outlives an election and a long pause of the JVM.
	sessionTimeout = 30 * time.Second
)

// serverSettings lists what the launch set or deliberately left, for the manifest.
func (d *driver) serverSettings() []database.Setting {
	o := d.options
	settings := []database.Setting{
		set("tickTime", strconv.Itoa(o.TickTimeMillis)+"ms", "the unit of heartbeats and timeouts, written down"),
		set("initLimit", strconv.Itoa(o.InitLimit)+" ticks", "how long a follower may take to join"),
		set("syncLimit", strconv.Itoa(o.SyncLimit)+" ticks", "how far a follower may be behind"),
		set("snapCount", strconv.Itoa(o.SnapCount), "transactions between snapshots, pinned so that versions compare"),
		set("maxClientCnxns", "0", "no limit; 60 per address would refuse most of a thousand clients of one machine"),
		set("clientPortListenBacklog", strconv.Itoa(listenBacklog), "50 would stall a thousand connects"),
		set("maxSessionTimeout", maxSessionTimeout.String(), "the client asks for "+sessionTimeout.String()+"; the default clamps to 20 ticks"),
		set("4lw.commands.whitelist", "srvr,ruok,mntr,conf", "leader and version are found with srvr, the server's own figures with mntr; the others are for whoever looks"),
		set("admin.enableServer", "false", "it would take port 8080"),
		d.logDirSetting(),
		set("jute.maxbuffer", strconv.Itoa(o.JuteMaxBuffer), "largest packet in bytes; keys are spread over "+strconv.Itoa(shards)+" parents so that each can be listed"),
		set("heap", o.Heap, "-Xms and -Xmx; all data is in it"),
		set("PerfDisableSharedMem", "true", "the JVM's statistics file in the temporary folder can stall a pause on the disk"),
		set("ExitOnOutOfMemoryError", "true", "a member without memory must end, not limp"),
		set("GC log", "standard output", "kept with the member's log"),
		set("log level", "INFO", "elections, snapshots and slow fsyncs explain dips and are a few lines a minute"),
		set("standaloneEnabled", "false", "one member is a quorum of one and takes the same path as three"),
		set("quorumListenOnAllIPs", "false", "three members on one machine have three addresses"),
	}
	if len(o.JVMFlags) > 0 {
		settings = append(settings, set("JVM flags", strings.Join(o.JVMFlags, " "), "from the experiment's options"))
	} else {
		settings = append(settings, left("JVM flags", "none", "the JVM chooses its collector by cores and memory: G1 from two cores and 2 GB"))
	}
	return append(
		settings,
		left("forceSync", "yes", "every transaction is synced; on tmpfs or a virtual disk that measures little"),
		left("autopurge", "off", "a run is shorter than its interval, and every run has a fresh folder"),
		left("preAllocSize", "64 MiB", "the log grows in such steps, and disk use with it"),
		left("globalOutstandingLimit", "1000", "a server with more requests at hand reads no further ones from busy connections"),
		left("snapshot.compression.method", "none", "snapshots are written as they are"),
		left("leaderServes", "yes", "the leader takes clients too; placement decides who connects to it"),
		left("flushDelay", "0ms", "a lone write is synced at once, writes that wait are synced together"),
	)
}

func (d *driver) logDirSetting() database.Setting {
	if d.options.DataLogDir {
		return set("dataLogDir", "own folder", "transaction log apart from snapshots, but on the same device")
	}
	return set("dataLogDir", "dataDir", "transaction log and snapshots share a folder, by the experiment's options")
}

// clientSettings lists how the client differs from its defaults.
func (d *driver) clientSettings() []database.Setting {
	return []database.Setting{
		set("client: buffers", strconv.Itoa(bufferBytes(d.options.MaxValueBytes)), "bytes, twice per connection; the default of 1.5 MiB is 3 GB for a thousand"),
		set("client: session timeout", sessionTimeout.String(), "asked for; outlives an election"),
		set("client: servers per connection", "1", "the client shuffles a list; the placement setting gives each connection its own"),
		set("client: deadline", "on every call", "the library has none; 5 s unless the experiment says otherwise"),
		set("client: session first", "true", "open waits for the session, whose creation is a write that a quorum has answered"),
		set("client: watchdog", handshakeTimeout.String(), "a handshake that takes longer is cut off; the library would wait for minutes"),
		set("client: log", "none", "the library reports every connect"),
		set("client: put", "create or set", "create, and set once a key was found to exist; then set first until a key is missing"),
		left("client: reconnect", "by itself", "first at once, then once a second; calls that were never sent fail, those sent are indeterminate"),
		set("client: session expiry", "one failed call", "the library begins a new session unasked; the next call reports the loss"),
	}
}

func set(name, value, reason string) database.Setting {
	return database.Setting{Name: name, Value: value, Set: true, Reason: reason}
}

func left(name, value, reason string) database.Setting {
	return database.Setting{Name: name, Value: value, Reason: reason}
}
