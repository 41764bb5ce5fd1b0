package load_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dbtester/dbtester/load"
)

// timeline keeps the seconds of a load as plain figures.
type timeline struct{ seconds []second }

type second struct {
	unix                      int64
	stage, clients            int
	full                      bool
	ok, failed, indeterminate int64
	max, maxResponse          time.Duration
}

func (tl *timeline) Second(s load.Second) error {
	tl.seconds = append(tl.seconds, second{
		unix: s.Unix, stage: s.Stage, clients: s.Clients, full: s.Full,
		ok: s.Service.Count(), failed: s.Failed, indeterminate: s.Indeterminate,
		max: s.Service.Max(), maxResponse: s.Response.Max(),
	})
	return nil
}

func (tl *timeline) sums() (ok, failed, indeterminate int64) {
	for _, s := range tl.seconds {
		ok, failed, indeterminate = ok+s.ok, failed+s.failed, indeterminate+s.indeterminate
	}
	return ok, failed, indeterminate
}

// takes returns an op that takes as long as latency says for the time since it was made.
func takes(latency func(since time.Duration) time.Duration) load.Op {
	start := time.Now()
	return func(ctx context.Context, _ int64) error {
		select {
		case <-time.After(latency(time.Since(start))):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func always(d time.Duration) func(time.Duration) time.Duration {
	return func(time.Duration) time.Duration { return d }
}

// clients returns n times the same op, which must be safe to share.
func clients(n int, op load.Op) []load.Op {
	ops := make([]load.Op, n)
	for i := range ops {
		ops[i] = op
	}
	return ops
}

func TestClosedLoopReportsTheLatencyOfTheServer(t *testing.T) {
	for _, n := range []int{1, 100, 1000} {
		t.Run(fmt.Sprint(n, " clients"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const latency = 10 * time.Millisecond
				requests := int64(n) * 250
				var tl timeline
				l := load.New(load.Options{Requests: requests, Sink: &tl})
				got, err := l.Run(t.Context(), load.Stage{Number: 1, Ops: clients(n, takes(always(latency))), Requests: requests})
				if err != nil || got.OK != requests || got.Unsent != 0 || got.Attempted() != requests {
					t.Fatalf("outcome %+v, error %v; want %d ok", got, err, requests)
				}
				if took := got.End.Sub(got.Start); took != 250*latency {
					t.Errorf("measured window %v, want %v", took, 250*latency)
				}
				for _, q := range []float64{0, .5, .99, 1} {
					if p := l.Service().Quantile(q); p != latency {
						t.Errorf("service quantile %v = %v, want %v", q, p, latency)
					}
				}
				if ok, _, _ := tl.sums(); ok != requests {
					t.Errorf("the timeline sums to %d, want %d", ok, requests)
				}
			})
		})
	}
}

func TestASecondCountsWhatCompletesInIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tl timeline
		l := load.New(load.Options{Requests: 35, Sink: &tl})
		// The bubble's clock starts on a whole second: requests end at 0.1 s, 0.2 s, …, 3.5 s.
		if _, err := l.Run(t.Context(), load.Stage{Number: 1, Ops: clients(1, takes(always(100*time.Millisecond))), Requests: 35}); err != nil {
			t.Fatal(err)
		}
		var oks []int64
		var fulls []bool
		for i, s := range tl.seconds {
			oks, fulls = append(oks, s.ok), append(fulls, s.full)
			if s.unix != tl.seconds[0].unix+int64(i) {
				t.Errorf("second %d is %d, want consecutive ones", i, s.unix)
			}
		}
		if got, want := fmt.Sprint(oks, fulls), "[9 10 10 6] [true true true false]"; got != want {
			t.Errorf("ok and full by second = %s, want %s", got, want)
		}
	})
}

func TestOpenLoopShowsAStallWithItsHeight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rate, n = 1000, 10_000
		stalled := func(since time.Duration) time.Duration {
			if from, to := 2*time.Second, 5*time.Second; since >= from && since < to {
				return to - since + time.Millisecond
			}
			return time.Millisecond
		}
		var tl timeline
		l := load.New(load.Options{Requests: n, Sink: &tl})
		got, err := l.Run(t.Context(), load.Stage{Number: 1, Ops: clients(20, takes(stalled)), Requests: n, Rate: rate})
		if err != nil || got.OK != n {
			t.Fatalf("outcome %+v, error %v; want %d ok", got, err, n)
		}
		// 3,000 of 10,000 requests are due in the stall; the one due first waits 3 s,
		// and the queue of those behind is worked off at 20 clients ÷ 1 ms.
		if p99 := l.Response().Quantile(.99); p99 < 2850*time.Millisecond || p99 > 3*time.Second {
			t.Errorf("response p99 = %v, want about 2.9 s", p99)
		}
		if p50 := l.Response().Quantile(.5); p50 > 2*time.Millisecond {
			t.Errorf("response p50 = %v, want about 1 ms", p50)
		}
		if p99 := l.Service().Quantile(.99); p99 > 2*time.Millisecond {
			t.Errorf("service p99 = %v, want about 1 ms: only 20 requests were in flight", p99)
		}
	})
}

func TestOpenLoopNeverBursts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tl timeline
		l := load.New(load.Options{Requests: 5000, Sink: &tl})
		if _, err := l.Run(t.Context(), load.Stage{Number: 1, Ops: clients(100, takes(always(3*time.Millisecond))), Requests: 5000, Rate: 1000}); err != nil {
			t.Fatal(err)
		}
		for _, s := range tl.seconds {
			if s.ok > 1001 {
				t.Errorf("second %d has %d requests at a rate of 1,000", s.unix-tl.seconds[0].unix, s.ok)
			}
		}
	})
}

// refusal is an error that names its kind, as drivers' errors do.
type refusal struct{ unsure bool }

func (e refusal) Error() string       { return "10.0.0.1:2379: refused" }
func (e refusal) ErrorKind() string   { return "refused" }
func (e refusal) Indeterminate() bool { return e.unsure }

func TestOutcomesAddUpToThePlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 4000
		op := func(_ context.Context, seq int64) error {
			<-time.After(time.Millisecond)
			switch seq % 40 {
			case 1:
				return fmt.Errorf("put: %w", refusal{})
			case 2:
				return refusal{unsure: true}
			case 3:
				return context.DeadlineExceeded
			case 4:
				return errors.New("key 17 is odd")
			}
			return nil
		}
		var tl timeline
		l := load.New(load.Options{Requests: n, Sink: &tl})
		got, err := l.Run(t.Context(), load.Stage{Number: 1, Ops: clients(8, op), Requests: n})
		if err != nil {
			t.Fatal(err)
		}
		if got.OK != n*36/40 || got.Failed != n*2/40 || got.Indeterminate != n*2/40 || got.Unsent != 0 {
			t.Errorf("outcome %+v, want 3,600 ok, 200 failed, 200 indeterminate", got)
		}
		if ok, failed, indeterminate := tl.sums(); ok != got.OK || failed != got.Failed || indeterminate != got.Indeterminate {
			t.Errorf("the timeline sums to %d, %d, %d; the outcome is %+v", ok, failed, indeterminate, got)
		}
		want := "[{*errors.errorString false 100} {deadline exceeded true 100} {refused false 100} {refused true 100}]"
		if kinds := fmt.Sprint(l.Errors()); kinds != want && kinds != "[{*errors.errorString false 100} {deadline exceeded true 100} {refused true 100} {refused false 100}]" {
			t.Errorf("errors = %s, want %s", kinds, want)
		}
		if l.Service().Count() != got.OK {
			t.Errorf("%d latencies, want only those of the %d ok requests", l.Service().Count(), got.OK)
		}
	})
}

func TestInterruptedLoadDrainsAndCountsTheUnsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("interrupted by the user")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(1500*time.Millisecond, func() { cancel(why) })
		var calls atomic.Int64
		slow := takes(always(200 * time.Millisecond))
		op := func(ctx context.Context, seq int64) error {
			if calls.Add(1) > 30 { // the last ones never answer
				<-ctx.Done()
				return ctx.Err()
			}
			return slow(ctx, seq)
		}
		l := load.New(load.Options{Requests: 1000, Drain: time.Second})
		got, err := l.Run(ctx, load.Stage{Number: 1, Ops: clients(4, op), Requests: 1000})
		if !errors.Is(err, why) {
			t.Errorf("error = %v, want the cause %v", err, why)
		}
		if got.Unsent == 0 || got.OK+got.Failed+got.Indeterminate+got.Unsent != 1000 || got.Indeterminate == 0 {
			t.Errorf("outcome %+v, want unsent and indeterminate ones and a sum of 1,000", got)
		}
		if took := got.End.Sub(got.Start); took > 3*time.Second {
			t.Errorf("the load ended %v after it began, want the drain bounded by 1 s", took)
		}
	})
}

func TestADeadMemberDoesNotEatTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 20_000
		dead := func(context.Context, int64) error { return refusal{} }
		ops := append(clients(10, dead), clients(10, takes(always(time.Millisecond)))...)
		l := load.New(load.Options{Requests: n})
		got, err := l.Run(t.Context(), load.Stage{Number: 1, Ops: ops, Requests: n})
		if err != nil {
			t.Fatal(err)
		}
		if got.Failed > n/100 || got.Backoff == 0 {
			t.Errorf("%d of %d requests went to the dead member, backoff %v; want fewer than 1 %%", got.Failed, n, got.Backoff)
		}
	})
}

func TestNothingSucceedsEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := func(context.Context, int64) error { return refusal{} }
		l := load.New(load.Options{Requests: 1e6, GiveUp: 10 * time.Second})
		began := time.Now()
		got, err := l.Run(t.Context(), load.Stage{Number: 1, Ops: clients(5, dead), Requests: 1e6})
		if !errors.Is(err, load.ErrNoSuccess) || got.OK != 0 || got.Unsent == 0 {
			t.Errorf("outcome %+v, error %v; want %v", got, err, load.ErrNoSuccess)
		}
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("gave up after %v, want about 10 s", took)
		}
	})
}

func TestASinkThatFailsEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("no space left on device")
		l := load.New(load.Options{Requests: 1e5, Sink: load.SinkFunc(func(load.Second) error { return full })})
		got, err := l.Run(t.Context(), load.Stage{Number: 1, Ops: clients(2, takes(always(time.Millisecond))), Requests: 1e5})
		if !errors.Is(err, full) || got.Unsent == 0 {
			t.Errorf("outcome %+v, error %v; want %v and requests left unsent", got, err, full)
		}
	})
}

func TestStagesShareSequenceNumbersAndBuckets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		seen := map[int64]int{}
		op := func(_ context.Context, seq int64) error {
			mu.Lock()
			defer mu.Unlock()
			seen[seq]++
			return nil
		}
		slow := func(ctx context.Context, seq int64) error {
			<-time.After(time.Millisecond)
			return op(ctx, seq)
		}
		var tl timeline
		l := load.New(load.Options{Requests: 5003, Sink: &tl})
		for i, stage := range []load.Stage{
			{Number: 1, Ops: clients(1, op), Requests: 2501},
			{Number: 2, Ops: clients(100, slow), Requests: 2502},
		} {
			if got, err := l.Run(t.Context(), stage); err != nil || got.OK != stage.Requests {
				t.Fatalf("stage %d: outcome %+v, error %v", i+1, got, err)
			}
		}
		if len(seen) != 5003 || seen[0] != 1 || seen[5002] != 1 {
			t.Errorf("%d sequence numbers were used, want 0 to 5,002 once each", len(seen))
		}
		var count, last int64
		for i, b := range l.Buckets() {
			if size := b.Last - last; b.Count != size || size < 5 || size > 6 {
				t.Errorf("bucket %d ends at %d with %d requests, after %d", i, b.Last, b.Count, last)
			}
			if slowed := b.Last > 2510; slowed != (b.Min >= time.Millisecond) && (b.Last < 2496 || slowed) {
				t.Errorf("bucket to %d has a minimum of %v: not the latencies of its own requests", b.Last, b.Min)
			}
			count, last = count+b.Count, b.Last
		}
		if count != 5003 || last != 5003 {
			t.Errorf("buckets hold %d requests up to %d, want 5,003", count, last)
		}
		for _, s := range tl.seconds {
			if want := map[int]int{1: 1, 2: 100}[s.stage]; s.clients != want {
				t.Errorf("stage %d has %d clients in the timeline, want %d", s.stage, s.clients, want)
			}
		}
	})
}

// Real time and real parallelism: every request is recorded once, whoever empties the rings.
func TestNoSampleIsLostUnderParallelLoad(t *testing.T) {
	const n = 3_000_000
	var tl timeline
	l := load.New(load.Options{Requests: n, Sink: &tl})
	got, err := l.Run(t.Context(), load.Stage{Number: 1, Ops: clients(50, func(context.Context, int64) error { return nil }), Requests: n})
	if err != nil || got.OK != n || l.Service().Count() != n {
		t.Fatalf("outcome %+v, %d latencies, error %v; want %d", got, l.Service().Count(), err, n)
	}
	if ok, _, _ := tl.sums(); ok != n {
		t.Errorf("the timeline sums to %d, want %d", ok, n)
	}
}

func BenchmarkRequest(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(n, "-clients"), func(b *testing.B) {
			b.ReportAllocs()
			l := load.New(load.Options{Requests: int64(b.N)})
			ops := clients(n, func(context.Context, int64) error { return nil })
			b.ResetTimer()
			if _, err := l.Run(b.Context(), load.Stage{Number: 1, Ops: ops, Requests: int64(b.N)}); err != nil {
				b.Fatal(err)
			}
		})
	}
}
