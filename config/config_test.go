package config

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// smallest is an experiment of nothing but what is required.
const smallest = `workload: {operation: write}
databases: [{name: a, kind: etcd, installation: embedded}]
`

// compared is written in both styles of YAML and overrides what it can.
const compared = `title: Two stores
description: |
  First line.
  Second line.
agents: ["10.0.0.2:3500", "[fe80::1]:3500"]
seed: -7
workload:
  operation: read
  requests: 1000
  clients: [1, 10]
  key: {size: 8, order: same}
  value:
    size: 0
  warm_up: {requests: 5}
databases:
  - name: etcd-v3.6
    kind: etcd
    installation: embedded
    options:
      snapshot_count: 100000
      flags: {max-txn-ops: 128, "pre-vote": true, log.level: info}
  - name: other
    kind: memory
    installation: none
    workload:
      clients: 700
      rate: 2.5
      timeout: 1m30s
      consistency: stale
      placement: leader
      key: {size: 16}
`

// everything has what the others leave to defaults, and databases that replace it.
const everything = `workload:
  operation: mixed
  reads: 0.9
  duration: 30s
  clients: 100
  rate: [1000, 2000.5]
  arrival: poisson
  key: {size: 16, order: zipfian, space: 100000, skew: 1.1}
  value: {size: 512, compressible: 0.5}
  warm_up: {duration: 1m}
databases:
  - {name: same, kind: etcd, installation: embedded}
  - name: counted
    kind: etcd
    installation: embedded
    workload: {requests: 5000, warm_up: {requests: 10}, rate: 7}
  - name: cold
    kind: etcd
    installation: embedded
    workload: {operation: write, reads: 0, rate: 0, arrival: constant, clients: [1, 2], warm_up: {requests: 0}, key: {order: uniform}}
`

func mustParse(t *testing.T, doc string, overrides ...string) *Experiment {
	t.Helper()
	e, err := Parse("test.yaml", []byte(doc), overrides)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// same compares experiments by what they say, not by where it stands.
func same(a, b *Experiment) string {
	return cmp.Diff(a, b, cmpopts.IgnoreUnexported(Experiment{}))
}

func TestParseFillsInDefaults(t *testing.T) {
	workload := Workload{
		Operation: Write, Requests: 10_000, Clients: []int{1}, Rates: []float64{0}, Arrival: Constant,
		Key: Key{Size: 256, Order: Sequential, Skew: 0.99}, Value: Value{Size: 1024}, Consistency: "linearizable", Placement: All, Timeout: 5 * time.Second,
	}
	want := &Experiment{
		Name: "test", Title: "test", Seed: 1, Workload: workload,
		Databases: []Database{{Name: "a", Kind: "etcd", Installation: "embedded", Workload: workload}},
	}
	if diff := same(want, mustParse(t, smallest)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestADatabaseOverridesKeyByKey(t *testing.T) {
	shared := Workload{
		Operation: Read, Requests: 1000, Clients: []int{1, 10}, Rates: []float64{0}, Arrival: Constant,
		Key:         Key{Size: 8, Order: Same, Skew: 0.99},
		Consistency: "linearizable", Placement: All, WarmUp: WarmUp{Requests: 5}, Timeout: 5 * time.Second,
	}
	own := shared
	own.Clients, own.Rate, own.Rates, own.Timeout = []int{700}, 2.5, []float64{2.5}, 90*time.Second
	own.Consistency, own.Placement, own.Key.Size = "stale", Leader, 16
	want := &Experiment{
		Name: "test", Title: "Two stores", Description: "First line.\nSecond line.\n",
		Agents: []string{"10.0.0.2:3500", "[fe80::1]:3500"}, Seed: -7, Workload: shared,
		Databases: []Database{
			{
				Name: "etcd-v3.6", Kind: "etcd", Installation: "embedded", Workload: shared,
				Options: json.RawMessage(`{"snapshot_count":100000,"flags":{"max-txn-ops":128,"pre-vote":true,"log.level":"info"}}`),
			},
			{Name: "other", Kind: "memory", Installation: "none", Workload: own},
		},
	}
	if diff := same(want, mustParse(t, compared)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseReadsEveryKey(t *testing.T) {
	want := Workload{
		Operation: Mixed, Reads: 0.9, Duration: 30 * time.Second, Clients: []int{100},
		Rates: []float64{1000, 2000.5}, Rate: 1000, Arrival: Poisson,
		Key:   Key{Size: 16, Order: Zipfian, Space: 100_000, Skew: 1.1},
		Value: Value{Size: 512, Compressible: 0.5}, Consistency: "linearizable", Placement: All,
		WarmUp: WarmUp{Duration: time.Minute}, Timeout: 5 * time.Second,
	}
	counted := want
	counted.Requests, counted.Duration, counted.WarmUp = 5000, 0, WarmUp{Requests: 10}
	counted.Rates, counted.Rate = []float64{7}, 7
	cold := want
	cold.Operation, cold.Reads, cold.WarmUp, cold.Key.Order = Write, 0, WarmUp{}, Uniform
	cold.Rates, cold.Rate, cold.Arrival, cold.Clients = []float64{0}, 0, Constant, []int{1, 2}
	e := mustParse(t, everything)
	for i, want := range []Workload{want, counted, cold} {
		if diff := cmp.Diff(want, e.Databases[i].Workload); diff != "" {
			t.Errorf("%s (-want +got):\n%s", e.Databases[i].Name, diff)
		}
	}
	if diff := cmp.Diff(want, e.Workload); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSteps(t *testing.T) {
	e := mustParse(t, everything)
	for i, want := range [][]Step{
		{{Clients: 100, Rate: 1000, Duration: 30 * time.Second}, {Clients: 100, Rate: 2000.5, Duration: 30 * time.Second}},
		{{Clients: 100, Rate: 7, Requests: 5000}},
		{{Clients: 1, Duration: 30 * time.Second}, {Clients: 2, Duration: 30 * time.Second}},
	} {
		if diff := cmp.Diff(want, e.Databases[i].Workload.Steps()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", e.Databases[i].Name, diff)
		}
	}
	got := Workload{Requests: 11, Clients: []int{1, 2, 3}, Rate: 5}.Steps()
	want := []Step{{Clients: 1, Rate: 5, Requests: 4}, {Clients: 2, Rate: 5, Requests: 4}, {Clients: 3, Rate: 5, Requests: 3}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("11 requests in three steps (-want +got):\n%s", diff)
	}
}

func TestTheJSONOfAnExperimentIsTheSameExperiment(t *testing.T) {
	for _, doc := range []string{smallest, compared, everything} {
		e := mustParse(t, doc)
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if diff := same(e, mustParse(t, string(data))); diff != "" {
			t.Errorf("%s\n(-want +got):\n%s", data, diff)
		}
	}
}

func TestNumbersAreReadAsInJSON(t *testing.T) {
	e := mustParse(t, smallest, "workload.requests=1e6", "seed=+3", "workload.rate=2.5e-1",
		"databases[0].options={a: 1.50, b: -0, c: '1', d: 123456789012345678901234567890, e: +1e3}")
	if e.Workload.Requests != 1_000_000 || e.Seed != 3 || e.Workload.Rate != 0.25 {
		t.Errorf("got %+v", e)
	}
	const want = `{"a":1.50,"b":-0,"c":"1","d":123456789012345678901234567890,"e":1e3}`
	if got := string(e.Databases[0].Options); got != want {
		t.Errorf("options = %s, want %s", got, want)
	}
}

func TestLocate(t *testing.T) {
	e := mustParse(t, compared, "workload.connections=5", "databases[other].options.x={y: 1}")
	const value = "--set databases[other].options.x={y: 1}"
	for path, want := range map[string]string{
		"title":                                 "test.yaml:1:8",
		"":                                      "test.yaml:1:1",
		"nothing":                               "test.yaml:1:1",
		"workload":                              "test.yaml:7:1",
		"workload.key.size":                     "test.yaml:11:15",
		"workload.clients[1]":                   "test.yaml:10:16",
		"workload.timeout":                      "test.yaml:7:1",
		"workload.connections":                  "--set workload.connections=5",
		"agents[1]":                             "test.yaml:5:27",
		"databases[0]":                          "test.yaml:16:5",
		"databases[0].options.snapshot_count":   "test.yaml:20:23",
		"databases[0].options.flags.log.level":  "test.yaml:21:62",
		"databases[0].options.flags.log.format": "test.yaml:21:7",
		"databases[0].workload.clients":         "test.yaml:10:3", // inherited
		"databases[1].workload.clients":         "test.yaml:26:16",
		"databases[other].workload.key.size":    "test.yaml:31:19",
		"databases[1].workload.key.order":       "test.yaml:11:25", // inherited
		"databases[1].workload.connections":     "--set workload.connections=5",
		"databases[1].workload.value.x":         "test.yaml:12:3",
		"databases[1].options.x.y":              value,
		"databases[2].name":                     "test.yaml:15:1",
		"databases[":                            "test.yaml:15:1",
	} {
		if got := e.Locate(path); got != want {
			t.Errorf("Locate(%q) = %q, want %q", path, got, want)
		}
	}
	if got, want := e.Errorf("title", "too %s", "long").Error(), "test.yaml:1:8: title: too long"; got != want {
		t.Errorf("Errorf = %q, want %q", got, want)
	}
	if got, want := (&Experiment{}).Locate("workload.rate"), "workload.rate"; got != want {
		t.Errorf("Locate without a file = %q, want %q", got, want)
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my-run.1.yml")
	if err := os.WriteFile(path, []byte("\ufeff"+strings.ReplaceAll(smallest, "\n", "\r\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := Load(path, []string{"seed=2"})
	if err != nil {
		t.Fatal(err)
	}
	if e.Name != "my-run.1" || e.Title != "my-run.1" || e.Seed != 2 || e.Locate("databases[0].name") != path+":2:20" {
		t.Errorf("Load = %+v, databases[0].name at %s", e, e.Locate("databases[0].name"))
	}
	if _, err := Load(path+".none", nil); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("Load of no file: %v, want one that names it", err)
	}
}

func TestValidateWithoutAFile(t *testing.T) {
	e := newExperiment("")
	e.Databases = []Database{{Name: "..", Kind: "Etcd", Workload: e.Workload}}
	err := e.Validate()
	if _, ok := errors.AsType[*Error](err); !ok {
		t.Fatalf("Validate = %v, want an *Error", err)
	}
	for _, want := range []string{"rename the file", "title: ", "workload.operation: missing", "databases[0].name: ", "databases[0].kind: ", "databases[0].installation: missing"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Validate misses %q in:\n%v", want, err)
		}
	}
}
