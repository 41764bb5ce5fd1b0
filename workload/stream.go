package workload

// A request is a sequence number and the phase it belongs to: no two requests of
// a run are the same.
type request uint64

// A phase of a run numbers its requests from 0.
type phase uint64

const (
	measured phase = iota
	warmUp
	preparation
)

const phaseShift = 62 // sequence numbers are below

func (p phase) request(seq int64) request { return request(uint64(p)<<phaseShift | uint64(seq)) }

// seq returns the sequence number.
func (r request) seq() uint64 { return uint64(r) & (1<<phaseShift - 1) }

// A purpose separates the random numbers of one seed.
type purpose uint64

const (
	forRun purpose = iota + 1
	forPools
	forWindows
	forRequests
	forChecksum
	forKeys
	forReads
)

// A stream is an unlimited list of random numbers, any of which can be had
// without those before it: SplitMix64 (Steele, Lea and Flood, "Fast Splittable
// Pseudorandom Number Generators", 2014), whose n-th output is a function of
// key and n.
type stream struct{ key uint64 }

func newStream(seed int64, p purpose) stream {
	return stream{stream{mix(uint64(seed))}.at(uint64(p))}
}

const (
	golden        = 0x9e3779b97f4a7c15
	goldenInverse = 0xf1de83e19937733d // golden × goldenInverse = 1 modulo 2^64
)

// at returns number n of the stream.
func (s stream) at(n uint64) uint64 { return mix(s.key + n*golden) }

// index returns the n for which at returns x.
func (s stream) index(x uint64) uint64 { return (unmix(x) - s.key) * goldenInverse }

// mix is SplitMix64's output function, a bijection.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// unmix undoes mix.
func unmix(z uint64) uint64 {
	z = (z ^ z>>31 ^ z>>62) * 0x319642b2d24d8ec3
	z = (z ^ z>>27 ^ z>>54) * 0x96de1b173f119089
	return z ^ z>>30 ^ z>>60
}

// unit makes a random number one of [0, 1).
func unit(x uint64) float64 { return float64(x>>11) * 0x1p-53 }

// A coin falls for each request, with a given share of heads.
type coin struct {
	stream stream
	share  float64
}

func newCoin(s stream, share float64) coin { return coin{s, share} }

func (c coin) heads(r request) bool { return unit(c.stream.at(uint64(r))) < c.share }
