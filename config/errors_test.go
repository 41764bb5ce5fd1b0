package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	aWorkload = "workload: {operation: write}\n"
	aDatabase = "databases: [{name: a, kind: etcd, installation: embedded}]\n"
)

// refusedByBoth are documents that both Parse and the schema refuse.
var refusedByBoth = map[string]struct{ doc, want string }{
	"not a mapping":     {"- a\n", "1:1: want a mapping, not a list"},
	"unknown key":       {"workload:\n  operation: write\n  request: 5\n" + aDatabase, `3:3: workload.request: unknown key; did you mean "requests"?`},
	"unknown top key":   {"wrokload: 5\n" + smallest, `1:1: wrokload: unknown key; did you mean "workload"?`},
	"far key":           {"retries: 5\n" + smallest, "1:1: retries: unknown key; known are title, description, agents, seed, workload, databases"},
	"unknown key below": {"workload: {operation: write, key: {sise: 5}}\n" + aDatabase, `1:36: workload.key.sise: unknown key; did you mean "size"?`},
	"unknown in database": {
		aWorkload + "databases: [{name: a, kind: etcd, installation: embedded, workload: {rates: 1}}]\n",
		`2:70: databases[0].workload.rates: unknown key; did you mean "rate"?`,
	},
	"text for number":  {"seed: five\n" + smallest, `1:7: seed: want a whole number, not the text "five"`},
	"quoted number":    {"seed: '5'\n" + smallest, `1:7: seed: want a whole number, not the text "5"`},
	"fraction":         {"seed: 1.5\n" + smallest, "1:7: seed: want a whole number, not 1.5"},
	"number for text":  {"title: 2024\n" + smallest, "1:8: title: want text, not 2024"},
	"true for text":    {"title: true\n" + smallest, "1:8: title: want text, not true"},
	"text for list":    {"agents: 'a:1'\n" + smallest, `1:9: agents: want a list, not the text "a:1"`},
	"text for mapping": {"workload: write\n" + aDatabase, `1:11: workload: want a mapping, not the text "write"`},
	"no value":         {"seed:\n" + smallest, "1:6: seed: no value; want a whole number, or leave out the key"},
	"text for ladder": {
		"workload: {operation: write, clients: many}\n" + aDatabase,
		`1:39: workload.clients: want a whole number or a list of them, not the text "many"`,
	},
	"text in ladder": {
		"workload: {operation: write, clients: [1, x]}\n" + aDatabase,
		`1:43: workload.clients[1]: want a whole number, not the text "x"`,
	},
	"text for rate": {"workload: {operation: write, rate: fast}\n" + aDatabase, `1:36: workload.rate: want a number or a list of them, not the text "fast"`},
	"no unit": {
		"workload: {operation: write, timeout: 5}\n" + aDatabase,
		"1:39: workload.timeout: want a duration with its unit, such as 500ms or 5s, not 5",
	},
	"negative timeout": {"workload: {operation: write, timeout: -5s}\n" + aDatabase, "1:39: workload.timeout: want 1ms to 1h0m0s, not -5s"},
	"options a list": {
		aWorkload + "databases: [{name: a, kind: etcd, installation: embedded, options: [x]}]\n",
		"2:59: databases[0].options: want a mapping, not a list",
	},
	"no workload":           {aDatabase, "1:1: workload.operation: missing; want one of write, read, read-oneshot, mixed"},
	"no operation":          {"workload: {rate: 5}\n" + aDatabase, "1:1: workload.operation: missing; want one of write, read, read-oneshot, mixed"},
	"operation":             {"workload: {operation: wirte}\n" + aDatabase, `1:23: workload.operation: want one of write, read, read-oneshot, mixed, not "wirte"; did you mean "write"?`},
	"order":                 {"workload: {operation: write, key: {order: random}}\n" + aDatabase, `1:43: workload.key.order: want one of sequential, same, uniform, zipfian, not "random"`},
	"arrival":               {"workload: {operation: write, rate: 5, arrival: bursts}\n" + aDatabase, `1:48: workload.arrival: want one of constant, poisson, not "bursts"`},
	"share of reads":        {"workload: {operation: mixed, reads: 90, key: {order: same}}\n" + aDatabase, "1:37: workload.reads: want more than 0 and less than 1, not 90; for reads or writes alone there are the operations read and write"},
	"all reads":             {"workload: {operation: mixed, reads: 1, key: {order: same}}\n" + aDatabase, "1:37: workload.reads: want more than 0 and less than 1, not 1; for reads or writes alone there are the operations read and write"},
	"negative space":        {"workload: {operation: write, key: {space: -1}}\n" + aDatabase, "1:43: workload.key.space: want 0 to 1000000000000, not -1"},
	"no skew":               {"workload: {operation: write, key: {order: zipfian, space: 5, skew: 0}}\n" + aDatabase, "1:68: workload.key.skew: want more than 0 and at most 10, not 0"},
	"skew":                  {"workload: {operation: write, key: {order: zipfian, space: 5, skew: 10.5}}\n" + aDatabase, "1:68: workload.key.skew: want more than 0 and at most 10, not 10.5"},
	"compressible":          {"workload: {operation: write, value: {compressible: 50}}\n" + aDatabase, "1:52: workload.value.compressible: want the share of a value's bytes that are zero, 0 to 1, not 50"},
	"requests, duration":    {"workload: {operation: write, requests: 5, duration: 5s}\n" + aDatabase, "1:53: workload.duration: want either requests or a duration, not both"},
	"duration no unit":      {"workload: {operation: write, duration: 5}\n" + aDatabase, "1:40: workload.duration: want a duration with its unit, such as 500ms or 5s, not 5"},
	"warm up twice":         {"workload: {operation: write, warm_up: {requests: 5, duration: 5s}}\n" + aDatabase, "1:63: workload.warm_up.duration: want either requests or a duration, not both"},
	"warm up no unit":       {"workload: {operation: write, warm_up: {duration: 5}}\n" + aDatabase, "1:50: workload.warm_up.duration: want a duration with its unit, such as 500ms or 5s, not 5"},
	"no rate in ladder":     {"workload: {operation: write, rate: [5, 0]}\n" + aDatabase, "1:40: workload.rate[1]: want requests per second, more than 0 and up to 1000000000, not 0"},
	"rate twice":            {"workload: {operation: write, rate: [5, 5.0]}\n" + aDatabase, "1:40: workload.rate[1]: 5 requests per second are a step already; a step is named by its rate"},
	"no rates":              {"workload: {operation: write, rate: []}\n" + aDatabase, "1:30: workload.rate: want a number of requests per second, or a list of at least one"},
	"text among rates":      {"workload: {operation: write, rate: [5, x]}\n" + aDatabase, `1:40: workload.rate[1]: want a number, not the text "x"`},
	"placement":             {"workload: {operation: write, placement: follower}\n" + aDatabase, `1:41: workload.placement: want one of all, leader, not "follower"`},
	"empty consistency":     {"workload: {operation: write, consistency: ''}\n" + aDatabase, `1:43: workload.consistency: want a word such as linearizable or stale, not ""`},
	"negative requests":     {"workload: {operation: write, requests: -5}\n" + aDatabase, "1:40: workload.requests: want 1 to 1000000000000, not -5"},
	"no requests":           {"workload: {operation: write, requests: 0}\n" + aDatabase, "1:40: workload.requests: want 1 to 1000000000000, not 0"},
	"no clients":            {"workload: {operation: write, clients: 0}\n" + aDatabase, "1:39: workload.clients: want 1 to 100000, not 0"},
	"empty ladder":          {"workload: {operation: write, clients: []}\n" + aDatabase, "1:30: workload.clients: want a number of clients, or a list of at least one"},
	"zero in ladder":        {"workload: {operation: write, clients: [1, 0]}\n" + aDatabase, "1:43: workload.clients[1]: want 1 to 100000, not 0"},
	"step twice":            {"workload: {operation: write, clients: [1, 1]}\n" + aDatabase, "1:43: workload.clients[1]: 1 clients are a step already; a step is named by its clients"},
	"connections":           {"workload: {operation: write, connections: -1}\n" + aDatabase, "1:43: workload.connections: want 0 to 100000, not -1"},
	"negative rate":         {"workload: {operation: write, rate: -1}\n" + aDatabase, "1:36: workload.rate: want 0 for a closed loop, or requests per second up to 1000000000, not -1"},
	"key of one byte":       {"workload: {operation: write, key: {size: 1}}\n" + aDatabase, "1:42: workload.key.size: want 2 to 65536, not 1"},
	"negative value":        {"workload: {operation: write, value: {size: -1}}\n" + aDatabase, "1:44: workload.value.size: want 0 to 67108864, not -1"},
	"negative warm up":      {"workload: {operation: write, warm_up: {requests: -1}}\n" + aDatabase, "1:50: workload.warm_up.requests: want 0 to 1000000000000, not -1"},
	"no databases":          {aWorkload, "1:1: databases: missing; list at least one"},
	"empty databases":       {aWorkload + "databases: []\n", "2:1: databases: missing; list at least one"},
	"database no name":      {aWorkload + "databases: [{kind: etcd, installation: embedded}]\n", "2:14: databases[0].name: missing; it names the column of the table, such as etcd-v3.6"},
	"database a path":       {aWorkload + "databases: [{name: ../x, kind: etcd, installation: embedded}]\n", "2:20: databases[0].name: want at most 100 letters, digits, '.', '_' and '-', the first a letter or digit, not \"../x\""},
	"database dots":         {aWorkload + "databases: [{name: .., kind: etcd, installation: embedded}]\n", "2:20: databases[0].name: want at most 100 letters, digits, '.', '_' and '-', the first a letter or digit, not \"..\""},
	"database a number":     {aWorkload + "databases: [{name: '36', kind: etcd, installation: embedded}]\n", "2:20: databases[0].name: want more than digits, such as v36"},
	"no kind":               {aWorkload + "databases: [{name: a, installation: embedded}]\n", `2:14: databases[0].kind: want the kind of store, such as etcd, not ""`},
	"no installation":       {aWorkload + "databases: [{name: a, kind: etcd}]\n", "2:14: databases[0].installation: missing; it names a folder of the agent's --databases directory, such as etcd-3.6.16, or is embedded"},
	"installation path":     {aWorkload + "databases: [{name: a, kind: etcd, installation: /bin}]\n", "2:49: databases[0].installation: want at most 100 letters, digits, '.', '_' and '-', the first a letter or digit, not \"/bin\""},
	"agent without port":    {"agents: [10.0.0.2]\n" + smallest, `1:10: agents[0]: want host:port such as 10.0.0.2:3500, not "10.0.0.2"`},
	"agent without host":    {"agents: [':3500']\n" + smallest, `1:10: agents[0]: want host:port such as 10.0.0.2:3500, not ":3500"`},
	"agent a URL":           {"agents: ['http://a:3500']\n" + smallest, `1:10: agents[0]: want host:port such as 10.0.0.2:3500, not "http://a:3500"`},
	"agent port 0":          {"agents: ['a:0']\n" + smallest, `1:10: agents[0]: want host:port such as 10.0.0.2:3500, not "a:0"`},
	"agent socket relative": {"agents: ['unix:a.sock']\n" + smallest, `1:10: agents[0]: want unix:/path, or the member's address before it as in 10.0.0.2=unix:/path, not "unix:a.sock"`},
	"agent socket upwards":  {"agents: ['unix:/a/../b']\n" + smallest, `1:10: agents[0]: want unix:/path, or the member's address before it as in 10.0.0.2=unix:/path, not "unix:/a/../b"`},
	"agent socket by name":  {"agents: ['db1=unix:/a']\n" + smallest, `1:10: agents[0]: want unix:/path, or the member's address before it as in 10.0.0.2=unix:/path, not "db1=unix:/a"`},
	"agent socket no sign":  {"agents: ['10.0.0.2unix:/a']\n" + smallest, `1:10: agents[0]: want unix:/path, or the member's address before it as in 10.0.0.2=unix:/path, not "10.0.0.2unix:/a"`},
	"agent twice":           {"agents: ['a:1', 'a:1']\n" + smallest, "1:17: agents[1]: a:1 is agents[0] already; each member needs an agent of its own"},
	"title of two lines":    {"title: |\n  a\n  b\n" + smallest, "1:8: title: want one line of text; description takes several"},
	"empty title":           {"title: ''\n" + smallest, "1:8: title: want text; without the key, the title is the file's name"},
	"bell":                  {"description: \"\\a\"\n" + smallest, "1:14: description: want text without control characters"},
}

// refused are documents that only Parse can refuse.
var refused = map[string]struct{ doc, want string }{
	"empty":          {"", "1:1: the file is empty; see configs/quickstart.yaml for an experiment"},
	"only a comment": {"# nothing\n", "1:1: the file is empty; see configs/quickstart.yaml for an experiment"},
	"no YAML":        {"workload: [1\n", "1:11: sequence end token ']' not found"},
	"tab":            {"workload:\n\toperation: write\n", `2:1: a tab cannot stand here; use spaces, or \t in double quotes`},
	"tab in text":    {"title: a\tb\n" + smallest, `1:8: a tab cannot stand here; use spaces, or \t in double quotes`},
	"not UTF-8":      {smallest + "title: \xff\n", "3:1: this line is not UTF-8 text"},
	"two documents":  {smallest + "---\n" + smallest, "3:1: a file holds one experiment; leave out --- and % lines"},
	"dropped":        {"---\n---\n" + smallest, "2:1: a file holds one experiment; leave out --- and % lines"},
	"after the end":  {smallest + "...\ntitle: a\n", "4:1: a file holds one experiment; leave out --- and % lines"},
	"directive":      {"%YAML 1.2\n---\n" + smallest, "1:1: a file holds one experiment; leave out --- and % lines"},
	"duplicate":      {"seed: 1\n" + smallest + "seed: 2\n", `4:1: duplicate key "seed"; it stands in line 1 already`},
	"anchor":         {"seed: &s 1\n" + smallest, "1:7: " + noAnchors},
	"merge":          {"workload: {operation: write, <<: {rate: 1}}\n" + aDatabase, "1:30: " + noAnchors},
	"tag":            {"title: !!str 5\n" + smallest, "1:8: tags such as !!str are not supported; put text in quotes"},
	"octal":          {"seed: 010\n" + smallest, "1:7: write the number 010 in decimal, as in 10 or 2.5, or put it in quotes if it is text"},
	"underscore":     {"seed: 1_0\n" + smallest, "1:7: write the number 1_0 in decimal, as in 10 or 2.5, or put it in quotes if it is text"},
	"infinite":       {"workload: {operation: write, rate: .inf}\n" + aDatabase, "1:36: infinity has no place in an experiment"},
	"deep":           {"a: " + strings.Repeat("[", 60_000), "1:54: values are nested more than 50 deep"},
	"deep lists":     {strings.Repeat("- ", 30_000), "1:101: values are nested more than 50 deep"},
	"large":          {"# " + strings.Repeat("x", 70_000), "1:1: 70002 bytes are too many for an experiment; at most 65536 are read"},
	"fewer requests than clients": {
		"workload: {operation: write, requests: 9, clients: [1, 10]}\n" + aDatabase,
		"1:40: workload.requests: want at least 10, one for each client of the largest step, not 9",
	},
	"no room for keys": {
		"workload: {operation: write, requests: 1000001, key: {size: 7}}\n" + aDatabase,
		"1:61: workload.key.size: want at least 8, a letter and the digits of 1000001 different keys, not 7",
	},
	"no room for warm-up keys": {
		"workload: {operation: write, requests: 1, warm_up: {requests: 11}, key: {size: 2}}\n" + aDatabase,
		"1:80: workload.key.size: want at least 3, a letter and the digits of 11 different keys, not 2",
	},
	"sequential read":         {"workload: {operation: read}\n" + aDatabase, "1:1: workload.key.order: want same for a read: one key is put first, then read; or state a key.space of keys to put first"},
	"mixed without a share":   {"workload: {operation: mixed, key: {order: same}}\n" + aDatabase, "1:1: workload.reads: missing; want the share of requests that read, such as 0.9"},
	"share of a write":        {"workload: {operation: write, reads: 0.9}\n" + aDatabase, "1:37: workload.reads: want 0, or no such key, for a write: only mixed has a share of reads"},
	"uniform without a space": {"workload: {operation: write, key: {order: uniform}}\n" + aDatabase, "1:30: workload.key.space: missing; want the number of keys that uniform ones are chosen from, such as 100000"},
	"space of the same key":   {"workload: {operation: write, key: {order: same, space: 5}}\n" + aDatabase, "1:56: workload.key.space: want 0, or no such key: with the order same there is one key"},
	"no room for the space":   {"workload: {operation: write, requests: 5, key: {size: 3, space: 101}}\n" + aDatabase, "1:55: workload.key.size: want at least 4, a letter and the digits of 101 different keys, not 3"},
	"no room for a duration":  {"workload: {operation: write, duration: 5s, key: {size: 8}}\n" + aDatabase, "1:56: workload.key.size: want at least 13, not 8: a duration does not tell how many keys there will be; a key.space would"},
	"no duration":             {"workload: {operation: write, duration: 0s}\n" + aDatabase, "1:40: workload.duration: want more than 0s, or leave out the key"},
	"short duration":          {"workload: {operation: write, duration: 5ms}\n" + aDatabase, "1:40: workload.duration: want 100ms to 168h0m0s, not 5ms"},
	"long warm-up":            {"workload: {operation: write, warm_up: {duration: 169h}}\n" + aDatabase, "1:50: workload.warm_up.duration: want 100ms to 168h0m0s, not 169h0m0s"},
	"two ladders":             {"workload: {operation: write, clients: [1, 2], rate: [5, 6]}\n" + aDatabase, "1:47: workload.rate: want one rate, or one number of clients; a ladder has steps of the one or the other"},
	"arrivals of no rate":     {"workload: {operation: write, arrival: poisson}\n" + aDatabase, "1:39: workload.arrival: want a rate with it: in a closed loop nothing arrives, a client sends when it has its answer"},
	"inherited ladder": {
		"workload: {operation: write, rate: [5, 6]}\ndatabases: [{name: a, kind: etcd, installation: embedded, workload: {clients: [1, 2]}}]\n",
		"1:30: databases[0].workload.rate: want one rate, or one number of clients; a ladder has steps of the one or the other",
	},
	"oneshot connections":  {"workload: {operation: read-oneshot, connections: 5, key: {order: same}}\n" + aDatabase, "1:50: workload.connections: want 0: read-oneshot opens a connection for each read"},
	"timeout out of range": {"workload: {operation: write, timeout: 2h}\n" + aDatabase, "1:39: workload.timeout: want 1ms to 1h0m0s, not 2h0m0s"},
	"port out of range":    {"agents: ['a:65536']\n" + smallest, `1:10: agents[0]: want host:port such as 10.0.0.2:3500, not "a:65536"`},
	"database twice": {
		aWorkload + "databases: [{name: a, kind: etcd, installation: embedded}, {name: A, kind: etcd, installation: embedded}]\n",
		`2:67: databases[1].name: "A" is databases[0] already; give each its own name`,
	},
	"inherited and own do not fit": {
		"workload: {operation: write, requests: 9}\ndatabases: [{name: a, kind: etcd, installation: embedded, workload: {clients: 10}}]\n",
		"1:40: databases[0].workload.requests: want at least 10, one for each client of the largest step, not 9",
	},
}

func TestParseRefuses(t *testing.T) {
	for _, table := range []map[string]struct{ doc, want string }{refusedByBoth, refused} {
		for name, test := range table {
			t.Run(name, func(t *testing.T) {
				_, err := Parse("x.yaml", []byte(test.doc), nil)
				if _, ok := errors.AsType[*Error](err); !ok {
					t.Fatalf("got %v, want an *Error", err)
				}
				if got, want := err.Error(), "x.yaml:"+test.want; got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			})
		}
	}
}

func TestAllMistakesAtOnceInTheOrderOfTheFile(t *testing.T) {
	const doc = `seed: x
workload:
  request: 5
  requests: 2
  requests: 3
  clients: [5, 0]
databases:
  - {name: a/b, kind: etcd, installation: embedded, workload: {rate: -1}}
`
	const want = `x y.yaml:1:7: seed: want a whole number, not the text "x"
x y.yaml:2:1: workload.operation: missing; want one of write, read, read-oneshot, mixed
x y.yaml:3:3: workload.request: unknown key; did you mean "requests"?
x y.yaml:4:13: workload.requests: want at least 5, one for each client of the largest step, not 2
x y.yaml:5:3: duplicate key "requests"; it stands in line 4 already
x y.yaml:6:16: workload.clients[1]: want 1 to 100000, not 0
x y.yaml:8:12: databases[0].name: want at most 100 letters, digits, '.', '_' and '-', the first a letter or digit, not "a/b"
x y.yaml:8:70: databases[0].workload.rate: want 0 for a closed loop, or requests per second up to 1000000000, not -1
--set title=1: title: want text, not 1
x y.yaml: the experiment would be called "x y"; rename the file to letters, digits, '.', '_' and '-', the first a letter or digit, ending in .yaml`
	_, err := Parse("x y.yaml", []byte(doc), []string{"title=1"})
	if err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
