// Package zookeeper launches members of a ZooKeeper ensemble and puts load on
// them over github.com/go-zookeeper/zk.
//
// A client is one session over one connection to one server. A key is a znode
// below one of a thousand parents, because a parent with a million children
// cannot be listed. The package knows nothing of Maven or of where Java is: an
// installation brings both; see scripts/install-databases.sh.
package zookeeper

import (
	"encoding/json"
	"fmt"

	"github.com/dbtester/dbtester/database"
)

// Consistencies of a read. ZooKeeper's own is sequential; sync asks the leader
// before each read. Linearizable is accepted for the writes, which are, and
// gives the reads the most there is: sync.
const (
	linearizable = "linearizable"
	sequential   = "sequential"
	stale        = "stale"
	synced       = "sync"
)

// readsSynced is what a sync before a read gives: the flush of the path from the
// leader, but no quorum round, so a leader that was replaced unawares can answer.
const readsSynced = "sequential (sync before each read, not linearizable)"

// driver is a [database.Driver]. Beyond its options it remembers only that the
// parents of all keys are there.
type driver struct {
	options options
	parents *parents
}

var (
	_ database.Factory = New
	_ database.Driver  = (*driver)(nil)
)

// New returns the driver with the options decoded from JSON; a wrong one is a
// [*database.OptionError]:
//
//	tick_time_ms     unit of the server's clock, default 2000
//	init_limit       ticks a follower may take to join, default 10
//	sync_limit       ticks a follower may be behind, default 5
//	snap_count       transactions between snapshots, default 100000
//	heap             -Xms and -Xmx, default "1g"; a million keys of 1 KiB want "4g"
//	jute_maxbuffer   largest packet a server takes in bytes, default 1048575
//	data_log_dir     transaction log in a folder of its own, default true
//	jvm_flags        further flags such as "-XX:+UseZGC" or "-XX:MaxGCPauseMillis=50"
//	max_value_bytes  largest value a client can write or read, default 8192;
//	                 a connection has two buffers of that size
func New(raw json.RawMessage) (database.Driver, error) {
	o := defaultOptions()
	if err := database.DecodeOptions(raw, &o); err != nil {
		return nil, err
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	return &driver{options: o, parents: newParents()}, nil
}

// Guarantee tells what reads and writes promise. Writes are linearizable with
// every consistency.
func (d *driver) Guarantee(consistency string) (database.Guarantee, error) {
	g := database.Guarantee{Durable: "fsync of the transaction log on a quorum before the answer", Fsync: true}
	switch consistency {
	case sequential, stale:
		g.Reads = sequential
	case synced, linearizable:
		g.Reads = readsSynced
	default:
		return database.Guarantee{}, fmt.Errorf(
			"consistency %q is unknown to zookeeper; use %s (its other name here is %s), %s, or %s, whose reads are those of %s",
			consistency, sequential, stale, synced, linearizable, synced)
	}
	return g, nil
}

// MaxValueBytes returns the size of the largest value a client can write or read.
func (d *driver) MaxValueBytes() int { return d.options.MaxValueBytes }
