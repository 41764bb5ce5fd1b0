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
	// There are 2^34 pairs of windows, so that even a compressor that remembers
	// all values finds next to nothing in a new one that it has seen before;
	// and two pools stay in the cache where one as good would not.
	blockSize = 4 << 10
	poolSize  = 1 << poolBits
	poolBits  = 17
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

// fill makes the value that the request writes to the key.
func (v *values) fill(value []byte, r request, number int64) {
	for at := 0; at < len(value); at += blockSize {
		v.part(value[at:min(at+blockSize, len(value))], at, r, number)
	}
}

// part makes the bytes of the value from one of its positions on, all of them in
// one block.
func (v *values) part(b []byte, at int, r request, number int64) {
	random := min(max(v.random-at, 0), len(b))
	v.noise(b[:random], at, r)
	clear(b[random:])
	if at == 0 {
		v.stamp(b, r, number)
	}
}

// noise makes random bytes of the value from one of its positions on.
func (v *values) noise(b []byte, at int, r request) {
	one, other := v.windowsOf(len(b), at, r)
	subtle.XORBytes(b, one, other)
}

// windowsOf returns the parts of both pools of which n bytes of the value are
// made, from one of its positions on.
func (v *values) windowsOf(n, at int, r request) (one, other []byte) {
	w := stream{v.windows.at(uint64(r))}.at(uint64(at / blockSize))
	from := at % blockSize
	i, j := int(w%poolSize)+from, int(w>>poolBits%poolSize)+from
	return v.pools[0][i : i+n], v.pools[1][j : j+n]
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
// request of this run wrote it there. The bytes after the header are used up: the
// check needs no memory of its own.
func (v *values) flaw(value []byte, number int64) *wrongValue {
	if len(value) != v.size {
		return &wrongValue{reason: wrongLength, got: int64(len(value)), want: int64(v.size)}
	}
	if len(value) <= sequenceSize {
		return nil
	}
	r := request(v.requests.index(binary.LittleEndian.Uint64(value)))
	var again [headerSize]byte
	head := again[:min(headerSize, len(value))]
	v.part(head, 0, r, number)
	if !bytes.Equal(head, value[:len(head)]) {
		return v.diagnose(value, r, number)
	}
	for at := len(head); at < len(value); {
		end := min((at/blockSize+1)*blockSize, len(value))
		if !v.written(value[at:end], at, r) {
			return v.diagnose(value, r, number)
		}
		at = end
	}
	return nil
}

// written reports whether the bytes after the header are those of part, and
// changes them.
func (v *values) written(b []byte, at int, r request) bool {
	random := min(max(v.random-at, 0), len(b))
	if !bytes.Equal(b[random:], zeros[:len(b)-random]) {
		return false
	}
	one, other := v.windowsOf(random, at, r)
	subtle.XORBytes(b[:random], b[:random], one)
	return bytes.Equal(b[:random], other)
}

// zeros are as long as what is compressible of a block.
var zeros [blockSize]byte

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
