package hist_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"io"
	"math/bits"
	"strings"
	"testing"
	"time"

	"github.com/dbtester/dbtester/internal/hist"
)

// counts decodes an interval line by the published format alone (HdrHistogram
// V2 encoding, compressed), without the library that wrote it: the count of
// each bucket by the bucket's lowest value in nanoseconds.
func counts(t *testing.T, line string) map[int64]int64 {
	t.Helper()
	packed, err := base64.StdEncoding.DecodeString(line[strings.LastIndexByte(line, ',')+1:])
	if err != nil {
		t.Fatal(err)
	}
	if cookie := binary.BigEndian.Uint32(packed) &^ 0xf0; cookie != 0x1c849304 {
		t.Fatalf("cookie %#x is not that of a compressed V2 histogram", cookie)
	}
	unpacked, err := zlib.NewReader(bytes.NewReader(packed[8:]))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	digits := int(binary.BigEndian.Uint32(data[12:]))
	lowest := int64(binary.BigEndian.Uint64(data[16:]))
	if digits != hist.Digits || lowest != int64(hist.Lowest) {
		t.Fatalf("%d digits from %d ns, want %d from %d", digits, lowest, hist.Digits, int64(hist.Lowest))
	}
	unit := bits.Len64(uint64(lowest)) - 1 // powers of two below the lowest value
	const half = 1024                      // half the sub-buckets that three digits need
	found := map[int64]int64{}
	reader := bytes.NewReader(data[40:])
	for index := int64(0); reader.Len() > 0; {
		n, err := binary.ReadVarint(reader) // zig-zag, as the format's
		if err != nil {
			t.Fatal(err)
		}
		if n < 0 {
			index -= n // a run of empty buckets
			continue
		}
		if n > 0 {
			bucket, sub := index/half-1, index%half+half
			if bucket < 0 {
				bucket, sub = 0, index
			}
			found[sub<<(bucket+int64(unit))] = n
		}
		index++
	}
	return found
}

// The log can be read by whoever knows the published format.
func TestLogIsInTheStandardFormat(t *testing.T) {
	h := recorded([]time.Duration{0, 700 * time.Nanosecond, time.Millisecond, time.Millisecond, 3 * time.Second, 59 * time.Second})
	var log bytes.Buffer
	w, err := hist.NewLogWriter(&log, time.Unix(1_700_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(hist.Response, time.Unix(1_700_000_005, 0), time.Unix(1_700_000_006, 0), h); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	last := lines[len(lines)-1]
	if !strings.HasPrefix(last, "Tag=response,1700000005.000000,1.000000,59") || lines[1] != "#[Histogram log format version 1.3]" {
		t.Errorf("log:\n%s", log.String())
	}
	got := counts(t, last)
	for _, want := range []struct {
		value time.Duration
		n     int64
	}{{0, 1}, {700, 1}, {time.Millisecond, 2}, {3 * time.Second, 1}, {59 * time.Second, 1}} {
		n := int64(0)
		for low, count := range got {
			if d := int64(want.value) - low; d >= 0 && float64(d) <= max(float64(want.value)/1000, 512) {
				n += count
			}
		}
		if n != want.n {
			t.Errorf("%d counted near %v, want %d; all: %v", n, want.value, want.n, got)
		}
	}
}
