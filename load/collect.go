package load

import (
	"context"
	"fmt"
	"time"

	"github.com/dbtester/dbtester/internal/hist"
)

// collect hands every second to the sink until done is closed, that is, until
// all workers have ended. It returns why the stage ended early, if it did.
func (r *run) collect(done <-chan struct{}) error {
	defer r.stop(nil)
	defer r.land()
	second := r.clock.unix(r.start)
	tick := time.NewTimer(r.clock.boundary(second+1) - r.clock.now())
	defer tick.Stop()
	interrupted := r.send.Done()
	var drain <-chan time.Time
	for {
		select {
		case <-done:
			return r.finish(second)
		case <-interrupted:
			interrupted = nil
			drain = time.After(r.options.Drain)
		case <-drain:
			r.land()
		case <-tick.C:
			second = r.catchUp(second)
			tick.Reset(r.clock.boundary(second+1) - r.clock.now())
		}
	}
}

// catchUp hands over the seconds that are past and returns the present one.
func (r *run) catchUp(second int64) int64 {
	present := r.clock.unix(r.clock.now())
	// A worker that has ended may have completed its last request before the
	// boundary; while one works, the window goes on beyond it.
	working := r.working.Load() > 0
	for _, rec := range r.recorders {
		rec.collect()
	}
	for ; second < present; second++ {
		r.emit(second, working && r.clock.boundary(second) >= r.start)
	}
	if _, success := r.sums.last(); r.clock.now()-max(success, r.start) > r.options.GiveUp {
		r.stop(fmt.Errorf("%w for %v", ErrNoSuccess, r.options.GiveUp))
	}
	return second
}

// finish hands over what is left and tells why the stage ended early.
func (r *run) finish(second int64) error {
	for _, rec := range r.recorders {
		rec.collect()
	}
	r.end, _ = r.sums.last()
	for last := r.clock.unix(max(r.end, r.start)); second <= last; second++ {
		full := r.clock.boundary(second) >= r.start && r.clock.boundary(second+1) <= r.end
		r.emit(second, full)
	}
	if r.send.Err() != nil {
		return r.errorf(context.Cause(r.send))
	}
	return nil
}

// emit hands one second to the sink and adds it to the totals.
func (r *run) emit(unix int64, full bool) {
	in := r.sums.take(unix)
	if in == nil {
		in = newInterval()
	}
	defer r.sums.release(in)
	r.ok += in.service.Count()
	r.sent.failed += in.failed
	r.sent.indeterminate += in.indeterminate
	r.sent.late += in.late
	r.total.service.Merge(in.service)
	if in.response != nil {
		r.total.responses().Merge(in.response)
	}
	if r.options.Sink == nil {
		return
	}
	err := r.options.Sink.Second(Second{
		Unix:          unix,
		Stage:         r.stage.Number,
		Clients:       len(r.stage.Ops),
		Full:          full,
		Service:       in.service,
		Response:      r.responseOf(in),
		Failed:        in.failed,
		Indeterminate: in.indeterminate,
		Late:          in.late,
	})
	if err != nil {
		r.stop(err)
	}
}

func (r *run) responseOf(in *interval) *hist.Histogram {
	if r.stage.Rate > 0 {
		return in.responses()
	}
	return in.service
}
