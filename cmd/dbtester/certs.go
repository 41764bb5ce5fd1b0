package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dbtester/dbtester/internal/identity"
)

// addCertificates adds the flags of one end of mutual TLS.
func addCertificates(flags *pflag.FlagSet, files *identity.Files) {
	flags.StringVar(&files.Certificate, "cert", "", "`FILE` of our certificate, read again when it changes; \"dbtester certs\" makes it")
	flags.StringVar(&files.Key, "key", "", "`FILE` of its private key, mode 0600")
	flags.StringVar(&files.CA, "ca", "", "`FILE` of the authorities whose certificates we trust")
}

// certsFlags are the flags of dbtester certs.
type certsFlags struct {
	lab                 identity.Lab
	agents, controllers []string
}

func newCerts(stdout, stderr io.Writer) *cobra.Command {
	var f certsFlags
	c := &cobra.Command{
		Use:   "certs",
		Short: "Make the certificates of agents and controllers",
		Long: `Make an authority, and certificates that agents and controllers know each
other by. Each gets a folder of its own with all it needs, to be copied to its
machine. What is there already is kept, so that hosts can be added later; running
agents and controllers take up a renewed certificate by themselves. Without
--agent and --controller it lists what there is, or renews it with --renew.`,
		Example: `  dbtester certs --agent 10.0.0.2 --agent db2.lab,10.0.0.3 --controller alice
  dbtester certs --renew`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return f.run(stdout, stderr) },
	}
	flags := c.Flags()
	flags.StringVar(&f.lab.Dir, "dir", "certs", "`DIR` of the authority and the certificates")
	flags.StringArrayVar(&f.agents, "agent", nil, "`HOST` of an agent as controllers dial it; several names of one machine as HOST,HOST; may be repeated")
	flags.StringArrayVar(&f.controllers, "controller", nil, "`NAME` of a controller, for the agents' --allow; may be repeated")
	flags.DurationVar(&f.lab.Valid, "valid", identity.DefaultValid, "how long new certificates are good for")
	flags.BoolVar(&f.lab.Renew, "renew", false, "replace the certificates and keys that are there already; the authority stays")
	return c
}

func (f *certsFlags) run(stdout, stderr io.Writer) error {
	if f.lab.Valid < time.Minute {
		return usageError{fmt.Errorf("--valid %v: want at least a minute", f.lab.Valid)}
	}
	var holders []identity.Holder
	for _, names := range f.agents {
		holders = append(holders, identity.Holder{Role: identity.Agent, Names: strings.Split(names, ",")})
	}
	for _, name := range f.controllers {
		holders = append(holders, identity.Holder{Role: identity.Controller, Names: []string{name}})
	}
	issued, err := f.lab.Issue(holders)
	if len(issued) > 0 {
		err = errors.Join(err, printIssued(stdout, issued))
		fmt.Fprintf(stderr, "Copy each folder to its machine. Whoever has the authority's key in %s%cca can make more: keep it here.\n",
			f.lab.Dir, os.PathSeparator)
	}
	return err
}

func printIssued(stdout io.Writer, issued []identity.Issued) error {
	w := tabwriter.NewWriter(stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "FOR\tNAMES\tGOOD UNTIL\tSTATE\tFOLDER")
	for _, i := range issued {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", i.Role, strings.Join(i.Names, ", "), i.Until.UTC().Format("2006-01-02 15:04Z"), i.State, i.Folder)
	}
	return w.Flush()
}
