package load_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dbtester/dbtester/internal/hist"
	"github.com/dbtester/dbtester/load"
)

// scripts are servers whose every latency is known: that of request seq of n.
func scripts() map[string]func(seq, n int64) time.Duration {
	return map[string]func(seq, n int64) time.Duration{
		"constant": func(int64, int64) time.Duration { return 5 * time.Millisecond },
		"bimodal": func(seq, _ int64) time.Duration {
			if seq%10 == 0 {
				return 40 * time.Millisecond
			}
			return 800 * time.Microsecond
		},
		"slow ramp": func(seq, n int64) time.Duration {
			return time.Millisecond + time.Duration(seq)*49*time.Millisecond/time.Duration(n)
		},
		"one stall": func(seq, n int64) time.Duration {
			if seq == n/2 {
				return time.Second
			}
			return 2 * time.Millisecond
		},
	}
}

// Reported percentiles are those of the script, in closed and open loop.
func TestPercentilesAreThoseOfTheServer(t *testing.T) {
	const n = 5000
	for name, script := range scripts() {
		for _, open := range []bool{false, true} {
			for _, c := range []int{1, 100, 1000} {
				t.Run(fmt.Sprintf("%s open=%v clients=%d", name, open, c), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						op := func(_ context.Context, seq int64) error {
							<-time.After(script(seq, n))
							return nil
						}
						s := load.Stage{Number: 1, Ops: clients(c, op), Requests: n}
						if open {
							s.Rate = 10 * float64(c) // far from what the clients can send
						}
						l := load.New(load.Options{Requests: n})
						if got, err := l.Run(t.Context(), s); err != nil || got.OK != n {
							t.Fatalf("outcome %+v, error %v", got, err)
						}
						truth := make([]time.Duration, n)
						for seq := range int64(n) {
							truth[seq] = script(seq, n)
						}
						slices.Sort(truth)
						sameQuantiles(t, "service", l.Service(), truth)
						if !open || c > 1 {
							// One client cannot send what falls due while it waits.
							sameQuantiles(t, "response", l.Response(), truth)
						}
					})
				})
			}
		}
	}
}

func sameQuantiles(t *testing.T, what string, got *hist.Histogram, sorted []time.Duration) {
	t.Helper()
	for _, q := range []float64{.1, .25, .5, .75, .9, .95, .99, .999, 1} {
		rank := max(int(q*float64(len(sorted))+0.9999)-1, 0)
		want := sorted[min(rank, len(sorted)-1)]
		if diff := (got.Quantile(q) - want).Abs(); diff > want/100+hist.Lowest {
			t.Errorf("%s p%v = %v, want %v within 1 %%", what, q*100, got.Quantile(q), want)
		}
	}
}
