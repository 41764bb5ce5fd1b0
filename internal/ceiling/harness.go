//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/memory"
	"github.com/dbtester/dbtester/internal/hist"
	"github.com/dbtester/dbtester/load"
	"github.com/dbtester/dbtester/workload"
)

// Sizes of keys and values are those of the published experiments, in bytes. The
// keys are so few that what the store holds does not grow.
const (
	keySize   = 256
	valueSize = 1024
	keySpace  = 1000
)

// A harness is all that stands between an experiment and its store: clients of
// the memory driver and the requests they send.
type harness struct {
	workload *workload.Workload
	clients  []database.Client
	ops      []load.Op // one per client
}

// newHarness opens the clients and puts the keys.
func newHarness(ctx context.Context, operation workload.Operation, clients int) (*harness, error) {
	driver, err := memory.New(nil)
	if err != nil {
		return nil, err
	}
	w, err := workload.New(workload.Spec{
		Operation: operation, Reads: 0.5, KeySize: keySize, KeyOrder: workload.Uniform, KeySpace: keySpace,
		ValueSize: valueSize, Seed: 1,
	})
	if err != nil {
		return nil, err
	}
	h := &harness{workload: w}
	for range clients {
		c, err := driver.Open(ctx, database.Target{Endpoints: []string{"memory:1"}, Consistency: "linearizable"})
		if err != nil {
			return nil, err
		}
		h.clients = append(h.clients, c)
		h.ops = append(h.ops, w.Op(c, nil))
	}
	return h, w.Prepare(ctx, h.clients[0])
}

// load sends the requests in a closed loop. Every second's histogram is
// written, as in an experiment, and dropped.
func (h *harness) load(ctx context.Context, requests int64) (load.Outcome, error) {
	log, err := hist.NewLogWriter(io.Discard, time.Now())
	if err != nil {
		return load.Outcome{}, err
	}
	l := load.New(load.Options{Requests: requests, Sink: load.SinkFunc(func(s load.Second) error {
		start := time.Unix(s.Unix, 0)
		return log.Write(hist.Service, start, start.Add(time.Second), s.Service)
	})})
	outcome, err := l.Run(ctx, load.Stage{Number: 1, Ops: h.ops, Requests: requests})
	if err == nil && outcome.OK != outcome.Planned {
		err = fmt.Errorf("%d of %d requests succeeded: %v", outcome.OK, outcome.Planned, l.Errors())
	}
	return outcome, err
}

func (h *harness) close() error {
	errs := make([]error, len(h.clients))
	for i, c := range h.clients {
		errs[i] = c.Close()
	}
	return errors.Join(errs...)
}
