//go:build linux

// Command benchagent measures what the agent costs the machine that it watches:
// an idle agent, then one that samples a member every second, then every 100 ms,
// beside hundreds of other processes. It prints a table in Markdown.
//
// It watches the agent from outside, as any other process, and takes the rows
// from its stream as a controller does. It knows no experiment and no result
// folder.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "benchagent: %v\n", err)
		os.Exit(1) //nolint:forbidigo // this is a command
	}
}

// options say what is measured.
type options struct {
	program   string        // the dbtester whose agent is measured
	listen    string        // host:port of the agent
	length    time.Duration // of each measurement
	processes int           // others on the machine meanwhile
	intervals []time.Duration
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	flags := flag.NewFlagSet("benchagent", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.program, "program", "bin/dbtester", "the dbtester whose agent is measured")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:3500", "`HOST:PORT` of the agent; its member takes 2379 and 2380 of 127.0.0.1")
	flags.DurationVar(&o.length, "length", 5*time.Minute, "how long each interval is measured")
	intervals := flags.String("intervals", "0s,1s,100ms", "how often a member is sampled, separated by commas; 0s is an idle agent")
	flags.IntVar(&o.processes, "processes", 500, "processes that sleep beside it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	for text := range strings.SplitSeq(*intervals, ",") {
		interval, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("flag -intervals: %w", err)
		}
		if interval < 0 {
			return fmt.Errorf("flag -intervals: %v is negative; want 0s for an idle agent, or 100ms to 10s", interval)
		}
		o.intervals = append(o.intervals, interval)
	}
	sleepers, err := startSleepers(ctx, o.processes)
	defer sleepers.end()
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "| agent | minutes | CPU (%% of a core) | memory, mean | memory, largest | of it its own | rows | late, median | late, largest | drift |\n"+
		"|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, interval := range o.intervals {
		c, err := o.measure(ctx, interval)
		if err != nil {
			return err
		}
		fmt.Fprintln(stdout, c.line(interval))
	}
	return nil
}

// sleepers are processes that do nothing.
type sleepers []*exec.Cmd

func startSleepers(ctx context.Context, n int) (sleepers, error) {
	var all sleepers
	for range n {
		c := exec.CommandContext(ctx, "sleep", "infinity")
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := c.Start(); err != nil {
			return all, fmt.Errorf("start a process to sleep: %w", err)
		}
		all = append(all, c)
	}
	return all, nil
}

func (s sleepers) end() {
	for _, c := range s {
		_ = c.Process.Kill() // it may have ended with ctx
		_ = c.Wait()         // killed is how it ends
	}
}
