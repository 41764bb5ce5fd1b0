package config

import (
	"encoding/json"
	"strings"
	"testing"
)

// pair has a database that overrides and one that does not.
const pair = `workload:
  operation: write
  requests: 500
  key: {size: 64}
databases:
  - {name: plain, kind: etcd, installation: embedded}
  - name: own-3.6
    kind: etcd
    installation: embedded
    options: {flags: {a.b: 1}}
    workload: {requests: 70, clients: 7, key: {size: 32}}
`

func TestOverrides(t *testing.T) {
	tests := map[string]struct {
		set  []string
		path string // into the JSON, below it the expected values of both databases
		want [2]string
	}{
		"nothing":                       {nil, "workload.requests", [2]string{"500", "70"}},
		"everywhere":                    {[]string{"workload.requests=1000"}, "workload.requests", [2]string{"1000", "1000"}},
		"one by name":                   {[]string{"databases[own-3.6].workload.requests=80"}, "workload.requests", [2]string{"500", "80"}},
		"one by place":                  {[]string{"databases[0].workload.requests=80"}, "workload.requests", [2]string{"80", "70"}},
		"everywhere but one":            {[]string{"workload.requests=90", "databases[1].workload.requests=80"}, "workload.requests", [2]string{"90", "80"}},
		"the last one wins":             {[]string{"databases[1].workload.requests=80", "workload.requests=90"}, "workload.requests", [2]string{"90", "90"}},
		"nested":                        {[]string{"workload.key.size=20"}, "workload.key.size", [2]string{"20", "20"}},
		"a mapping with its keys":       {[]string{"workload.key={order: same}"}, "workload.key.size", [2]string{"256", "256"}},
		"the whole workload":            {[]string{"workload={operation: write}"}, "workload.clients", [2]string{"[1]", "[1]"}},
		"one key leaves the others":     {[]string{"workload.rate=5"}, "workload.clients", [2]string{"[1]", "[7]"}},
		"a ladder":                      {[]string{"workload.clients=[1, 9]"}, "workload.clients", [2]string{"[1,9]", "[1,9]"}},
		"a step of a ladder":            {[]string{"workload.clients=[1, 9]", "workload.clients[1]=8"}, "workload.clients", [2]string{"[1,8]", "[1,8]"}},
		"mappings that are not there":   {[]string{"workload.warm_up.requests=3"}, "workload.warm_up.requests", [2]string{"3", "3"}},
		"value with an equals sign":     {[]string{"databases[plain].options.flags.x=a=b"}, "options.flags.x", [2]string{`"a=b"`, "null"}},
		"option with dots that is":      {[]string{"databases[own-3.6].options.flags.a.b=2"}, "options.flags", [2]string{"null", `{"a.b":2}`}},
		"option with dots in a mapping": {[]string{"databases[plain].options.flags={c.d: 2}"}, "options.flags", [2]string{`{"c.d":2}`, `{"a.b":1}`}},
		"spaces around the path":        {[]string{" workload.rate = 5 "}, "workload.rate", [2]string{"5", "5"}},
		"a duration for requests":       {[]string{"workload.duration=5s"}, "workload.duration", [2]string{`"5s"`, `"5s"`}},
		"no requests then":              {[]string{"workload.duration=5s"}, "workload.requests", [2]string{"null", "null"}},
		"requests for a duration":       {[]string{"workload.duration=5s", "workload.requests=50"}, "workload.requests", [2]string{"50", "50"}},
		"no duration then":              {[]string{"workload.duration=5s", "workload.requests=50"}, "workload.duration", [2]string{"null", "null"}},
		"a duration for one":            {[]string{"databases[own-3.6].workload.duration=5s"}, "workload.requests", [2]string{"500", "null"}},
		"requests for all but one":      {[]string{"workload.duration=5s", "databases[own-3.6].workload.requests=50"}, "workload.duration", [2]string{`"5s"`, "null"}},
		"warm up for a time":            {[]string{"workload.warm_up.requests=5", "workload.warm_up.duration=5s"}, "workload.warm_up", [2]string{`{"duration":"5s"}`, `{"duration":"5s"}`}},
		"one without warm-up":           {[]string{"workload.warm_up.duration=5s", "databases[0].workload.warm_up.requests=0"}, "workload.warm_up", [2]string{`{"requests":0}`, `{"duration":"5s"}`}},
		"an option called duration":     {[]string{"databases[0].options.requests=1", "databases[0].options.duration=2"}, "options", [2]string{`{"requests":1,"duration":2}`, `{"flags":{"a.b":1}}`}},
		"a ladder of rates":             {[]string{"workload.rate=[5, 6.5]"}, "workload.rate", [2]string{"[5,6.5]", "[5,6.5]"}},
		"timeout":                       {[]string{"workload.timeout=2s"}, "workload.timeout", [2]string{`"2s"`, `"2s"`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := mustParse(t, pair, test.set...)
			for i, want := range test.want {
				if got := atPath(t, e.Databases[i], test.path); got != want {
					t.Errorf("databases[%d].%s = %s, want %s", i, test.path, got, want)
				}
			}
		})
	}
}

// atPath returns the JSON of the value at the dotted path of v's JSON.
func atPath(t *testing.T, v any, path string) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	for key := range strings.SplitSeq(path, ".") {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		if data = m[key]; data == nil {
			return "null"
		}
	}
	return string(data)
}

func TestOverridesOutsideTheWorkload(t *testing.T) {
	e := mustParse(t, pair, "title=New", "agents=['a:1']", "databases[plain].name=first", "databases[first].kind=memory")
	if e.Title != "New" || len(e.Agents) != 1 || e.Databases[0].Name != "first" || e.Databases[0].Kind != "memory" {
		t.Errorf("got %+v", e)
	}
}

func TestOverridesRefused(t *testing.T) {
	tests := map[string]string{ // flag to message
		"workload.reqests=5":            `workload.reqests: unknown key; did you mean "requests"?`,
		"requests=5":                    "requests: unknown key; known are title, description, agents, seed, workload, databases",
		"workload.requests":             "want path=value, such as workload.requests=20000",
		"=5":                            "want path=value, such as workload.requests=20000",
		"workload.requests=":            "workload.requests: no value; want a whole number, or leave out the key",
		"workload.requests=many":        `workload.requests: want a whole number, not the text "many"`,
		"workload.requests=-1":          "workload.requests: want 1 to 1000000000000, not -1",
		"workload.requests.x=1":         "workload.requests has no keys below it: it is 500",
		"workload.clients=[1":           "sequence end token ']' not found",
		"workload.clients=[1, 600]":     "", // the requests of the file are too few: its line is named
		"workload.requests[0]=1":        "there is no workload.requests[0]; only a list takes an index, and this is 500",
		"databases[2].kind=x":           "there is no databases[2].kind; choose one of [plain], [own-3.6]",
		"databases[none].kind=x":        "there is no databases[none].kind; choose one of [plain], [own-3.6]",
		"databases[0.kind=x":            "there is no databases[0.kind; choose one of [plain], [own-3.6]",
		"databases.kind=x":              "databases has no keys below it: it is a list",
		"databases[0].workload.rates=1": `databases[0].workload.rates: unknown key; did you mean "rate"?`,
		"databases[0].options=5":        "databases[0].options: want a mapping, not 5",
		"seed=&x 5":                     noAnchors,
		"title=a\n---\nb":               "a file holds one experiment; leave out --- and % lines",
		"workload={operation: x, rate: -1}": `workload.operation: want one of write, read, read-oneshot, mixed, not "x"
--set workload={operation: x, rate: -1}: workload.rate: want 0 for a closed loop, or requests per second up to 1000000000, not -1`,
	}
	for flag, want := range tests {
		t.Run(flag, func(t *testing.T) {
			_, err := Parse("x.yaml", []byte(pair), []string{"seed=1", flag})
			if want = "--set " + flag + ": " + want; strings.HasSuffix(want, ": ") {
				want = "x.yaml:3:13: workload.requests: want at least 600, one for each client of the largest step, not 500\n" +
					"x.yaml:11:26: databases[1].workload.requests: want at least 600, one for each client of the largest step, not 70"
			}
			if err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}
