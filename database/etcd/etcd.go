// Package etcd launches members of an etcd cluster, 3.4 to 3.7, and puts load on
// them over the official client, go.etcd.io/etcd/client/v3.
//
// It does not know the etcd server: the one inside our own binary is package
// embedded, below this one, and only the command imports that.
package etcd

import (
	"encoding/json"
	"fmt"

	"google.golang.org/grpc/mem"

	"github.com/dbtester/dbtester/database"
)

// Consistencies of a read. Stale is serializable by the name that all stores
// share.
const (
	linearizable = "linearizable"
	serializable = "serializable"
	stale        = "stale"
)

// driver is a [database.Driver]. Its connections share a pool of buffers.
type driver struct {
	options options
	buffers mem.BufferPool
}

var (
	_ database.Factory = New
	_ database.Driver  = (*driver)(nil)
)

// New returns the driver with the options decoded from JSON; a wrong one is a
// [*database.OptionError]:
//
//	snapshot_count             applied entries between snapshots, default 100000
//	quota_backend_bytes        size limit of the backend in bytes, default 8 GiB
//	auto_compaction_mode       "" (off), "periodic" or "revision"
//	auto_compaction_retention  "5m", or a number of hours; or a number of revisions
//	heartbeat_interval_ms      0 leaves the server's own default
//	election_timeout_ms        0 leaves the server's own default
//	flags                      further server flags, name to value, from a fixed list
func New(raw json.RawMessage) (database.Driver, error) {
	o := defaultOptions()
	if err := database.DecodeOptions(raw, &o); err != nil {
		return nil, err
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	return &driver{options: o, buffers: newBuffers()}, nil
}

// Guarantee tells what reads and writes promise.
func (d *driver) Guarantee(consistency string) (database.Guarantee, error) {
	g := database.Guarantee{Durable: "fsync of the write-ahead log on a quorum before the answer", Fsync: true}
	if d.options.noFsync() {
		g.Fsync = false
		g.Durable = "in the memory of a quorum before the answer; no fsync, because flags.unsafe-no-fsync is set"
	}
	switch consistency {
	case linearizable:
		g.Reads = linearizable
	case serializable, stale:
		g.Reads = stale
	default:
		return database.Guarantee{}, fmt.Errorf("consistency %q is unknown to etcd; use %s, %s or its other name %s",
			consistency, linearizable, serializable, stale)
	}
	return g, nil
}
