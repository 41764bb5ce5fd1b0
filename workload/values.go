package workload

import "math/rand/v2"

const (
	poolSize = 1 << 20 // bytes; large enough that windows of usual values seldom repeat
	// stride is odd and about 0.618 of the pool, so that consecutive values
	// start far apart and every start is used once before one repeats.
	stride = 648_055
)

// values makes incompressible values: windows into one pool of seeded random
// bytes. A value costs neither a copy nor an allocation, and is never written to.
type values struct {
	pool []byte
	size int
}

func newValues(seed int64, size int) values {
	pool := make([]byte, poolSize+size)
	// ChaCha8 fills the pool at memory speed; only the seed makes it differ.
	var key [32]byte
	for i := range 8 {
		key[i] = byte(uint64(seed) >> (8 * i))
	}
	_, _ = rand.NewChaCha8(key).Read(pool) // never fails, as documented
	return values{pool: pool, size: size}
}

// at returns the value of the request with that sequence number.
func (v values) at(seq int64) []byte {
	start := int(uint64(seq) * stride % poolSize)
	return v.pool[start : start+v.size : start+v.size]
}
