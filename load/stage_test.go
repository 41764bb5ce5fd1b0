package load_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dbtester/dbtester/load"
)

func TestAClosedStageOfADurationEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := load.New(load.Options{})
		got, err := l.Run(t.Context(), load.Stage{Number: 1, Ops: clients(10, takes(always(10*time.Millisecond))), Duration: 3 * time.Second})
		if err != nil || got.OK != 3000 || got.Planned != 3000 || got.Unsent != 0 {
			t.Errorf("outcome %+v, error %v; want 3,000 requests of 10 ms by 10 clients in 3 s", got, err)
		}
		next, err := l.Run(t.Context(), load.Stage{Number: 2, Ops: clients(1, takes(always(10*time.Millisecond))), Requests: 5})
		if err != nil || next.OK != 5 {
			t.Errorf("the stage after it: %+v, error %v", next, err)
		}
	})
}

func TestAnOverloadedOpenStageTellsWhatItDidNotSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// 10 clients of 10 ms are capable of 1,000 requests per second; 2,000 are due.
		l := load.New(load.Options{})
		got, err := l.Run(t.Context(), load.Stage{
			Number: 1, Ops: clients(10, takes(always(10*time.Millisecond))), Duration: 5 * time.Second, Rate: 2000,
		})
		if err != nil || got.Planned != 10_000 || got.OK != 5000 || got.Unsent != 5000 {
			t.Errorf("outcome %+v, error %v; want half of 10,000 due requests unsent", got, err)
		}
		if got.Late < 4900 {
			t.Errorf("%d requests late, want nearly all of 5,000", got.Late)
		}
		// The last request is due 2.5 s after the begin and is sent after 5 s.
		if worst := l.Response().Max(); worst < 2400*time.Millisecond || worst > 2600*time.Millisecond {
			t.Errorf("longest response time %v, want about 2.5 s", worst)
		}
	})
}

func TestPoissonArrivalsHaveTheRateAndTheSpreadOfPoisson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dues := func(seed int64) []time.Duration {
			var at []time.Duration
			start := time.Now()
			op := func(_ context.Context, _ int64) error {
				at = append(at, time.Since(start))
				return nil
			}
			l := load.New(load.Options{})
			if _, err := l.Run(t.Context(), load.Stage{
				Number: 1, Ops: []load.Op{op}, Requests: 20_000, Rate: 1000, Arrival: load.Poisson, Seed: seed,
			}); err != nil {
				t.Fatal(err)
			}
			return at
		}
		at, again, other := dues(1), dues(1), dues(2)
		var sum, squares float64
		for i := 1; i < len(at); i++ {
			gap := (at[i] - at[i-1]).Seconds()
			sum += gap
			squares += gap * gap
			if at[i] != again[i] {
				t.Fatal("the same seed gave other arrivals")
			}
		}
		if at[100] == other[100] {
			t.Error("another seed gave the same arrivals")
		}
		mean := sum / float64(len(at)-1)
		dev := math.Sqrt(squares/float64(len(at)-1) - mean*mean)
		if math.Abs(mean-0.001) > 0.00003 || math.Abs(dev-0.001) > 0.00005 {
			t.Errorf("mean %.6f s and deviation %.6f s between arrivals, want 0.001 and 0.001", mean, dev)
		}
	})
}

func TestLateRequestsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stalled := func(since time.Duration) time.Duration {
			if from, to := time.Second, 2*time.Second; since >= from && since < to {
				return to - since
			}
			return time.Millisecond
		}
		var late int64
		l := load.New(load.Options{Sink: load.SinkFunc(func(s load.Second) error {
			late += s.Late
			return nil
		})})
		got, err := l.Run(t.Context(), load.Stage{Number: 1, Ops: clients(5, takes(stalled)), Requests: 4000, Rate: 1000})
		if err != nil || got.Late != late || late < 950 || late > 1400 {
			t.Errorf("%d late requests in the outcome, %d in the seconds, error %v; want about the 1,000 due in the stall", got.Late, late, err)
		}
	})
}
