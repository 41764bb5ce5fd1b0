// Package database holds the contracts between the harness and a store: how a
// member of a cluster is launched ([Driver.Plan]) and how a client talks to it
// ([Driver.Open]).
//
// It knows no particular store. A driver lives in a folder of its own below
// this one; what only some stores can do is a small optional interface, found
// by type assertion on a [Client].
package database

import (
	"context"
	"encoding/json"
	"os"
	"syscall"
	"time"
)

// A Factory makes the driver of one kind of store. It decodes the store's own
// options strictly; see [DecodeOptions] for its errors. Empty options mean the
// defaults.
type Factory func(options json.RawMessage) (Driver, error)

// A Driver launches and reaches one kind of store. It is safe for concurrent use.
type Driver interface {
	// Plan tells how to launch a member. It is pure: it touches no file, no
	// process and no clock, and the same member gives the same launch.
	Plan(m Member) (Launch, error)

	// Guarantee tells what a series with that consistency promises, and
	// returns an error that lists the known names if it is not one of them.
	Guarantee(consistency string) (Guarantee, error)

	// Open returns a connection after a real round trip to the store, so that
	// readiness needs no sleep. It returns an error once ctx is done.
	Open(ctx context.Context, t Target) (Client, error)
}

// A Client is one connection to a store. It is safe for concurrent use: many
// load clients may share it. Every call obeys the context's deadline and, if
// that is later or missing, the [Target]'s own timeout, which it may pass by a
// sixteenth; no call is retried.
// Errors are of type [*Error].
//
// Key and value are the caller's memory. Once a call has returned nil the caller
// overwrites both, so that the client must hold neither: not for another
// attempt, a log line or a cache, nor as a map's key without [strings.Clone].
// After an error the caller never changes them again, because a request that
// was given up may still be on its way out.
type Client interface {
	// Put writes the value, over an older one if there is one.
	Put(ctx context.Context, key string, value []byte) error
	// Get reads the value with the target's consistency, appends it to into and
	// returns the whole, as append does; or it returns an error for which
	// errors.Is(err, ErrNotFound). Into may be nil, and is the caller's like
	// key and value.
	Get(ctx context.Context, key string, into []byte) ([]byte, error)
	// Close frees the connection. Calls after it return [ErrClosed].
	Close() error
}

// A ValueLimiter is a [Driver] of a store that takes no values beyond a size.
type ValueLimiter interface {
	// MaxValueBytes returns the size of the largest value, in bytes.
	MaxValueBytes() int
}

// A Counter can tell how many keys a store holds.
type Counter interface {
	// Count returns the number of keys that start with prefix.
	Count(ctx context.Context, prefix string) (int64, error)
}

// A LeaderProber can tell whether its endpoint leads the cluster.
type LeaderProber interface {
	// IsLeader reports whether the member behind the client's first endpoint
	// is the leader now.
	IsLeader(ctx context.Context) (bool, error)
}

// A Versioner can tell the version of the server it is connected to.
type Versioner interface {
	// Version returns the server's own version, such as "3.6.16".
	Version(ctx context.Context) (string, error)
}

// A Target says where and how a client connects.
type Target struct {
	// Endpoints are host:port addresses. The client uses all of them; the
	// caller who wants one endpoint per connection gives one.
	Endpoints []string
	// Consistency of reads, one that [Driver.Guarantee] accepts.
	Consistency string
	// Timeout bounds every call; 0 means 5 s, below the 7 s after which an
	// etcd server gives a request up by itself.
	Timeout time.Duration
}

// DefaultTimeout is the bound of a call when [Target.Timeout] is 0.
const DefaultTimeout = 5 * time.Second

// RequestTimeout returns Timeout or its default.
func (t Target) RequestTimeout() time.Duration {
	if t.Timeout > 0 {
		return t.Timeout
	}
	return DefaultTimeout
}

// Guarantee is what the answers of a series promise.
type Guarantee struct {
	Reads   string // what a read sees: "linearizable", "sequential" or "stale"
	Durable string // when a write is acknowledged, in words
	Fsync   bool   // the answer to a write waits for an fsync on a quorum
}

// A Member is one server of the cluster to launch.
type Member struct {
	Index        int    // 1 for the first; Cluster[Index-1] is this member
	Cluster      []Peer // all members, in order
	Token        string // unique for the run, so that old members cannot join
	DataDir      string // an empty directory of its own, absolute
	Installation Installation
}

// Self returns the member's own place in the cluster.
func (m Member) Self() Peer { return m.Cluster[m.Index-1] }

// A Peer is where one member of the cluster lives.
type Peer struct {
	Name string // "member-1"
	Host string // IP address, without port
}

// An Installation is the software of one store at one version.
type Installation struct {
	Name    string // plain name, such as "etcd-3.5.21" or "embedded"
	Dir     string // folder of the installation; empty if embedded
	Version string // "3.5.21"
	// Command starts the embedded server of this binary; its arguments are
	// appended. Empty if Dir is set.
	Command []string
}

// Embedded is the name of the installation that is inside our own binary.
const Embedded = "embedded"

// A Launch is all that starting one member takes.
type Launch struct {
	Argv       []string // program with its full path, and its arguments; never a shell
	Env        []string // whole environment, KEY=value
	Files      []File   // written before the start, inside the member's data directory
	DataDirs   []string // what disk usage is counted over, inside the data directory
	Endpoint   string   // host:port for clients
	Ports      []string // every host:port the member listens on; they must be free
	StopSignal syscall.Signal
	Settings   []Setting
	// Libraries are patterns, as of filepath.Glob, of further files that are
	// part of the program, such as the jars of a class path.
	Libraries []string
}

// A File is a configuration file of a launch.
type File struct {
	Path    string // absolute
	Mode    os.FileMode
	Content string
}

// A Setting is a server or client default that matters for a benchmark: set,
// or deliberately left. It goes into the manifest.
type Setting struct {
	Name   string
	Value  string
	Set    bool // false: left as the store has it
	Reason string
}
