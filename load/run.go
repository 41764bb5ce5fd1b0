package load

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dbtester/dbtester/internal/hist"
)

// A Load is the sum of its stages: run them one after the other with
// [Load.Run], then ask for the totals. Its methods are not safe for concurrent use.
type Load struct {
	options Options
	clock   clock
	sums    *aggregate
	total   *interval
	first   int64 // sequence number of the next stage's first request
}

// New returns a load that has not begun.
func New(o Options) *Load {
	if o.GiveUp <= 0 {
		o.GiveUp = time.Minute
	}
	if o.Drain <= 0 {
		o.Drain = 2 * time.Second
	}
	c := startClock()
	return &Load{options: o, clock: c, sums: newAggregate(o.Requests, c), total: newInterval()}
}

// Run sends the requests of a stage and returns when the last was answered.
// When ctx is done it sends no more, waits for those in flight for at most
// [Options.Drain], and returns the context's cause beside the outcome. The
// other errors are [ErrNoSuccess] and those of the sink.
func (l *Load) Run(ctx context.Context, s Stage) (Outcome, error) {
	r := l.newRun(ctx, s)
	r.start = l.clock.now()
	for i, op := range s.Ops {
		r.working.Add(1)
		r.workers.Go(func() {
			defer r.working.Add(-1)
			r.work(op, r.recorders[i])
		})
	}
	done := make(chan struct{})
	go func() {
		r.workers.Wait()
		close(done)
	}()
	err := r.collect(done)
	l.first += s.Requests
	return r.outcome(), err
}

// Service returns the service times of all ok requests until now, Response
// their response times; they are equal where no stage had a rate.
func (l *Load) Service() *hist.Histogram { return l.total.service }

// Response returns the response times of all ok requests until now.
func (l *Load) Response() *hist.Histogram {
	if l.total.response.Count() == 0 {
		return l.total.service
	}
	return l.total.response
}

// Errors returns the kinds of error and their counts, most frequent first.
func (l *Load) Errors() []ErrorCount { return l.sums.errorCounts() }

// Buckets returns at most 1,000 buckets of equal size over the sequence numbers.
func (l *Load) Buckets() []Bucket { return l.sums.buckets() }

// A run is one stage while it runs.
type run struct {
	*Load
	stage     Stage
	tickets   *tickets
	recorders []*recorder
	workers   sync.WaitGroup
	working   atomic.Int64
	backoff   atomic.Int64 // nanoseconds

	send   context.Context // done: send no more requests
	stop   context.CancelCauseFunc
	flight context.Context // done: give up the requests in flight
	land   context.CancelFunc

	start time.Duration
	end   time.Duration
	sent  interval // what the stage's seconds add up to; only its counts are used
	ok    int64
}

func (l *Load) newRun(ctx context.Context, s Stage) *run {
	r := &run{Load: l, stage: s, tickets: newTickets(l.first, s.Requests)}
	r.send, r.stop = context.WithCancelCause(ctx)
	r.flight, r.land = context.WithCancel(context.WithoutCancel(ctx))
	for range s.Ops {
		r.recorders = append(r.recorders, newRecorder(l.sums))
	}
	l.sums.setOpen(s.Rate > 0)
	return r
}

// work is one client: it sends requests until no ticket is left.
func (r *run) work(op Op, rec *recorder) {
	batch := int64(1)
	w := worker{run: r, op: op, rec: rec}
	for r.send.Err() == nil {
		from, to := r.tickets.take(batch)
		if from == to {
			return
		}
		began := r.clock.now()
		for seq := from; seq < to; seq++ {
			if !w.request(seq) {
				return
			}
		}
		if r.stage.Rate == 0 {
			batch = nextBatch(batch, r.clock.now()-began)
		}
	}
}

// A worker sends the requests of one client.
type worker struct {
	*run
	op      Op
	rec     *recorder
	pause   time.Duration // the last backoff; 0 after a success
	sleeper sleeper
}

// request sends one request when it is due and records it. It reports whether
// the client should go on.
func (w *worker) request(seq int64) bool {
	dueAt := time.Duration(-1)
	if w.stage.Rate > 0 {
		dueAt = w.start + due(seq-w.first, w.stage.Rate)
		if !w.sleeper.sleep(w.send, dueAt-w.clock.now()) {
			return false
		}
	} else if w.send.Err() != nil {
		return false
	}
	started := w.clock.now()
	if dueAt < 0 {
		dueAt = started
	}
	err := w.op(w.flight, seq)
	w.rec.begin()
	end := w.clock.now()
	if err == nil {
		w.rec.ok(sample{seq: seq, end: end, service: end - started, response: end - dueAt})
		w.pause = 0
		return true
	}
	w.rec.failed(end, err)
	return w.backOff()
}

// backOff pauses a closed-loop client whose request failed, so that the
// clients of a dead member do not eat the requests of the others. An open loop
// keeps its schedule.
func (w *worker) backOff() bool {
	if w.stage.Rate > 0 {
		return true
	}
	w.pause = nextBackoff(w.pause)
	w.backoff.Add(int64(w.pause))
	return w.sleeper.sleep(w.send, w.pause)
}

// outcome adds up the stage once all its workers have ended.
func (r *run) outcome() Outcome {
	o := Outcome{
		Start:         r.clock.time(r.start),
		End:           r.clock.time(max(r.end, r.start)),
		Planned:       r.stage.Requests,
		OK:            r.ok,
		Failed:        r.sent.failed,
		Indeterminate: r.sent.indeterminate,
		Backoff:       time.Duration(r.backoff.Load()),
	}
	o.Unsent = o.Planned - o.Attempted()
	return o
}

// errorf wraps the reason why a stage ended early.
func (r *run) errorf(err error) error { return fmt.Errorf("load stage %d: %w", r.stage.Number, err) }
