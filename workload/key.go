package workload

import (
	"strconv"
	"unsafe"
)

// A key makes the keys of one client, all in the same memory. It is not safe for
// concurrent use.
type key struct {
	buf    []byte
	prefix int
	digits int // of the last number
}

func newKey(prefix string, size int) key {
	k := key{buf: newLine(size), prefix: len(prefix)}
	copy(k.buf, prefix)
	for i := len(prefix); i < size; i++ {
		k.buf[i] = '0'
	}
	return k
}

// string returns the prefix and the number in decimal, padded with zeros in
// between to the key's size. It holds until the next call.
func (k *key) string(number int64) string {
	var scratch [20]byte
	digits := strconv.AppendInt(scratch[:0], number, 10)
	room := k.buf[k.prefix:]
	if len(digits) > len(room) {
		return string(append(k.buf[:k.prefix:k.prefix], digits...))
	}
	pad := len(room) - len(digits)
	// A smaller number than the last would leave old digits in front of it.
	for i := len(room) - k.digits; i < pad; i++ {
		room[i] = '0'
	}
	k.digits = len(digits)
	copy(room[pad:], digits)
	return unsafe.String(&k.buf[0], len(k.buf)) //nolint:gosec // a KV has let go of the key when buf is written again
}

// renew leaves the last key's memory to whoever still holds it.
func (k *key) renew() {
	buf := newLine(len(k.buf))
	copy(buf, k.buf)
	k.buf = buf
}
