package control

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	pb "github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/result"
)

const (
	clockPings   = 64
	clockEvery   = 30 * time.Second
	clockTimeout = 5 * time.Second
	// clockFresh is how old a measurement may be and still count as one before
	// the start of a database.
	clockFresh = 5 * time.Second
	// widestBound is the uncertainty above which rows may be joined to the
	// wrong second often enough to matter.
	widestBound = 100 * time.Millisecond
)

// A clock is what was measured of one agent's clock, in the order of time. It
// is safe for concurrent use.
type clock struct {
	mu       sync.Mutex
	measured []result.ClockOffset
}

func (c *clock) add(o result.ClockOffset) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.measured = append(c.measured, o)
}

// since returns the last measurement before at and all from at on, times in
// nanoseconds on the controller's clock.
func (c *clock) since(at int64) []result.ClockOffset {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := 0
	for i, o := range c.measured {
		if o.At <= at {
			first = i
		}
	}
	return slices.Clone(c.measured[first:])
}

// last returns the latest measurement; its time is 0 if there is none.
func (c *clock) last() result.ClockOffset {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.measured) == 0 {
		return result.ClockOffset{}
	}
	return c.measured[len(c.measured)-1]
}

// measureClock asks the agent for the time, again and again: the quickest
// answer has the smallest error, half its round trip.
func (a *agentConn) measureClock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, clockTimeout)
	defer cancel()
	best := result.ClockOffset{Bound: math.MaxInt64}
	for range clockPings {
		sent := time.Now()
		answer, err := a.Ping(ctx, &pb.PingRequest{TimeOnly: true})
		trip := time.Since(sent)
		if err != nil {
			return fmt.Errorf("measure its clock: %w", plain(err))
		}
		if trip/2 < best.Bound {
			middle := sent.Add(trip / 2)
			best = result.ClockOffset{At: middle.UnixNano(), Offset: answer.GetNow().AsTime().Sub(middle), Bound: trip / 2}
		}
	}
	a.clock.add(best)
	return nil
}

// watchClocks measures the clocks of all agents now and then until the returned
// function is called. An agent that does not answer has no measurement then.
func (r *run) watchClocks(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var watching sync.WaitGroup
	for _, a := range r.agents {
		watching.Go(func() {
			tick := time.NewTicker(clockEvery)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
					_ = a.measureClock(ctx) // whoever needs the agent learns that it is gone
				}
			}
		})
	}
	return func() {
		cancel()
		watching.Wait()
	}
}

// measureClocks measures the clocks that were not measured within the time
// given; see watchClocks for those that do not answer.
func (r *run) measureClocks(ctx context.Context, fresh time.Duration) {
	_ = eachAgent(r.agents, func(a *agentConn) error {
		if time.Now().UnixNano()-a.clock.last().At < int64(fresh) {
			return nil
		}
		return a.measureClock(ctx)
	})
}

// reportClocks tells how far the clocks are apart, and which are not known well
// enough.
func (r *run) reportClocks() {
	var clocks []string
	for _, a := range r.agents {
		o := a.clock.last()
		clocks = append(clocks, fmt.Sprintf("%s %+.3f ms ± %.3f ms", a.address, milliseconds(o.Offset), milliseconds(o.Bound)))
		if o.Bound > widestBound {
			r.report.say("warning: the clock of agent %s is known to ± %v only: its rows may be joined to the wrong second", a.address, o.Bound)
		}
	}
	r.report.say("clocks beside ours: %s", strings.Join(clocks, ", "))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// withClocks fills in what was measured of the members' clocks since the run of
// the cluster began, at in nanoseconds.
func withClocks(members []result.Member, agents []*agentConn, at int64) {
	for i, a := range agents {
		clocks := a.clock.since(at)
		if len(clocks) == 0 {
			continue
		}
		members[i].Clocks = clocks
		members[i].ClockOffset, members[i].ClockBound = clocks[0].Offset, clocks[0].Bound
	}
}
