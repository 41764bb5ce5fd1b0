package control

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	pb "github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/result"
)

// TestLoadsBeginAndEndWithASample takes the rows of two members, one with a clock
// that is ahead, and of a third that is gone.
func TestLoadsBeginAndEndWithASample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ahead = 40 * time.Second
		feeds := make([]*feed, 3)
		for i := range feeds {
			feeds[i] = &feed{agent: &agentConn{index: i + 1}}
		}
		feeds[1].agent.clock.add(result.ClockOffset{At: 1, Offset: ahead, Bound: time.Millisecond})
		figures := &feed{agent: feeds[0].agent, series: pb.MetricsRequest_SERIES_FIGURES} // these are asked at their own time
		c := &cluster{feeds: append(feeds, figures), gone: map[int]bool{3: true}}

		began := time.Now()
		sample := func(f *feed, after time.Duration) {
			time.AfterFunc(after, func() { f.last.Store(time.Now().Add(f.agent.clock.last().Offset).UnixNano()) })
		}
		feeds[0].last.Store(began.UnixNano() - 1)
		feeds[1].last.Store(began.Add(ahead).UnixNano()) // later by its clock, not by ours and within the bound
		sample(feeds[0], 400*time.Millisecond)
		sample(feeds[1], 700*time.Millisecond)
		c.awaitSamples(t.Context())
		if took := time.Since(began); took < 700*time.Millisecond || took > 700*time.Millisecond+2*samplesLook {
			t.Errorf("both were sampled after 700ms; waited %v", took)
		}

		began = time.Now()
		c.awaitSamples(t.Context()) // no more rows
		if took := time.Since(began); took != samplesWait {
			t.Errorf("without samples: waited %v, want %v", took, samplesWait)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began = time.Now()
		c.awaitSamples(ctx)
		if took := time.Since(began); took != 0 {
			t.Errorf("interrupted: waited %v", took)
		}
	})
}
