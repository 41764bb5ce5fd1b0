package consul

import (
	"os"
	"testing"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/exposition"
)

// TestFigures reads what a member told of itself.
func TestFigures(t *testing.T) {
	page, err := os.Open("testdata/metrics-1.22.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	figures := new(driver).Figures()
	got, err := exposition.NewReader(figures).Read(page)
	if err != nil {
		t.Fatal(err)
	}
	readings := map[string]database.Reading{}
	for i, f := range figures {
		readings[f.Name] = got[i]
	}
	for name, want := range map[string]float64{
		"consul_raft_apply":          64,
		"consul_raft_applied_index":  17,
		"consul_raft_state_leader":   1,
		"consul_runtime_alloc_bytes": 19643368,
	} {
		if readings[name].Value != want {
			t.Errorf("%s = %v, want %v", name, readings[name].Value, want)
		}
	}
	for name, want := range map[string]database.Reading{
		"consul_raft_commitTime":         {Count: 66, Sum: 30.69889584183693},
		"consul_fsm_kvs":                 {Count: 50, Sum: 2.819998012855649}, // over all operations
		"consul_raft_leader_lastContact": {Count: 0, Sum: 0},
	} {
		if got := readings[name]; got.Count != want.Count || got.Sum != want.Sum {
			t.Errorf("%s = %+v, want %+v", name, got, want)
		}
	}
}
