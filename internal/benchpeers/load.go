//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/etcd"
	"github.com/dbtester/dbtester/internal/hist"
	"github.com/dbtester/dbtester/load"
	"github.com/dbtester/dbtester/workload"
)

const (
	ramp        = 32 // connections opened at once, as in control
	openTimeout = time.Minute
)

// loadOptions of one load against a running cluster.
type loadOptions struct {
	scenario
	endpoints  string
	record     string
	cpuProfile string
	memProfile string
}

func loadFlags(f *flag.FlagSet) *loadOptions {
	var o loadOptions
	f.StringVar(&o.endpoints, "endpoints", "", "host:port of every member, separated by commas")
	f.StringVar((*string)(&o.operation), "operation", string(workload.Write), "write or read")
	f.StringVar(&o.consistency, "consistency", linearizable, "of reads: linearizable or serializable")
	f.Int64Var(&o.requests, "requests", 100_000, "requests to send")
	f.IntVar(&o.clients, "clients", 1000, "closed-loop clients")
	f.IntVar(&o.connections, "connections", 100, "connections they share")
	f.StringVar(&o.record, "record", os.DevNull, "file for the histogram of every second")
	f.StringVar(&o.cpuProfile, "cpuprofile", "", "file for a CPU profile of the load")
	f.StringVar(&o.memProfile, "memprofile", "", "file for a heap profile at the end of the load")
	return &o
}

// run connects, loads and prints the figures as JSON.
func (o *loadOptions) run(ctx context.Context, stdout io.Writer) error {
	driver, err := etcd.New(nil)
	if err != nil {
		return err
	}
	stopProfile, err := startProfile(o.cpuProfile)
	if err != nil {
		return err
	}
	f, err := o.drive(ctx, driver)
	if err := errors.Join(err, stopProfile()); err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(f)
}

// drive does what control does between the start of a cluster and its stop:
// open and prove the connections, prepare, load while every second is recorded.
func (o *loadOptions) drive(ctx context.Context, driver database.Driver) (f figures, err error) {
	w, err := workload.New(o.spec())
	if err != nil {
		return figures{}, err
	}
	clients, err := o.connect(ctx, driver)
	if err != nil {
		return figures{}, err
	}
	defer func() { err = errors.Join(err, closeAll(clients)) }()
	if err := w.Prepare(ctx, clients[0]); err != nil {
		return figures{}, err
	}
	rec, err := newRecording(o.record)
	if err != nil {
		return figures{}, err
	}
	l := load.New(load.Options{Requests: o.requests, Sink: rec})
	var ops []load.Op
	for i := range o.clients {
		ops = append(ops, w.Op(clients[i%len(clients)], nil))
	}
	outcome, err := l.Run(ctx, load.Stage{Number: 1, Ops: ops, Requests: o.requests})
	if err = errors.Join(err, writeHeapProfile(o.memProfile), rec.close()); err != nil {
		return figures{}, err
	}
	return figuresOf(l, outcome)
}

// connect opens the connections, spread over the endpoints round robin.
func (o *loadOptions) connect(ctx context.Context, driver database.Driver) ([]database.Client, error) {
	endpoints := strings.Split(o.endpoints, ",")
	clients := make([]database.Client, o.connections)
	opening, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	group, opening := errgroup.WithContext(opening)
	group.SetLimit(ramp)
	for i := range clients {
		group.Go(func() error {
			endpoint := endpoints[i%len(endpoints)]
			client, err := driver.Open(opening, database.Target{Endpoints: []string{endpoint}, Consistency: o.consistency})
			if err != nil {
				return fmt.Errorf("open connection %d of %d: %w", i+1, len(clients), err)
			}
			clients[i] = client
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, errors.Join(err, closeAll(clients))
	}
	return clients, nil
}

func closeAll(clients []database.Client) error {
	var group errgroup.Group
	for _, c := range clients {
		if c != nil {
			group.Go(c.Close)
		}
	}
	return group.Wait()
}

// figuresOf reads the figures of a load that had no error.
func figuresOf(l *load.Load, o load.Outcome) (figures, error) {
	if o.OK != o.Planned {
		return figures{}, fmt.Errorf("%d of %d requests succeeded: %v", o.OK, o.Planned, l.Errors())
	}
	h := l.Service()
	return figures{
		Requests:   o.OK,
		Throughput: float64(o.OK) / o.End.Sub(o.Start).Seconds(),
		Average:    h.Mean(),
		P50:        h.Quantile(0.50),
		P90:        h.Quantile(0.90),
		P99:        h.Quantile(0.99),
		P999:       h.Quantile(0.999),
	}, nil
}

// A recording writes the histogram of every second as it ends, as control does.
type recording struct {
	file *os.File
	log  *hist.LogWriter
}

var _ load.Sink = (*recording)(nil)

func newRecording(path string) (*recording, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, err
	}
	log, err := hist.NewLogWriter(file, time.Now())
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &recording{file: file, log: log}, nil
}

// Second writes one second to disk.
func (r *recording) Second(s load.Second) error {
	start := time.Unix(s.Unix, 0)
	return r.log.Write(hist.Service, start, start.Add(time.Second), s.Service)
}

func (r *recording) close() error { return r.file.Close() }
