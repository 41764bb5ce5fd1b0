package control

import (
	"context"
	"time"

	pb "github.com/dbtester/dbtester/dbtesterpb"
)

const (
	// samplesWait bounds the wait for samples: three of the usual interval.
	samplesWait = 3 * time.Second
	// samplesLook is how often the wait looks whether they came.
	samplesLook = 20 * time.Millisecond
)

// awaitSamples waits until every member that lives was sampled after this call
// began. What a sum over the measured window takes are whole intervals between
// samples: without the wait the bytes of connecting, before the load, and of
// counting the keys, after it, would be among those of the load.
func (c *cluster) awaitSamples(ctx context.Context) {
	now := time.Now().UnixNano()
	ctx, cancel := context.WithTimeout(ctx, samplesWait)
	defer cancel()
	look := time.NewTicker(samplesLook)
	defer look.Stop()
	for !c.sampledSince(now) {
		select {
		case <-look.C:
		case <-ctx.Done():
			return // an interval of its own, or an agent out of reach: sums tell how far they go
		}
	}
}

// sampledSince reports whether every member whose rows still come has one that
// was sampled at a time of our clock, or later.
func (c *cluster) sampledSince(at int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.feeds {
		if f.series != pb.MetricsRequest_SERIES_UNSPECIFIED || f.ended.Load() || c.gone[f.agent.index] {
			continue
		}
		clock := f.agent.clock.last()
		if f.last.Load() < at+int64(clock.Offset+clock.Bound) {
			return false
		}
	}
	return true
}
