package control

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/dbtester/dbtester/config"
	pb "github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/result"
)

// restFor is how long what a killed local run leaves behind may take to go.
const restFor = 10 * time.Second

// ExperimentOf returns the experiment that a result folder is of, with the
// overrides over it.
func ExperimentOf(dir string, overrides []string) (*config.Experiment, error) {
	m, err := result.ReadManifest(dir)
	if err != nil {
		return nil, fmt.Errorf("--resume %s: %w", dir, err)
	}
	return experimentOf(dir, m, overrides)
}

func experimentOf(dir string, m *result.Manifest, overrides []string) (*config.Experiment, error) {
	e, err := config.Parse(filepath.Join(dir, result.ManifestFile), m.Configuration, overrides)
	if err != nil {
		return nil, fmt.Errorf("--resume %s: the configuration in its manifest: %w", dir, err)
	}
	e.Name = m.Experiment
	return e, nil
}

// An earlier is a result folder that is continued.
type earlier struct {
	*folder
	manifest *result.Manifest
}

// earlier opens the folder of Options.Resume; it is nil if there is none. The
// options take over what the folder determines.
func (o *Options) earlier() (*earlier, error) {
	if o.Resume == "" {
		return nil, nil //nolint:nilnil // nothing is continued
	}
	f, err := lockFolder(o.Resume)
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	m, err := result.ReadManifest(o.Resume)
	if err != nil {
		err = fmt.Errorf("--resume %s: nothing can be continued without its manifest, start anew: %w", o.Resume, err)
	} else {
		err = o.fits(m)
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	o.Out = filepath.Dir(filepath.Clean(o.Resume))
	return &earlier{folder: f, manifest: m}, nil
}

// fits returns an error unless the options ask for the very experiment of the
// manifest: a folder with two configurations in it would be a table of neither.
func (o *Options) fits(m *result.Manifest) error {
	then, err := experimentOf(o.Resume, m, nil)
	if err != nil {
		return err
	}
	different, err := differences(then, o.Experiment)
	if err != nil {
		return err
	}
	if len(different) > 0 {
		return fmt.Errorf("%w: --resume %s continues the experiment as it was begun, but %s; leave -c and --set away, or start anew",
			ErrConfiguration, o.Resume, strings.Join(different, ", "))
	}
	if len(m.Databases) != len(then.Databases) {
		return fmt.Errorf("--resume %s: its manifest lists %d databases and configures %d", o.Resume, len(m.Databases), len(then.Databases))
	}
	if o.Local && !m.Local && len(then.Agents) > 0 {
		return fmt.Errorf("%w: --resume %s was begun on the agents %s: leave --local away", ErrConfiguration, o.Resume, strings.Join(then.Agents, ", "))
	}
	o.Local = o.Local || m.Local
	o.Experiment.Name = m.Experiment
	return nil
}

// takeUp has the run continue what was begun earlier, under a name of its own
// for the agents: they keep what they have of the part before.
func (r *run) takeUp(e *earlier) {
	r.folder, r.manifest, r.dir = e.folder, e.manifest, e.dir
	r.name = fmt.Sprintf("%s-resumed-%d", r.firstName(), len(e.manifest.Resumptions)+1)
	if key := e.key(); key != "" {
		r.key = key
	}
}

// firstName is the agents' name for the first part of the run.
func (r *run) firstName() string {
	return fmt.Sprintf("%s-%s", r.manifest.Experiment, r.manifest.Started.UTC().Format(nameTime))
}

// lastName is the agents' name for the part that was under way last.
func (r *run) lastName() string {
	if n := len(r.manifest.Resumptions); n > 0 {
		return r.manifest.Resumptions[n-1].Run
	}
	return r.firstName()
}

// salvage stops members that still run and fetches what the agents kept of the
// databases that are not complete. What cannot be had is told and no error.
func (r *run) salvage(ctx context.Context) {
	if r.Local {
		return // the agents of before are gone with their folders
	}
	err := eachAgent(r.agents, func(a *agentConn) error {
		ctx, cancel := context.WithTimeout(ctx, stopTimeout)
		defer cancel()
		s, err := a.Status(ctx, &pb.StatusRequest{})
		if err != nil || s.GetMember().GetPhase() != pb.MemberState_PHASE_RUNNING {
			return err
		}
		_, err = a.Stop(ctx, &pb.StopRequest{KeepData: r.KeepData, Epoch: a.lease.current()})
		return err
	})
	for _, d := range r.manifest.Databases {
		if d.Status != result.Complete && exists(result.DatabaseDir(r.dir, d.Name)) {
			err = errors.Join(err, eachAgent(r.agents, func(a *agentConn) error { return r.salvageFrom(ctx, a, d.Name) }))
		}
	}
	if err != nil {
		r.report.say("not everything that agents kept could be fetched: %v", err)
	}
}

func (r *run) salvageFrom(ctx context.Context, a *agentConn, database string) error {
	var errs []error
	for file, name := range map[pb.FetchRequest_File]string{
		pb.FetchRequest_FILE_LOG:     result.MemberLogFile(a.index),
		pb.FetchRequest_FILE_METRICS: result.MemberMetricsFile(a.index),
		pb.FetchRequest_FILE_FIGURES: result.MemberFiguresFile(a.index),
	} {
		path := filepath.Join(result.DatabaseDir(r.dir, database), name)
		err := a.fetchKept(ctx, path, fetchPatience, &pb.FetchRequest{
			File: file, Run: r.lastName(), Database: database, Index: int32(a.index),
		})
		if status.Code(err) == codes.NotFound {
			err = removeEmpty(path)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// removeEmpty removes a file of which nothing was fetched.
func removeEmpty(path string) error {
	if info, err := os.Lstat(path); err != nil || info.Size() > 0 {
		return nil //nolint:nilerr // there is nothing to remove
	}
	return os.Remove(path)
}

// beginAgain puts the databases that are not complete aside, and says so in the
// manifest. They are measured from their first step on: the cluster that held
// their keys is gone, and a column of the table is of one cluster.
func (r *run) beginAgain() error {
	if err := r.folder.keepKey(r.key); err != nil {
		return err
	}
	again := result.Resumption{At: time.Now().UTC(), Tool: r.Version, Run: r.name}
	for i, p := range r.plans {
		record := &r.manifest.Databases[i]
		if record.Status == result.Complete {
			continue
		}
		aside := r.asideName(record.Name)
		if aside != "" || record.Status != result.Running {
			again.Again = append(again.Again, result.Incomplete{
				Database: record.Name, Status: record.Status, Reason: record.Reason, Folder: aside, Stages: record.Stages,
			})
		}
		var err error
		if *record, err = p.record(); err != nil {
			return err
		}
	}
	m := r.manifest
	m.FormatVersion, m.Local = result.FormatVersion, r.Local
	m.Status, m.Reason, m.Ended = result.Running, "", time.Time{}
	m.Resumptions = append(m.Resumptions, again)
	// First the manifest: on a full disk everything stays as it is.
	if err := m.Write(r.dir); err != nil {
		return fmt.Errorf("--resume %s: %w", r.Resume, err)
	}
	return r.setAside(again.Again)
}

// asideName is the first free name for the folder of a database that is not
// complete; empty if there is no folder.
func (r *run) asideName(database string) string {
	if !exists(result.DatabaseDir(r.dir, database)) {
		return ""
	}
	for n := 1; ; n++ {
		name := result.IncompleteDir(database, n)
		if !exists(filepath.Join(r.dir, name)) && !r.isDatabase(name) {
			return name
		}
	}
}

// setAside renames the folders of databases that are begun again.
func (r *run) setAside(databases []result.Incomplete) error {
	for _, d := range databases {
		if d.Folder == "" {
			continue
		}
		if err := os.Rename(result.DatabaseDir(r.dir, d.Database), filepath.Join(r.dir, d.Folder)); err != nil {
			return fmt.Errorf("put aside what is not complete: %w", err)
		}
		r.report.say("%s: begun again on a fresh cluster; what was measured before is in %s", d.Database, d.Folder)
	}
	return nil
}

func (r *run) isDatabase(name string) bool {
	for _, p := range r.plans {
		if p.database.Name == name {
			return true
		}
	}
	return false
}

// patiently tries until it succeeds or what a killed run left behind must be gone.
func patiently(ctx context.Context, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, restFor)
	defer cancel()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(probeAgain):
		}
	}
}
