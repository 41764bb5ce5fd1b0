package load

import (
	"context"
	"errors"
	"fmt"
)

// An errorRow is the row an error is counted in.
type errorRow struct {
	kind          string
	indeterminate bool
}

// classify sorts an error. An error that does not name its kind is counted by
// its type: its words may hold keys, ports and addresses.
func classify(err error) errorRow {
	var row errorRow
	var kinder Kinder
	switch {
	case errors.As(err, &kinder):
		row.kind = kinder.ErrorKind()
	case errors.Is(err, context.DeadlineExceeded):
		row.kind = "deadline exceeded"
	case errors.Is(err, context.Canceled):
		row.kind = "canceled"
	default:
		row.kind = fmt.Sprintf("%T", err)
	}
	var unsure Indeterminater
	if errors.As(err, &unsure) {
		row.indeterminate = unsure.Indeterminate()
	} else {
		row.indeterminate = errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	}
	return row
}
