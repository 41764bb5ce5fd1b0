package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/dbtester/dbtester/agent"
	"github.com/dbtester/dbtester/database/all"
)

// intervalUsage is of the flag that agent and control share.
const intervalUsage = "`TIME` between samples of /proc: 100ms to 10s, a part of a second or whole seconds"

func newAgent(stderr io.Writer) *cobra.Command {
	var o agent.Options
	c := &cobra.Command{
		Use:   "agent",
		Short: "Serve on a database machine: start and stop a member, sample it",
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find our own program: %w", err)
			}
			o.Drivers = all.Drivers()
			o.Embedded = all.Embedded([]string{self, embeddedCommand})
			o.Version = version()
			o.Log = slog.New(slog.NewTextHandler(stderr, nil))
			return agent.Run(c.Context(), o)
		},
	}
	flags := c.Flags()
	flags.StringVar(&o.Listen, "listen", "127.0.0.1:3500", "`HOST:PORT` or unix:PATH to serve on; other machines' addresses need --cert, --key, --ca and --allow")
	flags.StringVar(&o.Databases, "databases", defaultDatabases, "`DIR` of installations, such as DIR/etcd-3.5.21/etcd")
	flags.StringVar(&o.Dir, "dir", "agent-data", "`DIR` for the members' data, logs and metrics")
	flags.StringVar(&o.Device, "device", "", "block `DEVICE` to sample; found from the data directory by default")
	flags.StringVar(&o.Interface, "interface", "", "network `INTERFACE` to sample; found from the listen address by default")
	flags.DurationVar(&o.Interval, "interval", time.Second, intervalUsage)
	flags.DurationVar(&o.Lease, "lease", agent.DefaultLease, "how long a controller that is not heard of may take to come back, before its member is stopped")
	addCertificates(flags, &o.TLS)
	flags.StringArrayVar(&o.Allow, "allow", nil, "the `NAME` in the certificate of a controller that may use this agent; may be repeated")
	flags.StringVar(&o.RunAs, "run-as", "", "`USER` that members run as, which takes root; the agent's own by default")
	flags.Uint64Var(&o.MemberLimits.OpenFiles, "member-open-files", 0, "most files a member may open; as many as the agent may, up to 1048576, by default")
	flags.Uint64Var(&o.MemberLimits.FileBytes, "member-file-bytes", 0, "largest file a member may write, in bytes; 64 GiB by default")
	return c
}
