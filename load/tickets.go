package load

import (
	"sync/atomic"
	"time"
)

const (
	maxBatch = 64
	// A batch may take this long at most, so that a worker holds more than one
	// ticket only where a request is far quicker than any store across a
	// network: there the shared counter would be the limit. Elsewhere requests
	// start in the order of their numbers.
	batchTime = 50 * time.Microsecond
)

// tickets hands out the sequence numbers of a stage.
type tickets struct {
	next atomic.Int64
	end  int64 // exclusive
}

func newTickets(first, n int64) *tickets {
	t := &tickets{end: first + n}
	t.next.Store(first)
	return t
}

// take returns up to n consecutive numbers, from (inclusive) to (exclusive).
// None are left when from == to.
func (t *tickets) take(n int64) (from, to int64) {
	from = t.next.Add(n) - n
	if from >= t.end {
		return t.end, t.end
	}
	return from, min(from+n, t.end)
}

// nextBatch sizes a worker's next batch by what the last one took.
func nextBatch(batch int64, took time.Duration) int64 {
	if took < batchTime/2 {
		return min(batch*2, maxBatch)
	}
	if took > batchTime {
		return max(batch/2, 1)
	}
	return batch
}
