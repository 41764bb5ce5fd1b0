// Command dbtester measures etcd, ZooKeeper and Consul under load.
//
// It turns flags into the Options of the packages that do the work, and is the
// only place that ends the process.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/dbtester/dbtester/agent"
	"github.com/dbtester/dbtester/config"
	"github.com/dbtester/dbtester/control"
)

// defaultDatabases is where agents look for installations.
const defaultDatabases = "databases"

// Exit statuses; they stand in the help of the root command.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitThreshold   = 3
	exitInterrupted = 130
)

func main() {
	ctx, stop := interruptible()
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// interruptible returns a context that the first Ctrl-C or SIGTERM ends; the
// second one leaves at once. Whatever was started ends with this process.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel(control.ErrInterrupted)
		<-signals
		os.Exit(exitInterrupted)
	}()
	return ctx, func() { signal.Stop(signals) }
}

// run is the whole program without the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot(stdout, stderr) //nolint:contextcheck // cobra hands the context to each command
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(stderr, "dbtester: %v\n", err)
	return statusOf(err)
}

// usageError marks what is wrong with the command line itself.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func statusOf(err error) int {
	var usage usageError
	var mistake *config.Error
	var option *agent.OptionError
	switch {
	case errors.Is(err, control.ErrInterrupted):
		return exitInterrupted
	case errors.As(err, &usage), errors.As(err, &mistake), errors.As(err, &option),
		errors.Is(err, control.ErrConfiguration):
		return exitUsage
	case errors.Is(err, errThreshold):
		return exitThreshold
	default:
		return exitFailed
	}
}

func newRoot(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "dbtester",
		Short: "Benchmark etcd, ZooKeeper and Consul",
		Long: `dbtester drives key-value load through real clusters of etcd, ZooKeeper and
Consul, samples every machine each second, and makes tables and charts of it.

Exit status: 0 done, 1 the run failed, 2 wrong usage or configuration,
3 a threshold missed, 130 interrupted.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("unknown command %q; see \"dbtester --help\"", args[0])}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see \"%s --help\"", err, c.CommandPath())}
	})
	root.AddCommand(newControl(stdout, stderr), newAgent(stderr), newAnalyze(stdout, stderr), newDatabases(stdout), newCerts(stdout, stderr), newEmbedded())
	return root
}

// version is the module's version, or the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "-modified"
		}
	}
	if revision != "" {
		return revision + modified
	}
	return info.Main.Version
}
