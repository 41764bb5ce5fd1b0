package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/dbtester/dbtester/config"
	"github.com/dbtester/dbtester/control"
	"github.com/dbtester/dbtester/database/all"
)

// controlFlags are the flags of dbtester control.
type controlFlags struct {
	file      string
	overrides []string
	databases string
	noAnalyze bool
	analysis  analysis
	options   control.Options
}

func newControl(stdout, stderr io.Writer) *cobra.Command {
	var f controlFlags
	c := &cobra.Command{
		Use:   "control -c FILE.yaml",
		Short: "Run an experiment: start each database, load it, stop it, collect",
		Example: `  dbtester control --local -c configs/quickstart.yaml
  dbtester control -c configs/write-1M.yaml --set workload.requests=20000
  dbtester control --resume results/write-1M-20260102T030405Z`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.options.Resume != "" && c.Flags().Changed("out") {
				return usageError{errors.New("--resume DIR goes on in DIR: leave --out away")}
			}
			return f.run(c.Context(), stdout, stderr)
		},
	}
	flags := c.Flags()
	flags.StringVarP(&f.file, "config", "c", "", "the experiment `FILE`; its keys are in docs/config.md (required)")
	flags.StringArrayVar(&f.overrides, "set", nil, "override a key of the file, as `KEY=VALUE`; may be repeated")
	flags.BoolVar(&f.options.Local, "local", false, "bring three agents on 127.0.0.1 to 127.0.0.3 instead of the file's own")
	addCertificates(flags, &f.options.TLS)
	flags.StringVar(&f.databases, "databases", defaultDatabases, "`DIR` of installations for the agents of --local")
	flags.StringVar(&f.options.Out, "out", "results", "`DIR` in which the result folder is made")
	flags.DurationVar(&f.options.Interval, "interval", time.Second, intervalUsage+"; of this machine and of the agents of --local, others have their own")
	flags.StringVar(&f.options.Resume, "resume", "", "continue the experiment of the result folder `DIR` at the first database that is not complete; -c may be left away")
	flags.DurationVar(&f.options.Ready, "ready", time.Minute, "`TIME` within which every member of a cluster must answer")
	flags.BoolVar(&f.options.KeepData, "keep-data", false, "leave the members' data directories where they are")
	flags.BoolVar(&f.noAnalyze, "no-analyze", false, "do not make table and charts at the end")
	f.analysis.addFlags(c)
	return c
}

func (f *controlFlags) run(ctx context.Context, stdout, stderr io.Writer) error {
	experiment, err := f.experiment()
	if err != nil {
		return usageError{err}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find our own program: %w", err)
	}
	o := f.options
	o.Experiment = experiment
	o.Drivers = all.Drivers()
	o.AgentCommand = []string{self, "agent", "--databases", f.databases, "--interval", f.options.Interval.String()}
	o.Version = version()
	o.Progress, o.Terminal = stderr, isTerminal(stderr)
	f.analysis.stdout, f.analysis.stderr = stdout, stderr
	dir, err := control.Run(ctx, o)
	if dir == "" || f.noAnalyze {
		return err
	}
	f.analysis.failIfClientBound = f.analysis.failIfClientBound && err == nil // a failure outweighs it
	// What an interrupted run has measured is analysed too.
	return errors.Join(err, f.analysis.print(context.WithoutCancel(ctx), []string{dir}, ""))
}

// experiment is that of the file, or of the result folder that is continued.
func (f *controlFlags) experiment() (*config.Experiment, error) {
	switch {
	case f.file != "":
		return config.Load(f.file, f.overrides)
	case f.options.Resume != "":
		return control.ExperimentOf(f.options.Resume, f.overrides)
	default:
		return nil, errors.New("no experiment given: use -c FILE.yaml; examples are in configs/")
	}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unexpected argument %q; see \"%s --help\"", args[0], c.CommandPath())}
	}
	return nil
}
