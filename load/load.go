// Package load sends requests and records what became of them: pacing, one
// worker per client, one recorder per worker, histograms merged per second.
//
// It knows no database, no keys and no files. A request is an [Op]; what a
// finished second looks like goes to a [Sink].
package load

import (
	"context"
	"errors"
	"time"

	"github.com/dbtester/dbtester/internal/hist"
)

// An Op sends one request and waits for its answer. seq is the request's own
// number within the whole load, 0 for the first; no two requests of a load
// share one. A nil error is an ok request. An error may carry the methods of
// [Kinder] and [Indeterminater]. An Op is called by one worker at a time.
type Op func(ctx context.Context, seq int64) error

// A Kinder names the row in which an error is counted, without keys, ports or
// addresses. Errors without it are counted by their type.
type Kinder interface{ ErrorKind() string }

// An Indeterminater tells whether a request that failed may have been applied
// all the same. Without it an exceeded deadline or a cancelled context is
// indeterminate and every other error is a failure.
type Indeterminater interface{ Indeterminate() bool }

// A Stage is one step of a load: a number of clients and the requests they share.
type Stage struct {
	Number   int     // 1 for the first
	Ops      []Op    // one per client
	Requests int64   // to send in this stage, unless Duration is set
	Rate     float64 // due requests per second; 0 is a closed loop
	// Duration is how long requests are sent, however many they are; 0 leaves
	// it to Requests.
	Duration time.Duration
	// Arrival of an open loop; empty means Constant. Seed fixes Poisson arrivals.
	Arrival Arrival
	Seed    int64
}

// An Outcome is what became of a stage. The measured window runs from Start,
// the first due time, to End, the last completion.
// Planned = OK + Failed + Indeterminate + Unsent.
type Outcome struct {
	Start, End    time.Time
	Planned       int64
	OK            int64
	Failed        int64
	Indeterminate int64
	// Unsent were planned, or due within a stage's Duration, and never sent.
	Unsent int64
	// Late counts the ok requests of an open loop that were sent more than
	// [LateAfter] after they were due.
	Late int64
	// Backoff is the time that clients paused after requests that failed,
	// summed over the clients.
	Backoff time.Duration
}

// Attempted is the number of requests that were sent.
func (o Outcome) Attempted() int64 { return o.OK + o.Failed + o.Indeterminate }

// A Second is what completed within one second of wall clock in one stage.
type Second struct {
	Unix    int64 // seconds since the epoch
	Stage   int
	Clients int
	// Full tells that the stage's measured window covers the whole second.
	Full bool
	// Service and Response hold the ok requests. They are the same histogram
	// in a closed loop, and valid only until the sink returns.
	Service, Response *hist.Histogram
	Failed            int64
	Indeterminate     int64
	Late              int64 // see [Outcome]
}

// A Sink takes every second of a load, in order, about a second after it began
// at the latest. An error ends the load.
type Sink interface {
	Second(s Second) error
}

// SinkFunc makes a function a [Sink].
type SinkFunc func(Second) error

// Second calls f.
func (f SinkFunc) Second(s Second) error { return f(s) }

// An ErrorCount counts the requests that ended with one kind of error.
type ErrorCount struct {
	Kind          string
	Indeterminate bool
	Count         int64
}

// A Bucket holds the service times of the ok requests among consecutive
// sequence numbers; all zero if there was none.
type Bucket struct {
	Last     int64 // sequence number of the bucket's last request, counted from 1
	Count    int64
	Min, Max time.Duration
	Mean     time.Duration
}

// ErrNoSuccess says that no request succeeded for as long as [Options.GiveUp].
var ErrNoSuccess = errors.New("no request succeeded")

// Options of a load.
type Options struct {
	// Requests of all stages together; sizes the by-key buckets. There are
	// none if it is 0, as where stages have a Duration.
	Requests int64
	// Sink takes the seconds; nil drops them.
	Sink Sink
	// GiveUp ends a stage in which nothing has succeeded for this long;
	// 0 means 60 s.
	GiveUp time.Duration
	// Drain bounds how long requests in flight may go on once the context is
	// done; 0 means 2 s.
	Drain time.Duration
}
