//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/pprof/profile"
)

// profileOptions of the profile by which the compiler optimizes the load path.
type profileOptions struct {
	cluster *clusterOptions
	out     string
}

func profileFlags(f *flag.FlagSet) *profileOptions {
	o := profileOptions{cluster: clusterFlags(f)}
	f.StringVar(&o.out, "out", filepath.Join("cmd", "dbtester", "default.pgo"), "file to write")
	return &o
}

// run profiles our side of every scenario with many clients.
func (o *profileOptions) run(ctx context.Context, log io.Writer) (err error) {
	dir, remove, err := o.cluster.workDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	server, err := o.cluster.buildServer(ctx, dir)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find our own executable: %w", err)
	}
	c, err := startCluster(ctx, *o.cluster, dir, server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop(ctx)) }()
	r := runner{programs: programs{server: server, ours: program{path: self}}, endpoints: c.endpoints, dir: dir}
	var all []*profile.Profile
	for _, s := range scenarios() {
		if s.clients == 1 {
			continue // next to no samples
		}
		fmt.Fprintln(log, s)
		one, err := r.profile(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		all = append(all, one)
	}
	return writeMerged(o.out, all)
}

// profile runs our side and returns where its time went.
func (r *runner) profile(ctx context.Context, s scenario) (*profile.Profile, error) {
	path := filepath.Join(r.dir, "cpu.pprof")
	argv := append([]string{r.ours.path}, s.ourArgs(r.endpoints, r.path("hlog"))...)
	if _, _, err := r.child(ctx, append(argv, "-cpuprofile="+path)); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p, err := profile.Parse(file)
	return p, errors.Join(err, file.Close())
}

// writeMerged writes the profiles as one, without what tells of the machine that
// they were made on: the compiler wants functions and lines, no files.
func writeMerged(path string, all []*profile.Profile) error {
	merged, err := profile.Merge(all)
	if err != nil {
		return err
	}
	for _, m := range merged.Mapping {
		m.File = ""
	}
	for _, f := range merged.Function {
		f.Filename = ""
	}
	merged.TimeNanos = 0
	var data bytes.Buffer
	if err := merged.Write(&data); err != nil {
		return err
	}
	return os.WriteFile(path, data.Bytes(), 0o644)
}
