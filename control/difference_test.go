package control

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbtester/dbtester/config"
)

func TestDifferencesAreNamedByTheirPath(t *testing.T) {
	const text = `
workload: {operation: write, requests: 10, clients: [1, 2]}
databases:
  - {name: a, kind: etcd, installation: embedded}
`
	parse := func(text string, overrides ...string) *config.Experiment {
		e, err := config.Parse("x.yaml", []byte(text), overrides)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for name, test := range map[string]struct {
		now  *config.Experiment
		want []string
	}{
		"the same":       {parse(text), nil},
		"a number":       {parse(text, "seed=7"), []string{"seed was 1 and is now 7"}},
		"a text":         {parse(text, "databases[0].installation=etcd-3.5.21"), []string{`databases[0].installation was "embedded" and is now "etcd-3.5.21"`}},
		"a ladder":       {parse(text, "databases[0].workload.clients=[1]"), []string{"databases[0].workload.clients was [1,2] and is now [1]"}},
		"what was added": {parse(text, "databases[0].options={snapshot_count: 5}"), []string{`databases[0].options was not set and is now {"snapshot_count":5}`}},
		"a database": {
			parse(text + "  - {name: b, kind: etcd, installation: embedded}\n"),
			[]string{"databases was ["},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := differences(parse(text), test.now)
			if err != nil {
				t.Fatal(err)
			}
			if name == "a database" {
				if len(got) != 1 || !strings.HasPrefix(got[0], test.want[0]) {
					t.Errorf("differences %q", got)
				}
			} else if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}
