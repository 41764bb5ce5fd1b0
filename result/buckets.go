package result

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Buckets are a histogram's: cumulative counts by upper edge, which is +Inf
// for the last. In a file they are one cell, "0.001=12 0.002=15 +Inf=15"; an
// empty one is a gap.
type Buckets []Bucket

// A Bucket counts the events up to and with its edge.
type Bucket struct{ Edge, Count float64 }

// MarshalText writes the cell.
func (b Buckets) MarshalText() ([]byte, error) {
	var text []byte
	for i, bucket := range b {
		if i > 0 {
			text = append(text, ' ')
		}
		text = strconv.AppendFloat(text, bucket.Edge, 'g', -1, 64)
		text = append(text, '=')
		text = strconv.AppendFloat(text, bucket.Count, 'f', -1, 64)
	}
	return text, nil
}

// UnmarshalText reads what MarshalText writes.
func (b *Buckets) UnmarshalText(text []byte) error {
	*b = nil
	for field := range strings.FieldsSeq(string(text)) {
		edge, count, _ := strings.Cut(field, "=")
		e, errEdge := strconv.ParseFloat(edge, 64)
		n, errCount := strconv.ParseFloat(count, 64)
		if errEdge != nil || errCount != nil || math.IsNaN(e) || math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
			return fmt.Errorf("%q is not a bucket: want EDGE=COUNT", field)
		}
		if last := len(*b) - 1; last >= 0 && (e <= (*b)[last].Edge || n < (*b)[last].Count) {
			return fmt.Errorf("bucket %q does not follow the one before it: edges rise, and counts do not fall", field)
		}
		*b = append(*b, Bucket{e, n})
	}
	return nil
}
