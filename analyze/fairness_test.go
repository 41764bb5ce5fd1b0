package analyze

import (
	"errors"
	"strings"
	"testing"

	"github.com/dbtester/dbtester/result"
)

func promising(name, operation string, g result.Guarantee) *column {
	return &column{name: name, db: &result.Database{Operation: operation, Guarantee: g}}
}

func TestColumnsThatPromiseDifferentThingsAreTold(t *testing.T) {
	safe := result.Guarantee{Reads: "linearizable", Fsync: true, Placement: "all"}
	stale, volatile, led := safe, safe, safe
	stale.Reads, volatile.Fsync, led.Placement = "stale", false, "leader"
	for name, test := range map[string]struct {
		columns []*column
		want    string // empty: no warning
	}{
		"alike":                   {[]*column{promising("a", "write", safe), promising("b", "write", safe)}, ""},
		"reads of writing series": {[]*column{promising("a", "write", safe), promising("b", "write", stale)}, ""},
		"stale reads":             {[]*column{promising("a", "read", safe), promising("b", "read", stale)}, "a linearizable, b stale"},
		"no fsync":                {[]*column{promising("a", "write", safe), promising("b", "write", volatile)}, "a yes, b no"},
		"leader only":             {[]*column{promising("a", "write", safe), promising("b", "write", led)}, "a all, b leader"},
		"reads beside writes":     {[]*column{promising("a", "read", safe), promising("b", "write", safe)}, "a read, b write"},
	} {
		t.Run(name, func(t *testing.T) {
			var f findings
			compareColumns(test.columns, &f)
			got := errors.Join(f.warnings...)
			switch {
			case test.want == "" && got != nil:
				t.Errorf("warning %v, want none", got)
			case test.want != "" && (got == nil || !strings.Contains(got.Error(), test.want)):
				t.Errorf("warning %v, want %q", got, test.want)
			}
		})
	}
}
