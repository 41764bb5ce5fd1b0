package load

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// Arrival is how the due times of an open loop follow each other.
type Arrival string

const (
	// Constant has the same time between any two due requests.
	Constant Arrival = "constant"
	// Poisson has exponentially distributed times between them, as the
	// requests of many independent users have.
	Poisson Arrival = "poisson"
)

// LateAfter is how long after its due time a request of an open loop is sent
// to count as late: every client was still waiting for an answer.
const LateAfter = 10 * time.Millisecond

// A schedule hands out the requests of an open loop in the order of their due
// times, which depend on nothing that becomes of the requests.
type schedule struct {
	mu     sync.Mutex
	n      int64         // number of the next request
	next   time.Duration // its due time since the stage began
	rate   float64
	end    int64         // exclusive; no request from here on
	until  time.Duration // no request due from here on; 0 for no bound
	random *rand.Rand    // nil for constant arrivals
}

// newSchedule makes the schedule of a stage; seed fixes Poisson arrivals.
func newSchedule(s Stage) *schedule {
	c := &schedule{rate: s.Rate, end: s.Requests, until: s.Duration}
	if s.Arrival == Poisson {
		c.random = rand.New(rand.NewPCG(uint64(s.Seed), uint64(s.Number))) //nolint:gosec // arrivals are to be repeatable, not secret
	}
	return c
}

// take returns the number of the next request and when it is due, counted from
// the stage's begin, or false if there is none left.
func (c *schedule) take() (n int64, at time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over() {
		return 0, 0, false
	}
	n, at = c.n, c.next
	c.advance()
	return n, at, true
}

func (c *schedule) over() bool {
	return c.until > 0 && c.next >= c.until || c.until == 0 && c.n >= c.end
}

// advance goes on to the next request. Constant arrivals are n ÷ rate, not a
// sum, so that no rounding adds up.
func (c *schedule) advance() {
	c.n++
	if c.random == nil {
		c.next = time.Duration(float64(c.n) / c.rate * float64(time.Second))
		return
	}
	c.next += time.Duration(c.random.ExpFloat64() / c.rate * float64(time.Second))
}

// planned returns how many requests the schedule holds: those handed out and
// those that no client came for.
func (c *schedule) planned() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.until == 0:
		return c.end
	case c.random == nil:
		return int64(math.Ceil(c.until.Seconds() * c.rate))
	}
	for !c.over() {
		c.advance()
	}
	return c.n
}
