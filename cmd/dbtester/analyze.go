package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dbtester/dbtester/analyze"
)

func newAnalyze(stdout, stderr io.Writer) *cobra.Command {
	var out string
	var o analysis
	c := &cobra.Command{
		Use:   "analyze RESULT…",
		Short: "Make the table, charts and report of result folders",
		Long: `Make the percentile table, the charts and the report of one result folder or
of several: each database of each folder becomes a column. No database is needed.`,
		Example: `  dbtester analyze results/write-1M-20260102T030405Z
  dbtester analyze --out both results/a results/b`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{fmt.Errorf("no result folder given; see \"dbtester analyze --help\"")}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			o.stdout, o.stderr = stdout, stderr
			return o.print(c.Context(), args, out)
		},
	}
	c.Flags().StringVar(&out, "out", "", "`DIR` to write to; the result folder itself by default")
	o.addFlags(c)
	return c
}

// errThreshold marks a run that was measured well and missed what was asked of it.
var errThreshold = errors.New("threshold missed")

// An analysis is what control and analyze end with.
type analysis struct {
	stdout, stderr    io.Writer
	failIfClientBound bool
}

func (a *analysis) addFlags(c *cobra.Command) {
	c.Flags().BoolVar(&a.failIfClientBound, "fail-if-client-bound", false,
		"end with status 3 if the harness or its machine was the limit in more than 1 % of the seconds")
}

// print writes the table to stdout, and doubts and places to stderr.
func (a *analysis) print(ctx context.Context, folders []string, out string) error {
	report, err := analyze.Run(ctx, analyze.Options{Folders: folders, Out: out})
	fmt.Fprint(a.stdout, report.Text)
	for _, w := range report.Warnings {
		fmt.Fprintf(a.stderr, "warning: %v\n", w)
	}
	if len(report.Files) > 0 {
		fmt.Fprintf(a.stderr, "table, charts and report: %s\n", report.Out)
	}
	if err == nil && a.failIfClientBound && len(report.ClientBound) > 0 {
		return fmt.Errorf("%w: client-bound: %s", errThreshold, strings.Join(report.ClientBound, ", "))
	}
	return err
}
