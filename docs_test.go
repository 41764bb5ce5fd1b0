package dbtester_test

import (
	"os"
	"strings"
	"testing"

	"github.com/dbtester/dbtester/result"
)

// TestEverySystemColumnIsDocumented looks each column up in docs/metrics.md,
// where deltas stand with their counter.
func TestEverySystemColumnIsDocumented(t *testing.T) {
	text, err := os.ReadFile("docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	ranges := []string{"LOAD-", "READ", "WRITE", "SECTORS-", "RECEIVE-", "TRANSMIT-", "PRESSURE-"} // told as a row of columns
	for _, column := range result.Header[result.SystemRow]() {
		whole := "`" + strings.TrimSuffix(column, "-DELTA")
		ranged := false
		for _, prefix := range ranges {
			ranged = ranged || strings.HasPrefix(column, prefix)
		}
		if !ranged && !strings.Contains(string(text), whole) {
			t.Errorf("docs/metrics.md does not tell of %s", column)
		}
	}
}
