package workload

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestAReadProvesWhatTheDocSays changes values in every way, at the sizes
// at which another part of the header finds room.
func TestAReadProvesWhatTheDocSays(t *testing.T) {
	const mine, theirs = 5, 6
	for _, size := range []int{0, 1, 7, 8, 9, 12, 15, 16, 24, 31, 32, 33, 1024, blockSize - 1, blockSize, blockSize + 1, 3*blockSize + 7} {
		for _, compressible := range []float64{0, 0.5, 1} {
			t.Run(fmt.Sprintf("%d bytes, %v compressible", size, compressible), func(t *testing.T) {
				v, other := newValues(1, size, compressible), newValues(2, size, compressible)
				value := make([]byte, size)
				for _, p := range []phase{measured, warmUp, preparation} {
					for _, seq := range []int64{0, 1, 1 << 20, 1 << 40} {
						v.fill(value, p.request(seq), mine)
						if flaw := v.flaw(bytes.Clone(value), mine); flaw != nil {
							t.Fatalf("phase %d, request %d: %v", p, seq, flaw)
						}
					}
				}
				if v.flaw(append(bytes.Clone(value), 0), mine) == nil {
					t.Error("one byte more is not noticed")
				}
				if size <= sequenceSize {
					return
				}
				missed := 0
				for seq := range int64(1000) {
					v.fill(value, measured.request(seq), theirs)
					if v.flaw(bytes.Clone(value), mine) == nil {
						missed++
					}
					other.fill(value, measured.request(seq), mine)
					if v.flaw(bytes.Clone(value), mine) == nil {
						missed++
					}
				}
				if most := map[int]int{9: 30}[size]; missed > most {
					t.Errorf("%d of 2,000 values of another key or run are not noticed, want at most %d", missed, most)
				}
				v.fill(value, measured.request(7), mine)
				missed = 0
				for i := range value {
					value[i] ^= 0x10
					if v.flaw(bytes.Clone(value), mine) == nil {
						missed++
					}
					value[i] ^= 0x10
				}
				if missed > 0 && size >= 16 {
					t.Errorf("%d damaged bytes are not noticed", missed)
				}
			})
		}
	}
}

func TestAWrongValueTellsWhatIsWrong(t *testing.T) {
	v, other := newValues(1, 5000, 0), newValues(2, 5000, 0)
	value := make([]byte, 5000)
	for name, test := range map[string]struct {
		make func() []byte
		want string
	}{
		"shorter":      {func() []byte { return value[:4999] }, "it has 4999 bytes, not 5000"},
		"another key":  {func() []byte { v.fill(value, measured.request(3), 6); return value }, "it was written to key number 6, not 5"},
		"another run":  {func() []byte { other.fill(value, measured.request(3), 5); return value }, "no request of this run"},
		"damaged head": {func() []byte { v.fill(value, measured.request(3), 5); value[0]++; return value }, "no request of this run"},
		"damaged":      {func() []byte { v.fill(value, measured.request(3), 5); value[4900]++; return value }, "its bytes are damaged"},
	} {
		flaw := v.flaw(test.make(), 5)
		if flaw == nil || !strings.Contains(flaw.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, flaw, test.want)
		}
	}
	small := newValues(1, 20, 0)
	value = value[:20]
	small.fill(value, measured.request(3), 6)
	if flaw := small.flaw(bytes.Clone(value), 5); flaw == nil || !strings.Contains(flaw.Error(), "its bytes are damaged") {
		t.Errorf("a value of 20 bytes of another key: got %v", flaw)
	}
}

// FuzzFlaw reads anything: nothing panics, and only what was written passes.
func FuzzFlaw(f *testing.F) {
	const number = 3
	v := newValues(1, 40, 0.25)
	good := make([]byte, 40)
	v.fill(good, measured.request(9), number)
	f.Add(good)
	f.Add([]byte{})
	f.Add(make([]byte, 40))
	f.Fuzz(func(t *testing.T, data []byte) {
		if v.flaw(bytes.Clone(data), number) != nil {
			return
		}
		again := make([]byte, 40)
		v.fill(again, request(v.requests.index(readWord(data))), number)
		if !bytes.Equal(data, again) {
			t.Errorf("%x passes, and no request wrote it", data)
		}
	})
}

func readWord(b []byte) (x uint64) {
	for i := range 8 {
		x |= uint64(b[i]) << (8 * i)
	}
	return x
}
