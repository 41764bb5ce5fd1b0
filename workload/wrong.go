package workload

import "fmt"

// KindWrongValue is the row in which reads are counted that succeeded and
// returned what was not written to their key.
const KindWrongValue = "wrong value"

// A wrongValue is such a read.
type wrongValue struct {
	reason    reason
	got, want int64
}

type reason string

const (
	wrongLength reason = "length"
	otherKey    reason = "key"
	foreign     reason = "run"
	damaged     reason = "bytes"
)

func (w *wrongValue) Error() string {
	const value = "the value read is not one written to its key: "
	switch w.reason {
	case wrongLength:
		return fmt.Sprintf(value+"it has %d bytes, not %d", w.got, w.want)
	case otherKey:
		return fmt.Sprintf(value+"it was written to key number %d, not %d", w.got, w.want)
	case foreign:
		return value + "no request of this run wrote it, or its first 32 bytes are damaged"
	default:
		return value + "its bytes are damaged"
	}
}

// ErrorKind returns [KindWrongValue].
func (*wrongValue) ErrorKind() string { return KindWrongValue }

// Indeterminate returns false: the request was answered.
func (*wrongValue) Indeterminate() bool { return false }
