//go:build linux

// Command ceiling measures the harness alone: load, workload and the memory
// driver, without a socket or a store that could be the limit.
//
//	ceiling [FLAG…]         loads of more and more requests, each in a process of its own,
//	                        and the memory that is resident after each: it must not grow
//	ceiling load [FLAG…]    one such load, figures as JSON
//
// How many requests per second the harness can make is what its benchmark says
// (make bench). It knows no agent, no result folder and no experiment file.
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

const verbLoad = "load"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "ceiling: %v\n", err)
		os.Exit(1) //nolint:forbidigo // this is a command
	}
}

// run is the whole program without the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	verb := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		verb, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("ceiling "+verb, flag.ContinueOnError)
	flags.SetOutput(stderr)
	switch verb {
	case verbLoad:
		o := loadFlags(flags)
		if err := parse(flags, args); err != nil {
			return err
		}
		return o.run(ctx, stdout)
	case "":
		o := growthFlags(flags)
		if err := parse(flags, args); err != nil {
			return err
		}
		return o.run(ctx, stdout, stderr)
	default:
		return fmt.Errorf("unknown verb %q; want %s or none", verb, verbLoad)
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
