package result

import (
	"fmt"
	"math"
	"strconv"
)

// A Number is a measured figure that may be missing. Not-a-number is a gap: an
// empty cell in the CSV and a gap in a chart, never an invented zero.
type Number float64

// Gap is the missing figure.
func Gap() Number { return Number(math.NaN()) }

// Known reports whether the figure was measured.
func (n Number) Known() bool { return !math.IsNaN(float64(n)) }

// MarshalText writes the shortest decimal that reads back the same, or nothing for a gap.
func (n Number) MarshalText() ([]byte, error) {
	if !n.Known() {
		return nil, nil
	}
	return strconv.AppendFloat(nil, float64(n), 'f', -1, 64), nil
}

// UnmarshalText reads what MarshalText writes.
func (n *Number) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*n = Gap()
		return nil
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("%q is not a number", text)
	}
	*n = Number(f)
	return nil
}
