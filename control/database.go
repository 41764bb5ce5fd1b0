package control

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/dbtester/dbtester/config"
	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/load"
	"github.com/dbtester/dbtester/result"
	"github.com/dbtester/dbtester/workload"
)

const (
	countTimeout   = 5 * time.Minute
	prepareClients = 64
)

// A databaseRun is one database of the experiment under way.
type databaseRun struct {
	*run
	plan    plan
	record  *result.Database // in the manifest
	dir     string
	cluster *cluster
	stages  []result.Stage
}

// whole starts the cluster, loads it, stops it and notes how it went.
func (d *databaseRun) whole(ctx context.Context) error {
	if err := os.Mkdir(d.dir, 0o755); err != nil {
		return fmt.Errorf("make result folder: %w", err)
	}
	err := d.measure(ctx)
	switch {
	case ctx.Err() != nil:
		d.record.Status, d.record.Reason = result.Partial, context.Cause(ctx).Error()
	case err != nil:
		d.record.Status, d.record.Reason = result.Failed, err.Error()
	default:
		d.record.Status = result.Complete
	}
	return err
}

// measure has the client machine sampled from before the first member starts
// until after the last has ended.
func (d *databaseRun) measure(ctx context.Context) (err error) {
	stopSampling, err := sampleOurselves(ctx, d.dir, d.agents, d.Interval)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopSampling()) }()
	if err := d.acquireLeases(ctx); err != nil {
		return err // one that was lost is held by another, or its agent is gone
	}
	d.report.say("%s: starting %d members of %s", d.record.Name, len(d.agents), d.plan.database.Installation)
	d.cluster, err = startCluster(ctx, d.run, d.plan, d.dir)
	if err == nil {
		err = d.drive(ctx)
	}
	d.report.say("%s: stopping", d.record.Name)
	stopErr := d.cluster.stop(ctx)
	d.measureClocks(context.WithoutCancel(ctx), 0) // after the last row
	d.record.Members = d.cluster.snapshot()
	return errors.Join(d.cluster.withDeaths(err), stopErr)
}

// drive does everything that needs a running cluster.
func (d *databaseRun) drive(ctx context.Context) error {
	if err := d.waitReady(ctx); err != nil {
		return err
	}
	if err := d.writeManifest(); err != nil {
		return err
	}
	endpoints, err := d.place(ctx)
	if err != nil {
		return err
	}
	d.describe(ctx)
	if err := d.prepare(ctx, endpoints); err != nil {
		return err
	}
	if err := d.warmUp(ctx, endpoints); err != nil {
		return err
	}
	loadErr := d.load(ctx, endpoints)
	if errors.Is(loadErr, errNobodyLeft) {
		return loadErr
	}
	d.cluster.awaitSamples(ctx)
	return errors.Join(loadErr, d.countKeys(ctx))
}

// describe notes what the running server says of itself.
func (d *databaseRun) describe(ctx context.Context) {
	d.record.Version = d.cluster.members[0].Version
	_ = d.withAnyClient(ctx, func(ctx context.Context, c database.Client) error {
		v, ok := c.(database.Versioner)
		if !ok {
			return nil
		}
		version, err := v.Version(ctx)
		if err == nil {
			d.record.Version = version
		}
		return err // the version the installation's name tells stands then
	})
	d.report.say("%s: version %s is ready", d.record.Name, d.record.Version)
}

// prepare puts the keys that must be there before the first request.
func (d *databaseRun) prepare(ctx context.Context, endpoints []string) error {
	n := d.plan.workload.PrepareRequests()
	if n == 0 {
		return nil
	}
	if n > 1 {
		d.report.say("%s: filling %d keys", d.record.Name, n)
	}
	clients := int(min(n, prepareClients))
	ok, err := d.unmeasured(ctx, endpoints, clients, d.plan.workload.PrepareOp, load.Stage{Requests: n})
	if err == nil && ok != n {
		err = fmt.Errorf("%d of %d keys could not be put", n-ok, n)
	}
	if err != nil {
		return fmt.Errorf("prepare the keys: %w", err)
	}
	return d.settle(ctx)
}

// settle waits until every member gives what was prepared to those who read:
// a member that answers by itself may not have it yet.
func (d *databaseRun) settle(ctx context.Context) error {
	if d.plan.database.Workload.Operation != config.Read {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.Ready)
	defer cancel()
	for _, endpoint := range d.cluster.living() {
		err := d.withClient(ctx, endpoint, func(_ context.Context, c database.Client) error {
			read := d.plan.workload.Op(c, nil)
			for {
				err := read(ctx, 0)
				if err == nil {
					return nil
				}
				select {
				case <-ctx.Done():
					return err
				case <-time.After(probeAgain):
				}
			}
		})
		if err != nil {
			return fmt.Errorf("read what was prepared from %s: %w", endpoint, err)
		}
	}
	return nil
}

// warmUp sends the requests that no figure counts.
func (d *databaseRun) warmUp(ctx context.Context, endpoints []string) error {
	w := d.plan.database.Workload
	if w.WarmUp.Requests == 0 && w.WarmUp.Duration == 0 {
		return nil
	}
	d.report.say("%s: warming up", d.record.Name)
	_, err := d.unmeasured(ctx, endpoints, w.Clients[0], d.plan.workload.WarmUpOp, load.Stage{
		Requests: w.WarmUp.Requests, Duration: w.WarmUp.Duration, Rate: w.Rate,
	})
	if err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	return nil
}

// unmeasured runs a stage that is in no file, and returns how many requests succeeded.
func (d *databaseRun) unmeasured(
	ctx context.Context, endpoints []string, clients int, op func(workload.KV, workload.Opener) load.Op, s load.Stage,
) (ok int64, err error) {
	conns, err := d.connect(ctx, endpoints, connectionCount(d.plan.database.Workload, clients))
	if err != nil {
		return 0, err
	}
	s.Number, s.Ops = 1, d.ops(conns, clients, op)
	l := load.New(load.Options{})
	outcome, err := l.Run(ctx, s)
	for _, e := range l.Errors() {
		d.report.say("%s: %s (count %d)", d.record.Name, e.Kind, e.Count)
	}
	return outcome.OK, errors.Join(err, conns.close())
}

// load runs the ladder and writes everything the clients saw.
func (d *databaseRun) load(ctx context.Context, endpoints []string) (err error) {
	w := d.plan.database.Workload
	network, _ := interfaceTo(ctx, d.agents[0].host)
	bound := newBoundWatch(network)
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	bound.second() // the first second is told from here
	go bound.pulse(watch)
	rec, err := newRecording(d.dir, d.record.Name, w.Requests, d.report, bound.second)
	if err != nil {
		return err
	}
	l := load.New(load.Options{Requests: w.Requests, Sink: rec})
	defer func() { err = errors.Join(err, rec.finish(l, d.stages)) }()
	for i, step := range w.Steps() {
		if dead := d.cluster.dead(); dead != nil {
			return dead // a step begun without a member would measure another cluster
		}
		if err := d.stage(ctx, l, i, step, endpoints); err != nil {
			return err
		}
	}
	if n, first := d.plan.workload.WrongValues(); n > 0 {
		return fmt.Errorf("%d reads returned a value that was never written to that key: %w", n, first)
	}
	return nil
}

// stage runs one step of the ladder on connections of its own.
func (d *databaseRun) stage(ctx context.Context, l *load.Load, i int, step config.Step, endpoints []string) error {
	w, clients := d.plan.database.Workload, step.Clients
	conns, err := d.connect(ctx, endpoints, connectionCount(w, clients))
	if err != nil {
		return err
	}
	if i == 0 {
		d.cluster.awaitSamples(ctx)
	}
	// The manifest of a run that is killed now names the step it was in.
	d.stages = append(d.stages, result.Stage{
		Number: i + 1, Clients: clients, Connections: len(conns.clients), Rate: step.Rate,
		Start: time.Now().UnixNano(), Planned: step.Requests,
	})
	if err := d.writeManifest(); err != nil {
		return errors.Join(err, conns.close())
	}
	manned, cancel := d.cluster.untilEmpty(ctx)
	defer cancel()
	outcome, err := l.Run(manned, load.Stage{
		Number: i + 1, Ops: d.ops(conns, clients, d.plan.workload.Op), Requests: step.Requests, Duration: step.Duration,
		Rate: step.Rate, Arrival: load.Arrival(w.Arrival), Seed: d.Experiment.Seed,
	})
	if errors.Is(context.Cause(manned), errNobodyLeft) {
		err = errors.Join(errNobodyLeft, err)
	}
	s := &d.stages[i]
	s.Start, s.End, s.Planned = outcome.Start.UnixNano(), outcome.End.UnixNano(), outcome.Planned
	s.OK, s.Failed, s.Indeterminate, s.Unsent = outcome.OK, outcome.Failed, outcome.Indeterminate, outcome.Unsent
	s.Late, s.Backoff = outcome.Late, outcome.Backoff
	return errors.Join(err, conns.close(), d.writeManifest())
}

// writeManifest puts on disk how far the database has come.
func (d *databaseRun) writeManifest() error {
	d.record.Stages = d.stages
	if d.plan.database.Workload.Duration > 0 {
		d.record.TotalRequests = 0
		for _, s := range d.stages {
			d.record.TotalRequests += s.Planned
		}
	}
	d.record.Members = d.cluster.snapshot()
	d.record.Settings = d.cluster.settings
	d.record.Figures = d.cluster.figures
	return d.manifest.Write(d.run.dir)
}

// connectionCount is how many connections a step with that many clients uses.
func connectionCount(w config.Workload, clients int) int {
	if w.Connections == 0 || w.Connections > clients {
		return clients
	}
	return w.Connections
}

// countKeys compares the keys in the store with the writes it acknowledged.
// Fewer keys is lost data, and fails the run.
func (d *databaseRun) countKeys(ctx context.Context) error {
	if len(d.stages) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), countTimeout)
	defer cancel()
	keys := d.expectedKeys()
	return d.withAnyClient(ctx, func(ctx context.Context, c database.Client) error {
		counter, ok := c.(database.Counter)
		if !ok {
			return nil
		}
		counted, err := counter.Count(ctx, workload.KeyPrefix)
		if err != nil {
			return fmt.Errorf("count the keys: %w", err)
		}
		keys.Counted = counted
		d.record.Keys = &keys
		d.report.say("%s: %d keys counted, %d writes acknowledged", d.record.Name, counted, keys.Acknowledged)
		if counted < keys.Acknowledged {
			return fmt.Errorf("%d writes were acknowledged, but the store holds only %d keys: acknowledged writes are lost",
				keys.Acknowledged, counted)
		}
		if counted > keys.Possible {
			return fmt.Errorf("the store holds %d keys, more than the %d that were written: it was not empty before", counted, keys.Possible)
		}
		return nil
	})
}

func (d *databaseRun) expectedKeys() result.KeyCount {
	var ok, indeterminate int64
	for _, s := range d.stages {
		ok, indeterminate = ok+s.OK, indeterminate+s.Indeterminate
	}
	return result.KeyCount{
		Acknowledged: d.plan.workload.DistinctKeys(ok),
		Possible:     d.plan.workload.DistinctKeys(ok + indeterminate),
	}
}
