package load

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A sample is one ok request. Times are since the load's clock began.
type sample struct {
	seq               int64
	end               time.Duration
	service, response time.Duration
}

const ringSize = 16 // samples; a power of two

// A recorder takes the samples of one worker. The worker appends to a ring
// without a lock; whoever empties the ring into the aggregate, the worker when
// it is full or the collector once a second, holds the mutex.
//
// position is twice the number of appended samples, plus one from just before
// the worker reads the clock at the end of a request until the request is
// recorded. The collector waits for it to be even or to move: then every
// request that ended before the collector looked is in the ring.
type recorder struct {
	_        [64]byte // no cache line is shared with another worker's recorder
	position atomic.Uint64
	drained  atomic.Uint64 // number of samples emptied out of the ring
	appended uint64        // the worker's own copy of position/2
	free     uint64        // appended may grow to this without looking at drained
	into     *aggregate
	emptying sync.Mutex
	ring     [ringSize]sample
	_        [64]byte
}

func newRecorder(into *aggregate) *recorder {
	return &recorder{into: into, free: ringSize}
}

// begin is called by the worker just before it reads the clock at the end of a request.
func (r *recorder) begin() { r.position.Store(2*r.appended + 1) }

// ok records a request that succeeded and ends what begin began.
func (r *recorder) ok(s sample) {
	if r.appended == r.free {
		r.makeRoom()
	}
	r.ring[r.appended%ringSize] = s
	r.appended++
	r.position.Store(2 * r.appended)
}

// failed records a request that did not succeed and ends what begin began.
func (r *recorder) failed(end time.Duration, err error) {
	r.into.fail(end, classify(err))
	r.position.Store(2 * r.appended)
}

func (r *recorder) makeRoom() {
	if r.drained.Load()+ringSize == r.appended {
		r.empty()
	}
	r.free = r.drained.Load() + ringSize
}

// empty moves the samples recorded until now into the aggregate.
func (r *recorder) empty() {
	r.emptying.Lock()
	defer r.emptying.Unlock()
	from, to := r.drained.Load(), r.position.Load()/2
	if from == to {
		return
	}
	first, last := from%ringSize, to%ringSize
	if first < last {
		r.into.add(r.ring[first:last], nil)
	} else {
		r.into.add(r.ring[first:], r.ring[:last])
	}
	r.drained.Store(to)
}

// collect empties the ring once everything that ended before the call is in it.
func (r *recorder) collect() {
	seen := r.position.Load()
	for seen%2 == 1 && r.position.Load() == seen {
		runtime.Gosched()
	}
	r.empty()
}
