package control

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dbtester/dbtester/internal/monitor"
)

// From these on a second counts as bound by the client: what it says of the
// store's latency is then partly the harness's own. The processor limits leave
// room for the moments between two samples; the delays are of the size of a
// store's latency.
const (
	boundProcess = 0.85 // of the processors this process may use
	boundMachine = 0.95 // of all the machine's processors
	boundNetwork = 0.90 // of the interface's speed, in one direction
	boundDelay   = 10 * time.Millisecond
	boundPause   = 20 * time.Millisecond // of one second

	pulseEvery = 10 * time.Millisecond
)

// A boundWatch tells for every second whether the harness or its machine, and
// not the store, was the limit.
type boundWatch struct {
	network string
	speed   float64 // bytes per second; 0 if not known
	cpus    float64
	read    func() (monitor.Usage, error)

	mu     sync.Mutex
	delays []time.Duration // how late each pulse of this second came

	last    monitor.Usage
	reason  string
	started bool
}

func newBoundWatch(network string) *boundWatch {
	return &boundWatch{
		network: network,
		speed:   monitor.LinkSpeed(network),
		cpus:    float64(runtime.GOMAXPROCS(0)),
		read:    func() (monitor.Usage, error) { return monitor.ReadUsage(network) },
	}
}

// pulse measures until ctx ends how late a goroutine is woken that wants to be
// woken every few milliseconds: as late are those of the load.
func (b *boundWatch) pulse(ctx context.Context) {
	tick := time.NewTicker(pulseEvery)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			now := time.Now()
			b.late(now.Sub(last) - pulseEvery)
			last = now
		}
	}
}

func (b *boundWatch) late(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.delays = append(b.delays, max(d, 0))
}

// second ends a second and returns why it was bound by the client; empty if it
// was not. Called less than half a second after the last time, it says the same.
func (b *boundWatch) second() string {
	now, err := b.read()
	if err != nil || (b.started && now.At.Sub(b.last.At) < time.Second/2) {
		return b.reason
	}
	delay := b.takeDelay()
	if b.started {
		b.reason = strings.Join(b.reasons(now, delay), ", ")
	}
	b.last, b.started = now, true
	return b.reason
}

// takeDelay returns the 99th percentile of the delays since the last call.
func (b *boundWatch) takeDelay() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.delays) == 0 {
		return 0
	}
	slices.Sort(b.delays)
	p99 := b.delays[(len(b.delays)*99-1)/100]
	b.delays = b.delays[:0]
	return p99
}

func (b *boundWatch) reasons(now monitor.Usage, delay time.Duration) []string {
	elapsed := now.At.Sub(b.last.At)
	var why []string
	add := func(share, limit float64, what string) {
		if share >= limit {
			why = append(why, fmt.Sprintf("%s %.0f %%", what, share*100))
		}
	}
	add(float64(now.Process-b.last.Process)/float64(elapsed)/b.cpus, boundProcess, "controller CPU")
	if total := now.Busy + now.Idle - b.last.Busy - b.last.Idle; total > 0 {
		add(float64(now.Busy-b.last.Busy)/float64(total), boundMachine, "machine CPU")
	}
	if b.speed > 0 {
		most := max(now.Received-b.last.Received, now.Sent-b.last.Sent)
		add(float64(most)/elapsed.Seconds()/b.speed, boundNetwork, "network")
	}
	if delay >= boundDelay {
		why = append(why, fmt.Sprintf("scheduling delay %v", delay.Round(time.Millisecond)))
	}
	if pause := now.GCPause - b.last.GCPause; pause >= boundPause {
		why = append(why, fmt.Sprintf("garbage collection %v", pause.Round(time.Millisecond)))
	}
	return why
}
