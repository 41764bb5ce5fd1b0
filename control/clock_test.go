package control

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/result"
)

// A farAgent answers pings over a network that takes longer on the way there
// than back, from a clock of its own.
type farAgent struct {
	pb.AgentClient
	ahead       func() time.Duration
	there, back func(ping int) time.Duration
	pings       int
	err         error
}

func (f *farAgent) Ping(context.Context, *pb.PingRequest, ...grpc.CallOption) (*pb.PingResponse, error) {
	if f.err != nil {
		return nil, f.err
	}
	<-time.After(f.there(f.pings))
	now := time.Now().Add(f.ahead())
	<-time.After(f.back(f.pings))
	f.pings++
	return &pb.PingResponse{Now: timestamppb.New(now)}, nil
}

func newFarAgent(ahead func() time.Duration) (*farAgent, *agentConn) {
	f := &farAgent{
		ahead: ahead,
		// The ping that is nearest to symmetric is not the first and not the last.
		there: func(ping int) time.Duration { return time.Duration(1+abs(ping%clockPings-40)) * time.Millisecond },
		back:  func(int) time.Duration { return 500 * time.Microsecond },
	}
	return f, &agentConn{AgentClient: f, address: "10.0.0.2:3500"}
}

func abs(n int) int { return max(n, -n) }

func TestMeasureClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ahead = 3400 * time.Millisecond
		f, a := newFarAgent(func() time.Duration { return ahead })
		if err := a.measureClock(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := a.clock.last()
		if want := 750 * time.Microsecond; f.pings != 64 || got.Bound != want {
			t.Errorf("%d pings, bound %v; want 64 and half of the quickest, %v", f.pings, got.Bound, want)
		}
		if wrong := (got.Offset - ahead).Abs(); wrong > got.Bound {
			t.Errorf("offset %v ± %v does not hold the true %v", got.Offset, got.Bound, ahead)
		}
		if got.At < time.Now().Add(-2*time.Second).UnixNano() || got.At > time.Now().UnixNano() {
			t.Errorf("measured at %v", time.Unix(0, got.At))
		}
	})
}

// TestWatchClocks has a clock that drifts away for two minutes, and one agent
// that is gone.
func TestWatchClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, drifting := newFarAgent(func() time.Duration {
			return 3400*time.Millisecond + time.Since(start)/10_000 // 100 ppm
		})
		gone, lost := newFarAgent(func() time.Duration { return 0 })
		gone.err = errors.New("connection refused")
		r := &run{agents: []*agentConn{drifting, lost}, report: newProgress(nil, false)}
		r.measureClocks(t.Context(), clockFresh)
		stop := r.watchClocks(t.Context())
		<-time.After(2*time.Minute + 5*time.Second)
		begun := time.Now().UnixNano()
		<-time.After(2 * time.Minute)
		stop()
		r.measureClocks(t.Context(), clockFresh) // just measured, so nothing is
		r.measureClocks(t.Context(), 0)

		if n := len(lost.clock.since(0)); n != 0 {
			t.Errorf("an agent that is gone has %d measurements", n)
		}
		if n := len(drifting.clock.since(0)); n != 1+8+1 {
			t.Errorf("%d measurements, want one before, eight during, one after", n)
		}
		members := []result.Member{{Index: 1}, {Index: 2}}
		withClocks(members, r.agents, begun)
		clocks := members[0].Clocks
		if len(clocks) != 1+4+1 || clocks[0].At > begun || clocks[1].At <= begun {
			t.Fatalf("of the second run: %v, want one before and five later", clocks)
		}
		if members[0].ClockOffset != clocks[0].Offset || members[0].ClockBound != clocks[0].Bound || members[1].Clocks != nil {
			t.Errorf("members %+v", members)
		}
		first, last := clocks[0], clocks[5]
		if moved, want := last.Offset-first.Offset, time.Duration(last.At-first.At)/10_000; (moved - want).Abs() > first.Bound+last.Bound {
			t.Errorf("the clock moved by %v, want %v", moved, want)
		}
	})
}

func TestReportClocks(t *testing.T) {
	var said strings.Builder
	_, near := newFarAgent(nil)
	_, far := newFarAgent(nil)
	near.clock.add(result.ClockOffset{At: 1, Offset: 3_400_000_000, Bound: 250_000})
	far.address = "10.0.0.3:3500"
	far.clock.add(result.ClockOffset{At: 1, Offset: -1, Bound: widestBound + 1})
	(&run{agents: []*agentConn{near, far}, report: newProgress(&said, false)}).reportClocks()
	for _, want := range []string{"10.0.0.2:3500 +3400.000 ms ± 0.250 ms", "warning: the clock of agent 10.0.0.3:3500 is known to ± 100.000001ms only"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("said %q, want %q in it", said.String(), want)
		}
	}
	if strings.Contains(said.String(), "warning: the clock of agent 10.0.0.2") {
		t.Errorf("said %q", said.String())
	}
}
