package workload

import (
	"math"
	"math/bits"
)

// Order is how the keys of requests follow each other.
type Order string

const (
	// Sequential keys are the requests' sequence numbers, in a key space over
	// and over again.
	Sequential Order = "sequential"
	// Same is one key for all requests.
	Same Order = "same"
	// Uniform keys are each as likely as any other of the key space.
	Uniform Order = "uniform"
	// Zipfian keys are chosen by popularity: the k-th most popular with a
	// likelihood proportional to 1/k^skew. Popular keys are spread evenly over
	// the key space.
	Zipfian Order = "zipfian"
)

// numbers chooses the number of each request's key, in constant time.
type numbers struct {
	order  Order
	space  uint64 // 0 is without end
	stream stream
	zipf   zipf
	spread spread
}

func newNumbers(s Spec) numbers {
	n := numbers{order: s.KeyOrder, space: uint64(s.KeySpace), stream: newStream(s.Seed, forKeys)}
	if n.order == Zipfian {
		n.zipf = newZipf(n.space, s.KeySkew)
		n.spread = newSpread(n.space, n.stream.key)
	}
	return n
}

// of returns the number of the request's key.
func (n *numbers) of(r request) int64 {
	if r>>phaseShift == request(preparation) {
		return n.inTurn(r)
	}
	switch n.order {
	case Same:
		return 0
	case Uniform:
		// The upper half of the product is a uniform number below space, but
		// for a bias of space/2^64.
		number, _ := bits.Mul64(n.stream.at(uint64(r)), n.space)
		return int64(number)
	case Zipfian:
		return int64(n.spread.of(n.zipf.rank(n.stream.at(uint64(r)))))
	default:
		return n.inTurn(r)
	}
}

func (n *numbers) inTurn(r request) int64 {
	switch {
	case n.order == Same:
		return 0
	case n.space == 0:
		return int64(r.seq())
	}
	return int64(r.seq() % n.space)
}

// A spread maps the ranks below space one to one to the numbers below space, so
// that successive ranks are far apart: it walks around the space in steps of
// about 0.618 of it.
type spread struct{ space, step, start uint64 }

func newSpread(space, seed uint64) spread {
	step := max(uint64(float64(space)*(math.Sqrt(5)-1)/2), 1)
	for gcd(step, space) != 1 { // or else the walk would meet itself early
		step++
	}
	return spread{space: space, step: step, start: seed % space}
}

// of takes a rank below space.
func (s spread) of(rank uint64) uint64 {
	high, low := bits.Mul64(rank, s.step)
	low, carry := bits.Add64(low, s.start, 0)
	return bits.Rem64(high+carry, low, s.space)
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
