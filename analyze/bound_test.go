package analyze

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dbtester/dbtester/result"
)

// boundColumn is a load of 200 seconds, of which the first n were bound.
func boundColumn(n int) *column {
	c := &column{name: "etcd", db: &result.Database{}, watched: true}
	for i := range 200 {
		row := result.TimeseriesRow{UnixSecond: 1000 + int64(i), Clients: 4, AvgLatency: 10, Throughput: 390, Stage: 1}
		if i < n {
			row.ClientBound = fmt.Sprintf("machine CPU %d %%", 95+i%5)
		}
		if i == 0 && n > 0 {
			row.ClientBound += ", scheduling delay 12ms"
		}
		c.rows = append(c.rows, row)
	}
	c.stages = []stage{{Stage: result.Stage{Clients: 4}, window: span{1000e9, 1200e9}}}
	return c
}

func TestAClientBoundSeriesSaysSoAndWhy(t *testing.T) {
	for n, want := range map[int]string{0: "no", 2: "no", 3: "2 % of seconds", 100: "50 % of seconds"} {
		if shown, _ := boundColumn(n).clientBound(); shown != want {
			t.Errorf("%d of 200 seconds bound: the table says %q, want %q", n, shown, want)
		}
	}
	old := boundColumn(0)
	old.watched = false
	if shown, _ := old.clientBound(); shown != notKnown {
		t.Errorf("a run that was not watched says %q, want %q", shown, notKnown)
	}
	if note := boundColumn(2).boundNote(); note != nil {
		t.Errorf("a note %q for 1 %% of the seconds", note)
	}
	note := strings.Join(boundColumn(50).boundNote(), "")
	if !strings.Contains(note, "in 50 of 200 seconds") || !strings.Contains(note, "machine CPU (50), scheduling delay (1)") {
		t.Errorf("note %q does not tell how often and why", note)
	}
	if at := boundSeconds([]*column{boundColumn(5)}); len(at) != 5 || at[0] != 0 || at[4] != 4 {
		t.Errorf("marked seconds %v, want 0 to 4", at)
	}
}

func TestClientTimeCoveredIsLittlesLaw(t *testing.T) {
	// 390 requests of 10 ms keep 3.9 of 4 clients busy.
	if got := boundColumn(0).covered(); math.Abs(got-97.5) > 1e-9 {
		t.Errorf("covered %v %%, want 97.5", got)
	}
}
