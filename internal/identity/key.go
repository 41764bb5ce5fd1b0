package identity

import (
	"fmt"
	"log/slog"
)

// A Key is a private key as PEM. It does not print itself, in whatever form it
// is asked to.
type Key []byte

const hidden = "(private key)"

// Format hides the key from package fmt.
func (Key) Format(f fmt.State, _ rune) { fmt.Fprint(f, hidden) }

// LogValue hides the key from package slog.
func (Key) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides the key from encoders.
func (Key) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// A Pair is a certificate, as PEM, and its private key.
type Pair struct {
	Certificate []byte
	Key         Key
}
