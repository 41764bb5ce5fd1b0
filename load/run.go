package load

import (
	"context"
	"fmt"
	"math"
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
	r.begin()
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
	outcome := r.outcome()
	l.first += r.numbers()
	return outcome, err
}

// Service returns the service times of all ok requests until now, Response
// their response times; they are equal where no stage had a rate.
func (l *Load) Service() *hist.Histogram { return l.total.service }

// Response returns the response times of all ok requests until now.
func (l *Load) Response() *hist.Histogram {
	if l.total.response == nil || l.total.response.Count() == 0 {
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
	tickets   *tickets  // of a closed loop
	schedule  *schedule // of an open loop
	recorders []*recorder
	workers   sync.WaitGroup
	working   atomic.Int64
	backoff   atomic.Int64 // nanoseconds

	send   context.Context // done: send no more requests
	stop   context.CancelCauseFunc
	flight context.Context // done: give up the requests in flight
	land   context.CancelFunc

	start time.Duration
	until time.Duration // send nothing from here on; never, unless the stage has a Duration
	end   time.Duration
	sent  interval // what the stage's seconds add up to; only its counts are used
	ok    int64
}

const never = time.Duration(math.MaxInt64)

func (l *Load) newRun(ctx context.Context, s Stage) *run {
	r := &run{Load: l, stage: s, until: never}
	requests := s.Requests
	if s.Duration > 0 {
		requests = math.MaxInt64 - l.first
	}
	if s.Rate > 0 {
		r.schedule = newSchedule(s)
	} else {
		r.tickets = newTickets(l.first, requests)
	}
	r.send, r.stop = context.WithCancelCause(ctx)
	r.flight, r.land = context.WithCancel(context.WithoutCancel(ctx))
	for range s.Ops {
		r.recorders = append(r.recorders, newRecorder(l.sums))
	}
	l.sums.setOpen(s.Rate > 0)
	return r
}

// begin starts the stage's clock.
func (r *run) begin() {
	r.start = r.clock.now()
	if r.stage.Duration > 0 {
		r.until = r.start + r.stage.Duration
	}
}

// work is one client: it sends requests until there are no more.
func (r *run) work(op Op, rec *recorder) {
	w := worker{run: r, op: op, rec: rec}
	if r.schedule != nil {
		w.openLoop()
	} else {
		w.closedLoop()
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

// openLoop sends each request when it is due. Failures do not change the schedule.
func (w *worker) openLoop() {
	for w.send.Err() == nil {
		n, at, ok := w.schedule.take()
		if !ok {
			return
		}
		due := w.start + at
		if !w.sleeper.sleep(w.send, due-w.clock.now()) {
			return
		}
		started := w.clock.now()
		if started >= w.until {
			return // due in time, but no client was free: it stays unsent
		}
		w.request(w.first+n, due, started)
	}
}

// closedLoop sends the next request when the last was answered. A client whose
// request failed pauses, so that the clients of a dead member do not eat the
// requests of the others.
func (w *worker) closedLoop() {
	batch := int64(1)
	for w.send.Err() == nil {
		from, to := w.tickets.take(batch)
		if from == to {
			return
		}
		began := w.clock.now()
		for seq := from; seq < to; seq++ {
			started := w.clock.now()
			if started >= w.until || w.send.Err() != nil {
				return
			}
			if !w.request(seq, started, started) && !w.backOff() {
				return
			}
		}
		batch = nextBatch(batch, w.clock.now()-began)
	}
}

// request sends one request, records it, and reports whether it succeeded.
func (w *worker) request(seq int64, due, started time.Duration) bool {
	err := w.op(w.flight, seq)
	w.rec.begin()
	end := w.clock.now()
	if err != nil {
		w.rec.failed(end, err)
		return false
	}
	w.rec.ok(sample{seq: seq, end: end, service: end - started, response: end - due})
	w.pause = 0
	return true
}

// backOff pauses and reports whether the client should go on.
func (w *worker) backOff() bool {
	w.pause = nextBackoff(w.pause)
	w.backoff.Add(int64(w.pause))
	return w.sleeper.sleep(w.send, w.pause)
}

// outcome adds up the stage once all its workers have ended.
func (r *run) outcome() Outcome {
	o := Outcome{
		Start:         r.clock.time(r.start),
		End:           r.clock.time(max(r.end, r.start)),
		OK:            r.ok,
		Failed:        r.sent.failed,
		Indeterminate: r.sent.indeterminate,
		Late:          r.sent.late,
		Backoff:       time.Duration(r.backoff.Load()),
	}
	switch {
	case r.schedule != nil:
		o.Planned = r.schedule.planned()
	case r.stage.Duration > 0:
		o.Planned = o.Attempted()
	default:
		o.Planned = r.stage.Requests
	}
	o.Unsent = o.Planned - o.Attempted()
	return o
}

// numbers is how many sequence numbers the stage has used up.
func (r *run) numbers() int64 {
	switch {
	case r.schedule != nil:
		return r.schedule.planned()
	case r.stage.Duration > 0:
		return r.tickets.next.Load() - r.first
	default:
		return r.stage.Requests
	}
}

// errorf wraps the reason why a stage ended early.
func (r *run) errorf(err error) error { return fmt.Errorf("load stage %d: %w", r.stage.Number, err) }
