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

// Run runs the experiment and returns its result folder, which is empty if
// nothing was started. An error that is [ErrConfiguration] means just that.
// What was measured until an error is in the folder all the same.
func Run(ctx context.Context, o Options) (dir string, err error) {
	if o.Ready <= 0 {
		o.Ready = time.Minute
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
	r := &run{
		Options: o, plans: plans, agents: agents,
		name:   fmt.Sprintf("%s-%s", o.Experiment.Name, time.Now().UTC().Format("20060102T150405Z")),
		key:    rand.Text(),
		report: newProgress(o.Progress, o.Terminal),
	}
	defer r.releaseLeases(ctx)
	if err := r.acquireLeases(ctx); err != nil {
		return "", err
	}
	if err := r.checkAgents(ctx); err != nil {
		return "", err
	}
	r.dir = filepath.Join(o.Out, r.name)
	if err := makeResultDir(r.dir); err != nil {
		return "", err
	}
	return r.dir, r.all(ctx)
}

// makeResultDir makes the folder; one that is there already is never written to.
func makeResultDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("make the folder for results: %w; choose another with --out", err)
	}
	if err := os.Mkdir(dir, 0o755); errors.Is(err, os.ErrExist) {
		return fmt.Errorf("result folder %s is already there: wait a second or choose another place with --out", dir)
	} else if err != nil {
		return fmt.Errorf("make result folder: %w; choose another place with --out", err)
	}
	return nil
}

// A run is one experiment under way.
type run struct {
	Options
	plans    []plan
	agents   []*agentConn
	name     string // of the run, as the agents know it
	key      string // of the agents' leases
	dir      string
	manifest *result.Manifest
	report   *progress
}

// all runs one database after the other. One that fails does not cost the
// others their results.
func (r *run) all(ctx context.Context) error {
	if err := r.begin(); err != nil {
		return err
	}
	r.report.say("results in %s", r.dir)
	r.reportClocks()
	defer r.watchClocks(ctx)()
	var failures []error
	var failed []string
	for i, p := range r.plans {
		if ctx.Err() != nil {
			break
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

// begin writes the manifest of a run that has measured nothing yet.
func (r *run) begin() error {
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
		Controller:    monitor.Host(r.dir),
	}
	for _, p := range r.plans {
		record, err := p.record()
		if err != nil {
			return err
		}
		r.manifest.Databases = append(r.manifest.Databases, record)
	}
	return r.manifest.Write(r.dir)
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
