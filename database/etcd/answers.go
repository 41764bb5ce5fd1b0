package etcd

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// A putAnswer is the answer to a put. That it came is all that is asked of it.
type putAnswer struct{}

// Unmarshal accepts every answer.
func (putAnswer) Unmarshal([]byte) error { return nil }

// A getAnswer keeps the value of the first key in a RangeResponse and skips the
// rest: the header, and the key that was asked for.
type getAnswer struct {
	value []byte // what was read is appended
	found bool
}

// Fields of etcd's rpc.proto and kv.proto.
const (
	fieldKvs   protowire.Number = 2 // of RangeResponse
	fieldValue protowire.Number = 5 // of KeyValue
)

// Unmarshal reads an encoded RangeResponse and copies what it keeps.
func (a *getAnswer) Unmarshal(data []byte) error {
	kv, found, err := findBytes(data, fieldKvs)
	if err != nil || !found {
		return err
	}
	a.found = true
	value, _, err := findBytes(kv, fieldValue) // an empty value is left out
	a.value = append(a.value, value...)
	return err
}

// findBytes returns the first field of a message with that number, which must be
// a string of bytes or a message of its own.
func findBytes(message []byte, want protowire.Number) (value []byte, found bool, err error) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, false, fmt.Errorf("decode a field of etcd's answer: %w", protowire.ParseError(n))
		}
		message = message[n:]
		if number == want && kind == protowire.BytesType {
			if value, n = protowire.ConsumeBytes(message); n >= 0 {
				return value, true, nil
			}
		} else {
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return nil, false, fmt.Errorf("decode field %d of etcd's answer: %w", number, protowire.ParseError(n))
		}
		message = message[n:]
	}
	return nil, false, nil
}
