package main

import (
	"github.com/spf13/cobra"

	"github.com/dbtester/dbtester/database/all"
)

const embeddedCommand = "embedded"

// newEmbedded runs a server inside this binary. Agents start it as a process of
// its own; what follows the kind is the server's own.
func newEmbedded() *cobra.Command {
	return &cobra.Command{
		Use:                embeddedCommand + " KIND [FLAG…]",
		Short:              "Run a server inside this binary",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE:               func(c *cobra.Command, args []string) error { return all.Serve(c.Context(), args) },
	}
}
