package main

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dbtester/dbtester/agent"
	"github.com/dbtester/dbtester/database/all"
)

func newDatabases(stdout io.Writer) *cobra.Command {
	var o agent.Options
	c := &cobra.Command{
		Use:   "databases",
		Short: "List what an agent on this machine can start",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			if _, err := os.Stat(o.Databases); err != nil && o.Databases != defaultDatabases {
				return usageError{fmt.Errorf("--databases: %w", err)}
			}
			o.Drivers, o.Embedded = all.Drivers(), all.Embedded(nil)
			w := tabwriter.NewWriter(stdout, 0, 8, 2, ' ', 0)
			fmt.Fprintln(w, "INSTALLATION\tKIND\tVERSION\tFOUND")
			for _, l := range agent.List(o) {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", l.Name, l.Kind, l.Version, l.Found)
			}
			return w.Flush()
		},
	}
	c.Flags().StringVar(&o.Databases, "databases", defaultDatabases, "`DIR` of installations")
	return c
}
