//go:build linux

// Command benchpeers compares the cost of our load path with that of etcd's own
// benchmark tool, on one and the same freshly started cluster of three members.
//
//	benchpeers [FLAG…]          build both, run them in turn, write docs/benchmarks.md
//	benchpeers cluster [FLAG…]  only start the cluster, until interrupted
//	benchpeers load [FLAG…]     one load against a running cluster, figures as JSON
//	benchpeers profile [FLAG…]  where our time goes, for the compiler: cmd/dbtester/default.pgo
//
// The comparison runs the second load as a process of its own, so that the
// kernel can tell what it cost. It knows no result folder, no agent and no
// experiment file.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

const (
	verbCluster = "cluster"
	verbLoad    = "load"
	verbProfile = "profile"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "benchpeers: %v\n", err)
		os.Exit(1) //nolint:forbidigo // this is a command
	}
}

// run is the whole program without the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	verb := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		verb, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("benchpeers "+verb, flag.ContinueOnError)
	flags.SetOutput(stderr)
	switch verb {
	case verbLoad:
		o := loadFlags(flags)
		if err := parse(flags, args); err != nil {
			return err
		}
		return o.run(ctx, stdout)
	case verbCluster:
		o := clusterFlags(flags)
		if err := parse(flags, args); err != nil {
			return err
		}
		return serveCluster(ctx, *o, stderr)
	case verbProfile:
		o := profileFlags(flags)
		if err := parse(flags, args); err != nil {
			return err
		}
		return o.run(ctx, stderr)
	case "":
		o := compareFlags(flags)
		if err := parse(flags, args); err != nil {
			return err
		}
		return o.run(ctx, stderr)
	default:
		return fmt.Errorf("unknown verb %q; want %s, %s, %s or none", verb, verbCluster, verbLoad, verbProfile)
	}
}

func parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no flag; see -help", flags.Arg(0))
	}
	return nil
}
