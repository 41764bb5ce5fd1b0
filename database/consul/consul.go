// Package consul launches server agents of a Consul cluster and puts load on
// their key-value store over github.com/hashicorp/consul/api.
//
// A client is a pool of HTTP connections to one agent: one connection for one
// caller, and one more for each that calls at the same time, because HTTP/1.1
// carries one request after the other. None is dialed twice unless it breaks.
package consul

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/dbtester/dbtester/database"
)

// Consistencies of a read. Linearizable is consistent by the name that all
// stores share.
const (
	linearizable = "linearizable"
	consistent   = "consistent"
	leased       = "default"
	stale        = "stale"
)

// readsLeased is what Consul's default mode gives: the leader answers by itself,
// and for the moment in which another one is elected unawares, both do.
const readsLeased = "leader's lease (default mode, can be stale around an election)"

// driver is a [database.Driver]. Beyond its options it remembers only which
// agents have taken a write.
type driver struct {
	options options

	mu    sync.Mutex
	ready map[string]bool // by endpoint
}

var (
	_ database.Factory = New
	_ database.Driver  = (*driver)(nil)
)

// New returns the driver with the options decoded from JSON; a wrong one is a
// [*database.OptionError]:
//
//	raft_multiplier          scale of Raft's timeouts, default 1, as for production
//	raft_logstore            "wal" (default) or "boltdb"
//	raft_snapshot_threshold  log entries between snapshots, default 16384
//	raft_snapshot_interval   pause between checks of the threshold, default "30s"
//	raft_trailing_logs       entries kept after a snapshot, default 10240
func New(raw json.RawMessage) (database.Driver, error) {
	o := defaultOptions()
	if err := database.DecodeOptions(raw, &o); err != nil {
		return nil, err
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	return &driver{options: o, ready: make(map[string]bool)}, nil
}

// Guarantee tells what reads and writes promise. Writes are linearizable with
// every consistency.
func (d *driver) Guarantee(consistency string) (database.Guarantee, error) {
	g := database.Guarantee{Durable: "fsync of the Raft log on a quorum before the answer", Fsync: true}
	switch consistency {
	case linearizable, consistent:
		g.Reads = linearizable
	case leased:
		g.Reads = readsLeased
	case stale:
		g.Reads = stale
	default:
		return database.Guarantee{}, fmt.Errorf("consistency %q is unknown to consul; use %s (its other name is %s), %s or %s",
			consistency, consistent, linearizable, leased, stale)
	}
	return g, nil
}

// MaxValueBytes returns the size of the largest value the store takes.
func (*driver) MaxValueBytes() int { return maxValueBytes }

// isReady reports whether the agent has taken a write over this driver.
func (d *driver) isReady(endpoint string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ready[endpoint]
}

func (d *driver) setReady(endpoint string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ready[endpoint] = true
}
