package analyze

import (
	"fmt"
	"slices"
	"strings"
)

// A promise is one thing in which columns must agree to be compared by their
// figures alone.
type promise struct {
	what string
	of   func(*column) string
}

func promises() []promise {
	return []promise{
		{"what they do", func(c *column) string { return c.db.Operation }},
		{"what their reads guarantee", (*column).readsPromise},
		{"whether an answer waits for an fsync", func(c *column) string {
			shown, _ := yesNo(c.db.Guarantee.Fsync)
			return shown
		}},
		{"where their connections lead", func(c *column) string { return c.db.Guarantee.Placement }},
	}
}

// readsPromise is empty for a series that does not read.
func (c *column) readsPromise() string {
	if strings.HasPrefix(c.db.Operation, "read") || c.db.Operation == "mixed" {
		return c.db.Guarantee.Reads
	}
	return ""
}

// compareColumns warns when columns differ in what they promise: their figures
// then tell of different things.
func compareColumns(columns []*column, f *findings) {
	for _, p := range promises() {
		var values, told []string
		for _, c := range columns {
			v := p.of(c)
			if !slices.Contains(values, v) {
				values = append(values, v)
			}
			told = append(told, fmt.Sprintf("%s %s", c.name, v))
		}
		if len(values) > 1 {
			f.warnf("the columns differ in %s: %s", p.what, strings.Join(told, ", "))
		}
	}
}
