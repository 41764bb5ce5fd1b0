package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dbtester/dbtester/analyze"
)

func newAnalyze(stdout, stderr io.Writer) *cobra.Command {
	var out string
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
			return analyzeAndPrint(c.Context(), args, out, stdout, stderr)
		},
	}
	c.Flags().StringVar(&out, "out", "", "`DIR` to write to; the result folder itself by default")
	return c
}

// analyzeAndPrint prints the table to stdout, and doubts and places to stderr.
func analyzeAndPrint(ctx context.Context, folders []string, out string, stdout, stderr io.Writer) error {
	report, err := analyze.Run(ctx, analyze.Options{Folders: folders, Out: out})
	fmt.Fprint(stdout, report.Text)
	for _, w := range report.Warnings {
		fmt.Fprintf(stderr, "warning: %v\n", w)
	}
	if len(report.Files) > 0 {
		fmt.Fprintf(stderr, "table, charts and report: %s\n", report.Out)
	}
	return err
}
