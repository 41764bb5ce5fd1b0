// Package config holds an experiment: its types and defaults, how it is read
// from YAML with the file, line and column of every mistake, how --set
// overrides it, and what makes it valid.
//
// It knows no database: options are handed on as JSON for the driver to decode,
// and consistency is a word that only the driver can judge. Every key is
// described in docs/config.md and docs/experiment.schema.json.
package config

import (
	"encoding/json"
	"time"
)

// An Experiment is one file of configs/: a workload, and the databases that are
// put under it one after the other. Its JSON form is the full effective
// configuration, which [Parse] reads again.
type Experiment struct {
	// Name is the file's base name without .yaml, a plain name.
	Name string `json:"-"`
	// Title heads the table; Name unless the file gives one.
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	// Agents are host:port, one per member, in the members' order. They may be
	// empty: a local run brings its own. Whoever needs them checks.
	Agents []string `json:"agents,omitempty"`
	// Seed makes keys and values repeatable.
	Seed int64 `json:"seed"`
	// Workload is what a database is put under that overrides nothing.
	Workload  Workload   `json:"workload"`
	Databases []Database `json:"databases"`

	// tree is where every value stands, with the overrides and, below each
	// database, its effective workload. It is nil if no file was read.
	tree *node
}

// A Database is one column of the table.
type Database struct {
	// Name is a plain name and unique: it becomes a folder of the result.
	Name string `json:"name"`
	// Kind names the driver, such as "etcd".
	Kind string `json:"kind"`
	// Installation is a plain name: a folder of the agent's --databases
	// directory, or "embedded".
	Installation string `json:"installation"`
	// Options are the driver's own, a JSON object; nil if there are none.
	Options json.RawMessage `json:"options,omitempty"`
	// Workload is the effective one: the experiment's, with this database's own
	// keys over it.
	Workload Workload `json:"workload"`
}

// A Workload says which requests are sent, and how.
type Workload struct {
	Operation Operation `json:"operation"`
	// Reads is the share of a mixed workload's requests that read, above 0 and
	// below 1; it is 0 for the other operations.
	Reads float64 `json:"reads"`
	// Requests is the number of measured requests, 1 to [MaxRequests], over all
	// steps of the ladder together; 0 if Duration is set.
	Requests int64 `json:"requests"`
	// Duration is how long requests are sent in each step of the ladder,
	// [MinDuration] to [MaxDuration]; 0 if Requests is set.
	Duration time.Duration `json:"duration"`
	// Clients are the steps of the ladder, at least one: how many requests are
	// under way at once, 1 to [MaxClients].
	Clients []int `json:"clients"`
	// Connections carry the clients' requests; 0 is one per client. A step with
	// fewer clients uses only as many connections.
	Connections int `json:"connections"`
	// Rates are in requests per second over all clients: one, of which 0 is a
	// closed loop, or the steps of a ladder with a single number of clients.
	Rates []float64 `json:"rate"`
	// Rate is the first of the Rates.
	Rate float64 `json:"-"`
	// Arrival says when the requests of a rate are due.
	Arrival     Arrival   `json:"arrival"`
	Key         Key       `json:"key"`
	Value       Value     `json:"value"`
	Consistency string    `json:"consistency"`
	Placement   Placement `json:"placement"`
	WarmUp      WarmUp    `json:"warm_up"`
	// Timeout bounds every request, [MinTimeout] to [MaxTimeout].
	Timeout time.Duration `json:"timeout"`
}

// A Key says what the keys of the requests are.
type Key struct {
	Size  int   `json:"size"` // bytes, 2 to [MaxKeySize]
	Order Order `json:"order"`
	// Space is the number of different keys, 1 to [MaxSpace], all of which are
	// put before the first request; 0 if each write has a new key, or all
	// requests the same.
	Space int64 `json:"space"`
	// Skew is the exponent of zipfian keys, above 0 and up to [MaxSkew]. The
	// other orders do not use it.
	Skew float64 `json:"skew"`
}

// A Value says what is written.
type Value struct {
	Size int `json:"size"` // bytes, 0 to [MaxValueSize]
	// Compressible is the share of the bytes that are zero, 0 to 1.
	Compressible float64 `json:"compressible"`
}

// WarmUp is what is sent before the measured window; no figure counts it. At
// most one of its fields is set.
type WarmUp struct {
	Requests int64         `json:"requests"` // 0 to [MaxRequests]
	Duration time.Duration `json:"duration"` // 0, or [MinDuration] to [MaxDuration]
}

// An Operation is what a request does.
type Operation string

// The operations.
const (
	Write Operation = "write"
	Read  Operation = "read"
	// ReadOneshot opens a connection for each read and closes it after.
	ReadOneshot Operation = "read-oneshot"
	// Mixed reads and writes, by the share of reads.
	Mixed Operation = "mixed"
)

// An Order says which key a request has.
type Order string

// The orders of keys.
const (
	// Sequential is a letter and the number of the request, padded to the key's
	// size; in a space the numbers begin again at its end.
	Sequential Order = "sequential"
	// Same is one key for all requests; reads put it first.
	Same Order = "same"
	// Uniform keys are each as likely as any other of the space.
	Uniform Order = "uniform"
	// Zipfian keys differ in popularity, as the skew says.
	Zipfian Order = "zipfian"
)

// An Arrival says when the requests of an open loop are due.
type Arrival string

// The arrivals.
const (
	// Constant requests are due at equal distances.
	Constant Arrival = "constant"
	// Poisson requests are due as if each came by itself: at random, and the
	// rate is their mean.
	Poisson Arrival = "poisson"
)

// A Placement says which members the connections lead to.
type Placement string

// The placements.
const (
	// All gives each connection one member, round robin.
	All Placement = "all"
	// Leader leads every connection to the leader.
	Leader Placement = "leader"
)

// Limits of a workload. They are far beyond what makes sense, and catch a typing error.
const (
	MaxRequests    = 1_000_000_000_000
	MaxClients     = 100_000
	MaxRate        = 1e9
	minKeySize     = keyPrefix + 1
	MaxKeySize     = 64 << 10
	MaxValueSize   = 64 << 20
	MinTimeout     = time.Millisecond
	MaxTimeout     = time.Hour
	MinDuration    = 100 * time.Millisecond
	MaxDuration    = 7 * 24 * time.Hour
	MaxSpace       = 1_000_000_000_000
	MaxSkew        = 10
	maxNameLength  = 100
	maxTitleLength = 200
)

// newExperiment returns an experiment of nothing but defaults. Title has no
// default until the name is known; operation and databases have none.
func newExperiment(name string) *Experiment {
	return &Experiment{Name: name, Title: name, Seed: 1, Workload: defaultWorkload()}
}

// defaultWorkload returns the workload of a file that says nothing of it.
func defaultWorkload() Workload {
	return Workload{
		Requests:    10_000,
		Clients:     []int{1},
		Rates:       []float64{0},
		Arrival:     Constant,
		Key:         Key{Size: 256, Order: Sequential, Skew: 0.99},
		Value:       Value{Size: 1024},
		Consistency: "linearizable",
		Placement:   All,
		Timeout:     5 * time.Second,
	}
}
