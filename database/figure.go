package database

import (
	"context"
	"math"
)

// An Introspector is a [Driver] of a store whose members tell figures of their
// own: what happens inside, which no sample of the process can show.
type Introspector interface {
	// Figures lists what a member tells. It is pure, and the order is that of
	// every answer.
	Figures() []Figure
	// Inspect returns a way to ask the member whose clients use the endpoint,
	// host:port. It sends nothing; a member that does not answer yet is no error.
	Inspect(endpoint string) (Inspection, error)
}

// An Inspection asks one member. It is not safe for concurrent use.
type Inspection interface {
	// Ask returns one reading per figure, in the order of
	// [Introspector.Figures]; one that the member does not tell now is
	// [Untold]. It is one attempt, bounded by ctx, and an answer that came in
	// part is an error.
	Ask(ctx context.Context) ([]Reading, error)
	// Close frees the connection.
	Close() error
}

// A Figure is one thing a member tells of itself.
type Figure struct {
	Name string // the store's own, such as "etcd_server_proposals_pending"
	Kind FigureKind
	Unit string // "s", "ms", "ns", "bytes"; empty for a plain number
	// Meaning is what the figure is called across stores; empty for what only
	// this one has.
	Meaning Meaning
}

// A FigureKind says how a figure is read.
type FigureKind string

// Kinds of figure.
const (
	GaugeFigure     FigureKind = "gauge"     // a value as it stands
	CounterFigure   FigureKind = "counter"   // a value that only rises while the member runs
	SummaryFigure   FigureKind = "summary"   // how many events there were and the sum of their values
	HistogramFigure FigureKind = "histogram" // like a summary, with the events counted in buckets
)

// A Meaning is a name for figures of different stores that tell the same, so
// that they can stand in one row of a table and one chart.
type Meaning string

// Meanings. The kinds a store may give are in brackets; times may be in any unit.
const (
	LogSync         Meaning = "log-sync"         // one write of the log to disk, with its fsync [summary, histogram]
	BackendCommit   Meaning = "backend-commit"   // one commit of the backend to disk [summary, histogram]
	QuorumCommit    Meaning = "quorum-commit"    // from proposal to the quorum's answer, on the leader [summary, histogram]
	PeerRoundTrip   Meaning = "peer-round-trip"  // a message between members and back [summary, histogram]
	Pending         Meaning = "pending"          // requests that wait inside the member [gauge]
	CommittedIndex  Meaning = "committed-index"  // last log entry known [gauge, counter]
	AppliedIndex    Meaning = "applied-index"    // last log entry applied [gauge, counter]
	LeaderChanges   Meaning = "leader-changes"   // changes that this member has seen, whoever won [counter]
	LeadershipsWon  Meaning = "leaderships-won"  // elections that this member has won [counter]
	SlowApplies     Meaning = "slow-applies"     // entries whose application the store calls slow [counter]
	HeapBytes       Meaning = "heap"             // live and dead objects of a managed heap [gauge]
	CollectionPause Meaning = "collection-pause" // pauses of the garbage collector [counter, summary]
)

// A Reading is one figure as a member told it. Which fields are set follows
// from the figure's kind; what is not known is NaN.
type Reading struct {
	Value      float64 // of a gauge or counter
	Count, Sum float64 // of a summary or histogram, since the member's start
	Buckets    []Bucket
}

// A Bucket counts the events up to and with its edge, since the member's start.
// Buckets are in the order of their edges; that of the last is +Inf.
type Bucket struct {
	Edge  float64
	Count float64
}

// Untold returns the reading of a figure that the member does not tell.
func Untold() Reading { return Reading{Value: math.NaN(), Count: math.NaN(), Sum: math.NaN()} }
