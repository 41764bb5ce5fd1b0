package main

import (
	"github.com/spf13/cobra"

	"github.com/dbtester/dbtester/database/etcd/embedded"
)

const embeddedCommand = "embedded-etcd"

// newEmbedded is the etcd server inside this binary. Agents start it as a
// process of its own; its flags are etcd's.
func newEmbedded() *cobra.Command {
	return &cobra.Command{
		Use:                embeddedCommand,
		Short:              "The etcd server inside this binary",
		Hidden:             true,
		DisableFlagParsing: true,
		Run:                func(_ *cobra.Command, args []string) { embedded.Run(args) },
	}
}
