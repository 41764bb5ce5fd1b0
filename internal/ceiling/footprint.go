//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/procfs"

	"github.com/dbtester/dbtester/workload"
)

// loadOptions of one load in this process.
type loadOptions struct {
	operation workload.Operation
	requests  int64
	clients   int
}

func loadFlags(f *flag.FlagSet) *loadOptions {
	var o loadOptions
	f.StringVar((*string)(&o.operation), "operation", string(workload.Mixed), "write, read or mixed, which is half of each")
	f.Int64Var(&o.requests, "requests", 1_000_000, "requests to send")
	f.IntVar(&o.clients, "clients", 1000, "closed-loop clients")
	return &o
}

// args are those of the verb that does the same.
func (o loadOptions) args() []string {
	return []string{
		verbLoad, "-operation=" + string(o.operation),
		"-requests=" + strconv.FormatInt(o.requests, 10), "-clients=" + strconv.Itoa(o.clients),
	}
}

// A footprint is what one load left in its process's memory.
type footprint struct {
	Requests int64
	Seconds  float64
	Resident int64 // bytes, right after the load and without another garbage collection
	Peak     int64 // bytes, the most until then
}

// run loads and prints the footprint as JSON.
func (o loadOptions) run(ctx context.Context, stdout io.Writer) (err error) {
	if o.requests < 1 || o.clients < 1 {
		return fmt.Errorf("%d requests of %d clients; want 1 or more of each", o.requests, o.clients)
	}
	h, err := newHarness(ctx, o.operation, o.clients)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	if err := o.settle(ctx, h); err != nil {
		return err
	}
	began := time.Now()
	outcome, err := h.load(ctx, o.requests)
	if err != nil {
		return err
	}
	f := footprint{Requests: outcome.OK, Seconds: time.Since(began).Seconds()}
	if f.Resident, f.Peak, err = residentBytes(); err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(f)
}

// settled is after how many garbage collections the heap has the size that the
// collector lets it have: a load of a third of a second sees none.
const settled = 4

// settle sends requests, as a warm-up does, until the heap has its size. What is
// measured after it can only be what the number of requests adds.
func (o loadOptions) settle(ctx context.Context, h *harness) error {
	var memory runtime.MemStats
	for runtime.ReadMemStats(&memory); memory.NumGC < settled; runtime.ReadMemStats(&memory) {
		if _, err := h.load(ctx, int64(o.clients)*100); err != nil {
			return err
		}
	}
	return nil
}

// residentBytes returns the memory of this process that is resident, and the
// most that was.
func residentBytes() (now, peak int64, err error) {
	self, err := procfs.Self()
	if err != nil {
		return 0, 0, fmt.Errorf("read our own memory: %w", err)
	}
	status, err := self.NewStatus()
	if err != nil {
		return 0, 0, fmt.Errorf("read our own memory: %w", err)
	}
	if status.VmRSS == 0 || status.VmHWM == 0 {
		return 0, 0, errors.New("read our own memory: the kernel does not tell it")
	}
	return int64(status.VmRSS), int64(status.VmHWM), nil
}
