// Package memory is a store inside the harness's own process, for unit tests and
// dry runs: a run against it measures the harness and nothing else.
//
// It has no members and no network. All clients opened from one driver value
// share one store; two driver values share nothing.
package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/dbtester/dbtester/database"
)

// linearizable is what every read is: a shard is behind one lock.
const (
	linearizable = "linearizable"
	stale        = "stale"
)

// version of the store, as it reports it.
const version = "1.0.0"

type options struct {
	Latency string `json:"latency"`
}

// driver is a [database.Driver] with the store inside.
type driver struct {
	store   store
	latency time.Duration
	leader  leader
}

var (
	_ database.Factory = New
	_ database.Driver  = (*driver)(nil)
)

// New returns a driver with an empty store. Its only option is latency, the time
// every call takes, such as "2ms"; the default is none. A wrong option is a
// [*database.OptionError].
func New(raw json.RawMessage) (database.Driver, error) {
	var o options
	if err := database.DecodeOptions(raw, &o); err != nil {
		return nil, err
	}
	d := &driver{}
	d.store.init()
	if o.Latency == "" {
		return d, nil
	}
	latency, err := time.ParseDuration(o.Latency)
	if err != nil || latency < 0 {
		return nil, &database.OptionError{
			Path: "latency", Err: fmt.Errorf(`%q is not a duration; want one such as "2ms"`, o.Latency),
		}
	}
	d.latency = latency
	return d, nil
}

// Guarantee tells what reads and writes promise.
func (d *driver) Guarantee(consistency string) (database.Guarantee, error) {
	if consistency != linearizable && consistency != stale {
		return database.Guarantee{}, fmt.Errorf("consistency %q is unknown to memory; use %s or %s", consistency, linearizable, stale)
	}
	// A stale read is served from the same map, so it promises no less.
	return database.Guarantee{Reads: linearizable, Durable: "not at all: in the memory of the harness"}, nil
}

// Open returns a client of the driver's store, whatever the endpoints. The first
// endpoint that any client names is the leader from then on.
func (d *driver) Open(ctx context.Context, t database.Target) (database.Client, error) {
	if _, err := d.Guarantee(t.Consistency); err != nil {
		return nil, err
	}
	if len(t.Endpoints) == 0 {
		return nil, errors.New("open memory: no endpoints")
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open memory: %w", database.ContextError(err))
	}
	d.leader.elect(t.Endpoints[0])
	return &client{driver: d, endpoint: t.Endpoints[0], timeout: t.RequestTimeout()}, nil
}
