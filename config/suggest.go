package config

import (
	"fmt"
	"strings"
)

// suggest tells which of the known words may have been meant, or all of them.
func suggest(typed string, known []string) string {
	if meant, ok := nearest(typed, known); ok {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	return "known are " + strings.Join(known, ", ")
}

// nearest returns the known word that is at most two typing errors away, if one is.
func nearest(typed string, known []string) (meant string, ok bool) {
	const near = 2
	distance := near + 1
	for _, k := range known {
		if d := edits(strings.ToLower(typed), k); d < distance && d < len(k) {
			meant, distance = k, d
		}
	}
	return meant, distance <= near
}

// edits counts the letters to insert, delete or replace to get from a to b.
// Words that are much longer than any of ours are as far away as they are long.
func edits(a, b string) int {
	const longest = 64
	if len(a) > longest {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
