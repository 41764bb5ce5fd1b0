//go:build linux

package agent

import (
	"cmp"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/internal/identity"
	"github.com/dbtester/dbtester/internal/monitor"
	"github.com/dbtester/dbtester/internal/process"
)

// Defaults of [Options].
const (
	DefaultListen    = "127.0.0.1:3500"
	DefaultDatabases = "databases"
	DefaultDir       = "agent-data"
	DefaultGrace     = 30 * time.Second
	DefaultLease     = 90 * time.Second
)

// Bounds of [Options.Lease].
const (
	minLease = time.Second
	maxLease = 24 * time.Hour
)

// Options say what an agent offers and where it works.
type Options struct {
	// Listen is the host:port or unix:/path to serve on; [DefaultListen] if
	// empty. An address other than loopback needs TLS.
	Listen string
	// TLS are the certificate files; with them every connection is mutual TLS.
	TLS identity.Files
	// Allow are the controllers that may use the agent, by the common name of
	// their certificates. There is no default: with TLS at least one is needed.
	Allow []string
	// Databases is the folder of the installations, one folder KIND-VERSION
	// each; [DefaultDatabases] if empty. It need not exist.
	Databases string
	// Dir is the work folder, for data, logs and metrics; [DefaultDir] if
	// empty. It is made if it does not exist.
	Dir string
	// Drivers by kind of store.
	Drivers map[string]database.Factory
	// Embedded installations by kind: what this binary carries inside it.
	Embedded map[string]database.Installation
	// Device and Interface are sampled instead of those found: the block
	// device that holds Dir, and the interface of the member's address.
	Device, Interface string
	// Interval between samples; a second if 0. See [monitor.CheckInterval].
	Interval time.Duration
	// ProcRoot is a folder like /proc, which is the default.
	ProcRoot string
	// Version of this program, for the controller.
	Version string
	// Log is told what happens; nothing is if it is nil.
	Log *slog.Logger
	// Grace is how long a member may take to end by itself; [DefaultGrace]
	// if 0.
	Grace time.Duration
	// Lease is how long a controller that is not heard of may take to come
	// back, 1 s to 24 h; then the member is stopped. [DefaultLease] if 0.
	Lease time.Duration
	// RunAs is the user members run as, which takes root; the agent's own if
	// empty.
	RunAs string
	// MemberLimits are resource limits; the zero value stands for the defaults.
	MemberLimits process.Limits

	limits  limits        // for tests; the defaults are those of limits.withDefaults
	user    *process.User // of RunAs
	noGroup bool          // does without control groups, in tests
}

// An OptionError says that an agent cannot be had with these options, whatever the
// machine does. Nothing was started.
type OptionError struct{ Err error }

// Error tells the flag, what is wrong with it and what to write instead.
func (e *OptionError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *OptionError) Unwrap() error { return e.Err }

// withDefaults fills what is empty, makes paths absolute and checks the rest.
func (o Options) withDefaults() (Options, error) {
	o.Listen = cmp.Or(o.Listen, DefaultListen)
	o.ProcRoot = cmp.Or(o.ProcRoot, monitor.DefaultProcRoot)
	o.Grace = cmp.Or(o.Grace, DefaultGrace)
	o.limits = o.limits.withDefaults()
	if err := o.checkIdentity(); err != nil {
		return o, err
	}
	if o.Lease = cmp.Or(o.Lease, DefaultLease); o.Lease < minLease || o.Lease > maxLease {
		return o, fmt.Errorf("--lease %v: want %v to %v", o.Lease, minLease, maxLease)
	}
	if o.Grace < 0 {
		return o, fmt.Errorf("grace %v: want a time to wait", o.Grace)
	}
	o.Interval = cmp.Or(o.Interval, monitor.DefaultInterval)
	if err := monitor.CheckInterval(o.Interval); err != nil {
		return o, fmt.Errorf("--%w", err)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	var err error
	if o.Databases, err = filepath.Abs(cmp.Or(o.Databases, DefaultDatabases)); err != nil {
		return o, fmt.Errorf("--databases: %w", err)
	}
	if o.Dir, err = filepath.Abs(cmp.Or(o.Dir, DefaultDir)); err != nil {
		return o, fmt.Errorf("--dir: %w", err)
	}
	if o.user, err = checkRunAs(o.RunAs); err != nil {
		return o, err
	}
	if o.MemberLimits, err = o.MemberLimits.Effective(); err != nil {
		return o, fmt.Errorf("limits of the members: %w", err)
	}
	if err := checkNamed("--device", o.Device, o.ProcRoot, monitor.Devices); err != nil {
		return o, err
	}
	return o, checkNamed("--interface", o.Interface, o.ProcRoot, monitor.Interfaces)
}

// checkNamed refuses an override that this machine has not got: its figures
// would be gaps through the whole run.
func checkNamed(flag, name, procRoot string, list func(procRoot string) ([]string, error)) error {
	if name == "" {
		return nil
	}
	names, err := list(procRoot)
	if err != nil {
		return fmt.Errorf("%s %s: %w", flag, name, err)
	}
	if !slices.Contains(names, name) {
		return fmt.Errorf("%s %s: this machine has %s", flag, name, strings.Join(names, ", "))
	}
	return nil
}
