// Package control runs one experiment against the agents of a cluster: it
// checks everything first, then for each database starts the members, waits
// until they answer, loads them, counts the keys, stops them and collects what
// was measured into a result folder.
//
// It knows no particular store, no chart and no table: drivers come from
// outside, and what it writes is for package analyze to read.
package control

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dbtester/dbtester/config"
	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/internal/identity"
	"github.com/dbtester/dbtester/internal/monitor"
	"github.com/dbtester/dbtester/result"
)

var (
	// ErrConfiguration says that the experiment cannot be run as it stands;
	// nothing was started.
	ErrConfiguration = errors.New("the experiment cannot be run")
	// ErrInterrupted is the cause to cancel the context of [Run] with when the
	// user ends the run.
	ErrInterrupted = errors.New("interrupted")
)

// Options of a run.
type Options struct {
	Experiment *config.Experiment
	Drivers    map[string]database.Factory
	// Out is the folder in which the result folder is made.
	Out string
	// Local runs three agents on this machine instead of the experiment's own:
	// AgentCommand with --listen and --dir appended.
	Local        bool
	AgentCommand []string
	// TLS are our certificate files; with them all agents that listen on
	// host:port must speak mutual TLS. Without, they must be this machine's.
	TLS identity.Files
	// Interval between samples of this process and its machine; a second if 0.
	Interval time.Duration
	// Resume is the result folder of an experiment that ended early: it is
	// continued there. Empty for a new one.
	Resume string
	// KeepData leaves the members' data directories where they are.
	KeepData bool
	// Version of this dbtester, for the manifest.
	Version string
	// Progress takes the progress; Terminal says that it is one.
	Progress io.Writer
	Terminal bool
	// Ready bounds how long a cluster may take until it answers; 0 means 60 s.
	Ready time.Duration
}

// localHosts are where the members of a local run listen.
func localHosts() []string { return []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"} }

// nameTime is the time in a run's name.
const nameTime = "20060102T150405Z"

// Run runs the experiment and returns its result folder, which is empty if
// nothing was started. An error that is [ErrConfiguration] means just that.
// What was measured until an error is in the folder all the same.
func Run(ctx context.Context, o Options) (dir string, err error) {
	if o.Ready <= 0 {
		o.Ready = time.Minute
	}
	before, err := o.earlier()
	if err != nil {
		return "", err
	}
	if before != nil {
		defer func() { err = errors.Join(err, before.close()) }()
		if before.manifest.Status == result.Complete {
			newProgress(o.Progress, false).say("%s is complete: there is nothing to continue", o.Resume)
			return before.dir, nil
		}
	}
	plans, err := check(o)
	if err != nil {
		return "", errors.Join(ErrConfiguration, err)
	}
	source, err := o.checkIdentity()
	if err != nil {
		return "", errors.Join(ErrConfiguration, err)
	}
	agents, closeAgents, err := o.agents(ctx, source)
	defer func() { err = errors.Join(err, closeAgents()) }()
	if err != nil {
		return "", err
	}
	r := &run{Options: o, plans: plans, agents: agents, key: rand.Text(), report: newProgress(o.Progress, o.Terminal)}
	if before == nil {
		defer func() { err = errors.Join(err, r.folder.close()) }()
	}
	return r.whole(ctx, before)
}

// whole runs the experiment once the agents are reached.
func (r *run) whole(ctx context.Context, before *earlier) (dir string, err error) {
	if before != nil {
		r.takeUp(before)
	} else if err := r.describe(); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.release(ctx)) }()
	if err := r.acquireLeases(ctx); err != nil {
		return "", err
	}
	if err := r.ready(ctx, before != nil); err != nil {
		return "", err
	}
	if before != nil {
		err = r.beginAgain()
	} else {
		err = r.makeFolder()
	}
	if err != nil {
		return "", err
	}
	return r.dir, r.all(ctx)
}

// ready has the agents check what is to be run.
func (r *run) ready(ctx context.Context, again bool) error {
	if !again {
		return r.checkAgents(ctx)
	}
	r.salvage(ctx)
	if !r.Local {
		return r.checkAgents(ctx)
	}
	return patiently(ctx, func() error { return r.checkAgents(ctx) })
}

// makeFolder makes the result folder, when everything is ready to begin.
func (r *run) makeFolder() (err error) {
	if err := os.MkdirAll(r.Out, 0o755); err != nil {
		return fmt.Errorf("make the folder for results: %w; choose another with --out", err)
	}
	r.manifest.Controller = monitor.Host(r.Out)
	r.folder, err = makeFolder(r.dir, r.manifest, r.key)
	return err
}

// release gives the leases back, and forgets their key.
func (r *run) release(ctx context.Context) error {
	r.releaseLeases(ctx)
	if r.folder == nil {
		return nil
	}
	return r.folder.dropKey()
}

// A run is one experiment under way.
type run struct {
	Options
	plans    []plan
	agents   []*agentConn
	name     string // of the run, as the agents know it
	key      string // of the agents' leases
	dir      string
	folder   *folder // nil until it is there
	manifest *result.Manifest
	report   *progress
}

// all runs one database after the other. One that fails does not cost the
// others their results.
func (r *run) all(ctx context.Context) error {
	r.report.say("results in %s", r.dir)
	r.reportClocks()
	defer r.watchClocks(ctx)()
	var failures []error
	var failed []string
	for i, p := range r.plans {
		if ctx.Err() != nil {
			break
		}
		if r.isComplete(i) {
			continue
		}
		d := &databaseRun{run: r, plan: p, record: &r.manifest.Databases[i], dir: result.DatabaseDir(r.dir, p.database.Name)}
		if err := d.whole(ctx); err != nil {
			failed = append(failed, p.database.Name)
			failures = append(failures, fmt.Errorf("%s: %w", p.database.Name, err))
			r.report.say("%s: %v", p.database.Name, err)
		}
		if err := r.manifest.Write(r.dir); err != nil {
			return errors.Join(append(failures, err)...)
		}
	}
	return r.end(ctx, failed, errors.Join(failures...))
}

// isComplete reports whether a database was measured before.
func (r *run) isComplete(i int) bool { return r.manifest.Databases[i].Status == result.Complete }

// describe makes the manifest of a run that has measured nothing yet.
func (r *run) describe() error {
	effective, err := jsonOf(r.Experiment)
	if err != nil {
		return err
	}
	r.manifest = &result.Manifest{
		FormatVersion: result.FormatVersion,
		Tool:          r.Version,
		Experiment:    r.Experiment.Name,
		Title:         r.Experiment.Title,
		Description:   r.Experiment.Description,
		Started:       time.Now().UTC(),
		Status:        result.Running,
		Seed:          r.Experiment.Seed,
		Configuration: effective,
		Local:         r.Local,
	}
	for _, p := range r.plans {
		record, err := p.record()
		if err != nil {
			return err
		}
		r.manifest.Databases = append(r.manifest.Databases, record)
	}
	r.name = r.firstName()
	r.dir = filepath.Join(r.Out, r.name)
	return nil
}

// end closes the manifest and returns what the run ends with.
func (r *run) end(ctx context.Context, failed []string, failures error) error {
	r.manifest.Ended = time.Now().UTC()
	switch {
	case ctx.Err() != nil:
		r.manifest.Status, r.manifest.Reason = result.Partial, context.Cause(ctx).Error()
		failures = errors.Join(context.Cause(ctx), failures)
	case failures != nil:
		r.manifest.Status, r.manifest.Reason = result.Failed, fmt.Sprintf("%d of %d databases failed: %s",
			len(failed), len(r.plans), strings.Join(failed, ", "))
	default:
		r.manifest.Status = result.Complete
	}
	return errors.Join(failures, r.manifest.Write(r.dir))
}
