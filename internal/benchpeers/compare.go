//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// compareOptions of a comparison.
type compareOptions struct {
	cluster *clusterOptions
	pairs   int
	only    string
	out     string
}

func compareFlags(f *flag.FlagSet) *compareOptions {
	o := compareOptions{cluster: clusterFlags(f)}
	f.IntVar(&o.pairs, "pairs", 5, "times that each side runs each scenario")
	f.StringVar(&o.only, "only", "", "regular expression of the scenarios to run; empty means all")
	f.StringVar(&o.out, "out", filepath.Join("docs", "benchmarks.md"), "file whose part between the markers is replaced; empty means standard error")
	return &o
}

// run builds, starts the cluster, compares and writes the tables.
func (o *compareOptions) run(ctx context.Context, log io.Writer) (err error) {
	chosen, err := o.scenarios()
	if err != nil {
		return err
	}
	if o.out != "" {
		if _, err := withPart(o.out, ""); err != nil {
			return err // better now than after all the loads
		}
	}
	dir, remove, err := o.cluster.workDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	fmt.Fprintln(log, "building the server and the peer")
	built, err := o.cluster.buildAll(ctx, dir)
	if err != nil {
		return err
	}
	before, err := readMachine()
	if err != nil {
		return err
	}
	results, err := o.compare(ctx, chosen, dir, built, log)
	if err != nil {
		return err
	}
	after, err := readMachine()
	if err != nil {
		return err
	}
	floor, err := floorOfMemory()
	if err != nil {
		return err
	}
	text := report{
		results: results, versions: built, date: time.Now(), before: before, after: after, pairs: o.pairs, floor: floor,
	}.render()
	if o.out == "" {
		_, err := io.WriteString(log, text)
		return err
	}
	return replacePart(o.out, text)
}

func (o *compareOptions) scenarios() ([]scenario, error) {
	if o.pairs < 1 {
		return nil, fmt.Errorf("%d pairs; want 1 or more", o.pairs)
	}
	only, err := regexp.Compile(o.only)
	if err != nil {
		return nil, fmt.Errorf("flag -only: %w", err)
	}
	var chosen []scenario
	for _, s := range scenarios() {
		if only.MatchString(s.String()) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("flag -only: no scenario matches %q", o.only)
	}
	return chosen, nil
}

// compare runs the chosen scenarios on one fresh cluster.
func (o *compareOptions) compare(
	ctx context.Context, chosen []scenario, dir string, built programs, log io.Writer,
) (results []outcome, err error) {
	c, err := startCluster(ctx, *o.cluster, dir, built.server)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.stop(ctx)) }()
	key, err := c.prepare(ctx)
	if err != nil {
		return nil, err
	}
	r := runner{programs: built, endpoints: c.endpoints, readKey: key, dir: dir}
	for _, s := range chosen {
		result := outcome{scenario: s}
		for pair := range o.pairs {
			ours, peer, err := r.pair(ctx, s, pair%2 == 1)
			if err := errors.Join(err, c.died()); err != nil {
				return nil, fmt.Errorf("%s, pair %d: %w", s, pair+1, err)
			}
			result.ours = append(result.ours, ours)
			result.peer = append(result.peer, peer)
			progress(log, result)
		}
		results = append(results, result)
	}
	return results, nil
}

// An outcome is what both sides made of a scenario, pair by pair.
type outcome struct {
	scenario
	ours, peer []sample
}

// progress prints the pair that was run last.
func progress(log io.Writer, o outcome) {
	last := len(o.ours) - 1
	fmt.Fprintf(log, "%s, pair %d:", o.scenario, last+1)
	for _, m := range metrics()[:3] {
		ours, peer := m.of(o.scenario, o.ours[last]), m.of(o.scenario, o.peer[last])
		fmt.Fprintf(log, " "+m.format+" to "+m.format+" %s;", ours, peer, m.name)
	}
	fmt.Fprintln(log)
}

// floorOfMemory is the largest resident memory of this process until now. The
// kernel starts to count a child's from there, because until it runs its own
// program the child borrows the memory of its parent.
func floorOfMemory() (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	return kibibytes(string(text), "VmHWM")
}
