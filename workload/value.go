package workload

import (
	"bytes"
	"crypto/subtle"
	"encoding/binary"
	"math"
	"math/rand/v2"
)

const (
	// A value is made in blocks, each of two windows, one into each pool, xored.
	// There are 2^36 pairs of windows, so that even a compressor that remembers
	// all values finds next to nothing in a new one that it has seen before;
	// and two pools stay in the cache where one as good would not.
	blockSize = 4 << 10
	poolSize  = 1 << poolBits
	poolBits  = 18
)

const (
	headerSize   = 32
	checksumSize = 8
	sequenceSize = 8
)

// values makes the value of each request. See the package's doc for its layout.
type values struct {
	size     int
	random   int // bytes from the front that are not zero
	pools    [2][]byte
	windows  stream
	requests stream
	checks   stream
	run      uint64
}

func newValues(seed int64, size int, compressible float64) values {
	zeros := int(math.Round(compressible * float64(size)))
	v := values{
		size:     size,
		random:   max(size-zeros, min(size, headerSize)),
		windows:  newStream(seed, forWindows),
		requests: newStream(seed, forRequests),
		checks:   newStream(seed, forChecksum),
		run:      newStream(seed, forRun).key,
	}
	for i := range v.pools {
		v.pools[i] = newPool(newStream(seed, forPools).at(uint64(i)))
	}
	return v
}

func newPool(seed uint64) []byte {
	pool := make([]byte, poolSize+blockSize)
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	_, _ = rand.NewChaCha8(key).Read(pool) // never fails, as documented
	return pool
}

// checkSize is what flaw needs to work in.
func (v *values) checkSize() int { return min(v.size, blockSize) }

// fill makes the value that the request writes to the key.
func (v *values) fill(value []byte, r request, number int64) {
	for i := 0; i*blockSize < len(value); i++ {
		v.block(value[i*blockSize:min((i+1)*blockSize, len(value))], i, r, number)
	}
}

// block makes the i-th block of the value.
func (v *values) block(b []byte, i int, r request, number int64) {
	random := min(max(v.random-i*blockSize, 0), len(b))
	v.noise(b[:random], i, r)
	clear(b[random:])
	if i == 0 {
		v.stamp(b, r, number)
	}
}

// noise makes the random bytes of the i-th block.
func (v *values) noise(b []byte, i int, r request) {
	if len(b) == 0 {
		return
	}
	w := stream{v.windows.at(uint64(r))}.at(uint64(i))
	one, other := w%poolSize, w>>poolBits%poolSize
	subtle.XORBytes(b, v.pools[0][one:one+uint64(len(b))], v.pools[1][other:other+uint64(len(b))])
}

// stamp writes the header over the first bytes.
func (v *values) stamp(b []byte, r request, number int64) {
	var header [sequenceSize + checksumSize]byte
	binary.LittleEndian.PutUint64(header[:], v.requests.at(uint64(r)))
	binary.LittleEndian.PutUint64(header[sequenceSize:], v.checksum(r, number))
	copy(b, header[:])
	if len(b) >= headerSize {
		xor(b[16:24], uint64(number))
		xor(b[24:32], v.run)
	}
}

func xor(b []byte, x uint64) {
	binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^x)
}

func (v *values) checksum(r request, number int64) uint64 {
	return mix(v.checks.at(uint64(number)) ^ v.requests.at(uint64(r)) ^ v.run)
}

// flaw returns what is wrong with a value that was read from the key; nil if a
// request of this run wrote it there. It makes the value again in check.
func (v *values) flaw(value []byte, number int64, check []byte) *wrongValue {
	if len(value) != v.size {
		return &wrongValue{reason: wrongLength, got: int64(len(value)), want: int64(v.size)}
	}
	if len(value) <= sequenceSize {
		return nil
	}
	r := request(v.requests.index(binary.LittleEndian.Uint64(value)))
	for i := 0; i*blockSize < len(value); i++ {
		part := value[i*blockSize : min((i+1)*blockSize, len(value))]
		again := check[:len(part)]
		v.block(again, i, r, number)
		if !bytes.Equal(part, again) {
			return v.diagnose(value, r, number)
		}
	}
	return nil
}

// diagnose tells a value of another key or run from a damaged one.
func (v *values) diagnose(value []byte, r request, number int64) *wrongValue {
	if len(value) < headerSize {
		return &wrongValue{reason: damaged}
	}
	var plain [headerSize]byte
	v.noise(plain[:], 0, r)
	word := func(at int) uint64 {
		return binary.LittleEndian.Uint64(value[at:]) ^ binary.LittleEndian.Uint64(plain[at:])
	}
	key, run := int64(word(16)), word(24)
	switch {
	case run != v.run || binary.LittleEndian.Uint64(value[sequenceSize:]) != v.checksum(r, key):
		return &wrongValue{reason: foreign}
	case key != number:
		return &wrongValue{reason: otherKey, got: key, want: number}
	}
	return &wrongValue{reason: damaged}
}
