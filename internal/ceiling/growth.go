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
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

const megabyte = 1e6

// growthOptions of loads of more and more requests.
type growthOptions struct {
	load    *loadOptions
	counts  string
	allowed float64
}

func growthFlags(f *flag.FlagSet) *growthOptions {
	o := growthOptions{load: &loadOptions{}}
	f.StringVar((*string)(&o.load.operation), "operation", "mixed", "write, read or mixed, which is half of each")
	f.IntVar(&o.load.clients, "clients", 1000, "closed-loop clients")
	f.StringVar(&o.counts, "requests", "1000000,10000000,100000000", "requests of each load, separated by commas")
	f.Float64Var(&o.allowed, "allowed", 5, "MB by which the resident memory may differ")
	return &o
}

// errGrowth says that more requests took more memory.
var errGrowth = errors.New("resident memory grows with the requests")

// run runs the loads and prints their footprints as a Markdown table.
func (o *growthOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	counts, err := parseCounts(o.counts)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s requests of %s clients, %s, GOMAXPROCS %d\n\n| requests | requests/s | resident, MB | peak, MB |\n|---|---|---|---|\n",
		o.load.operation, humanize.Comma(int64(o.load.clients)), runtime.Version(), runtime.GOMAXPROCS(0))
	var all []footprint
	for _, n := range counts {
		o.load.requests = n
		f, err := o.load.inAProcess(ctx, stderr)
		if err != nil {
			return fmt.Errorf("%s requests: %w", humanize.Comma(n), err)
		}
		fmt.Fprintf(stdout, "| %s | %s | %.1f | %.1f |\n", humanize.Comma(f.Requests), humanize.Comma(int64(float64(f.Requests)/f.Seconds)),
			float64(f.Resident)/megabyte, float64(f.Peak)/megabyte)
		all = append(all, f)
	}
	spread := float64(spread(all)) / megabyte
	fmt.Fprintf(stdout, "\nResident memory differs by %.1f MB; at most %.1f MB are allowed.\n", spread, o.allowed)
	if spread > o.allowed {
		return fmt.Errorf("%w: by %.1f MB, at most %.1f MB are allowed", errGrowth, spread, o.allowed)
	}
	return nil
}

// parseCounts reads "1000,2000".
func parseCounts(text string) ([]int64, error) {
	var counts []int64
	for field := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(field), 10, 64)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("flag -requests: %q is no number of requests; want some such as 1000000,10000000", field)
		}
		counts = append(counts, n)
	}
	return counts, nil
}

// inAProcess runs the load in a fresh process: memory that one load has grown
// into would hide what the next one takes.
func (o loadOptions) inAProcess(ctx context.Context, stderr io.Writer) (footprint, error) {
	self, err := os.Executable()
	if err != nil {
		return footprint{}, fmt.Errorf("find our own executable: %w", err)
	}
	command := exec.CommandContext(ctx, self, o.args()...) //nolint:gosec // our own executable and flags
	command.Stderr = stderr
	out, err := command.Output()
	if err != nil {
		return footprint{}, err
	}
	var f footprint
	if err := json.Unmarshal(out, &f); err != nil {
		return footprint{}, fmt.Errorf("figures: %w", err)
	}
	if f.Requests != o.requests || f.Seconds <= 0 || f.Resident <= 0 || f.Peak < f.Resident {
		return footprint{}, fmt.Errorf("figures %+v cannot be true of %d requests", f, o.requests)
	}
	return f, nil
}

// spread is the difference between the largest and the smallest resident memory, in bytes.
func spread(all []footprint) int64 {
	least, most := all[0].Resident, all[0].Resident
	for _, f := range all {
		least, most = min(least, f.Resident), max(most, f.Resident)
	}
	return most - least
}
