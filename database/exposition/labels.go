package exposition

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
)

var errLabels = errors.New("the labels have no end")

// split takes the labels off the front of what follows a name.
func split(rest []byte) (labels, value []byte, err error) {
	if len(rest) == 0 || rest[0] != '{' {
		return nil, rest, nil
	}
	quoted := false
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '}' && !quoted:
			return rest[1:i], rest[i+1:], nil
		}
	}
	return nil, nil, errLabels
}

// edgeOf returns the upper edge of a bucket, its label le.
func edgeOf(labels []byte) (float64, error) {
	// No store puts this text into the value of another label.
	at := bytes.Index(labels, []byte(`le="`))
	if at < 0 || (at > 0 && labels[at-1] != ',' && labels[at-1] != ' ') {
		return 0, fmt.Errorf("labels %q: a bucket has no edge", labels)
	}
	text, _, closed := bytes.Cut(labels[at+len(`le="`):], []byte{'"'})
	if !closed {
		return 0, errLabels
	}
	edge, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsNaN(edge) {
		return 0, fmt.Errorf("labels %q: the edge of a bucket is no number", labels)
	}
	return edge, nil
}
