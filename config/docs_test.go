package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	schemaFile = "../docs/experiment.schema.json"
	docFile    = "../docs/config.md"
)

// keyDefaults returns every key that the structs have, as the manual writes it,
// with its default as JSON; "" if it has none.
func keyDefaults(t *testing.T) map[string]string {
	t.Helper()
	keys := map[string]string{}
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		for i := range v.NumField() {
			name := jsonName(v.Type().Field(i))
			if name == "" {
				continue
			}
			key, field := below(path, name), v.Field(i)
			switch {
			case field.Kind() == reflect.Struct && path == "databases[]":
				keys[key] = "" // a workload like the experiment's
			case field.Kind() == reflect.Struct:
				keys[key] = ""
				walk(key, field)
			case name == "databases":
				keys[key] = ""
				walk(key+"[]", reflect.ValueOf(Database{}))
			case field.Kind() == reflect.Slice && field.Len() == 0, field.Kind() == reflect.String && field.Len() == 0:
				keys[key] = ""
			default:
				keys[key] = strings.TrimPrefix(atPath(t, v.Interface(), name), "null")
			}
		}
	}
	e := newExperiment("")
	walk("", reflect.ValueOf(*e))
	return keys
}

func TestTheManualKnowsEveryKeyAndDefault(t *testing.T) {
	doc, err := os.ReadFile(docFile)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	rows := regexp.MustCompile("(?m)^\\| `((?:title|description|agents|seed|workload|databases)[^`]*)` \\| .*? \\| ([^|]*) \\| .* \\| `([^`]*)` \\|$")
	for _, row := range rows.FindAllStringSubmatch(string(doc), -1) {
		key, byDefault, example := row[1], row[2], row[3]
		got[key] = ""
		if word, ok := strings.CutPrefix(byDefault, "`"); ok {
			got[key] = strings.TrimSuffix(word, "`")
		}
		name, value, _ := strings.Cut(example, ": ")
		if name != key[strings.LastIndex(key, ".")+1:] {
			t.Errorf("the example of %s is %q, want its own key", key, example)
		}
		company := map[string][]string{
			"workload.reads":   {"workload.operation=mixed", "workload.key.order=same"},
			"workload.arrival": {"workload.rate=1000"},
		}[key]
		sets := slices.Concat(company, []string{"workload.requests=1000000"})
		sets = append(sets, strings.ReplaceAll(key, "[]", "[0]")+"="+value)
		if _, err := Parse("x.yaml", []byte(smallest), sets); err != nil && key != "workload" {
			t.Errorf("the example of %s is refused: %v", key, err)
		}
	}
	want := keyDefaults(t)
	for key, value := range want { // the manual writes words without JSON's quotes
		want[key] = strings.Trim(value, `"`)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-the structs +the manual):\n%s", docFile, diff)
	}
}

func TestTheManualsExampleIsAnExperiment(t *testing.T) {
	doc, err := os.ReadFile(docFile)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	if _, err := Parse("x.yaml", []byte(example), nil); err != nil {
		t.Error(err)
	}
	if !accepts(t, schema(t), []byte(example)) {
		t.Error("the schema refuses the example")
	}
}

func TestTheSchemaKnowsEveryKeyAndDefault(t *testing.T) {
	data, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	type property struct {
		Ref         string `json:"$ref"`
		Description string
		Default     json.RawMessage
		Additional  *bool `json:"additionalProperties"`
		Properties  map[string]json.RawMessage
		Items       json.RawMessage
		Defs        map[string]json.RawMessage `json:"$defs"`
	}
	var root property
	got := map[string]string{}
	var walk func(path string, raw json.RawMessage)
	walk = func(path string, raw json.RawMessage) {
		var p property
		if err := json.Unmarshal(raw, &p); err != nil {
			t.Fatal(err)
		}
		if path != "" && !strings.HasSuffix(path, "[]") {
			var b bytes.Buffer
			if len(p.Default) > 0 {
				if err := json.Compact(&b, p.Default); err != nil {
					t.Fatal(err)
				}
			}
			got[path] = b.String()
			if p.Description == "" {
				t.Errorf("%s has no description", path)
			}
		}
		if name, ok := strings.CutPrefix(p.Ref, "#/$defs/"); ok && path == "workload" {
			if err := json.Unmarshal(root.Defs[name], &p); err != nil {
				t.Fatal(err)
			}
		}
		if len(p.Properties) > 0 && (p.Additional == nil || *p.Additional) {
			t.Errorf("%s allows keys it does not know", path)
		}
		for _, name := range slices.Sorted(maps.Keys(p.Properties)) {
			walk(below(path, name), p.Properties[name])
		}
		if path == "databases" {
			walk(path+"[]", p.Items)
		}
	}
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	walk("", data)
	if diff := cmp.Diff(keyDefaults(t), got); diff != "" {
		t.Errorf("%s (-the structs +the schema):\n%s", schemaFile, diff)
	}
}

func TestTheSchemaHasTheLimits(t *testing.T) {
	s := schema(t)
	for key, highest := range map[string]float64{
		"requests": MaxRequests, "clients": MaxClients, "connections": MaxClients, "rate": MaxRate,
		"key.size": MaxKeySize, "key.space": MaxSpace, "key.skew": MaxSkew, "value.size": MaxValueSize, "warm_up.requests": MaxRequests,
		"value.compressible": 1,
	} {
		for excess, want := range map[float64]bool{0: true, 1: false} {
			doc := fmt.Sprintf("%s%s", aDatabase, nested("workload."+key, fmt.Sprintf("%.0f", highest+excess)))
			if got := accepts(t, s, []byte(doc)); got != want {
				t.Errorf("the schema accepts %.0f for %s: %v, want %v", highest+excess, key, got, want)
			}
		}
	}
}

// nested writes a workload with one more key than it needs.
func nested(path, value string) string {
	parts := strings.Split(path, ".")
	doc := value
	for _, name := range slices.Backward(parts[1:]) {
		doc = "{" + name + ": " + doc + "}"
	}
	return "workload: {operation: write, " + strings.TrimPrefix(doc, "{") + "\n"
}

func TestTheSchemaRefusesWhatParseRefuses(t *testing.T) {
	s := schema(t)
	for name, test := range refusedByBoth {
		if accepts(t, s, []byte(test.doc)) {
			t.Errorf("%s: the schema accepts\n%s", name, test.doc)
		}
	}
	for _, doc := range []string{smallest, compared, pair, everything} {
		if !accepts(t, s, []byte(doc)) {
			t.Errorf("the schema refuses\n%s", doc)
		}
		effective, err := json.Marshal(mustParse(t, doc))
		if err != nil {
			t.Fatal(err)
		}
		if !accepts(t, s, effective) {
			t.Errorf("the schema refuses the effective\n%s", effective)
		}
	}
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// accepts reads the document as an editor does, not as this package does.
func accepts(t *testing.T, s *jsonschema.Schema, doc []byte) bool {
	t.Helper()
	var read any
	if err := yaml.Unmarshal(doc, &read); err != nil {
		t.Fatalf("%v in\n%s", err, doc)
	}
	data, err := json.Marshal(read)
	if err != nil {
		t.Fatalf("%v in\n%s", err, doc)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%v in\n%s", err, doc)
	}
	err = s.Validate(v)
	if err != nil && testing.Verbose() {
		t.Logf("%v", err)
	}
	return err == nil
}

func TestConfigs(t *testing.T) {
	files, err := filepath.Glob("../configs/*")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../configs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	s := schema(t)
	for _, file := range files {
		name := filepath.Base(file)
		if name == "README.md" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			e, err := Load(file, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !accepts(t, s, data) {
				t.Error("the schema refuses it")
			}
			if !strings.HasPrefix(string(data), "# yaml-language-server: $schema=../docs/experiment.schema.json\n") {
				t.Error("its first line does not name the schema")
			}
			if e.Title == e.Name || e.Description == "" {
				t.Error("it has no title or no description")
			}
			if !strings.Contains(string(readme), name+"`") {
				t.Error("configs/README.md does not name it")
			}
			title := regexp.MustCompile(`(?m)^\| (.*) \| .*/` + regexp.QuoteMeta(name) + "`").FindSubmatch(readme)
			if title != nil && !strings.HasPrefix(string(title[1]), "etcd's ") && !strings.HasPrefix(e.Title, string(title[1])) {
				t.Errorf("its title is %q, and configs/README.md says %q", e.Title, title[1])
			}
			small := mustParse(t, string(data), "workload.requests=1000")
			for _, d := range small.Databases {
				if d.Workload.Requests != 1000 {
					t.Errorf("%s has %d requests, want the 1000 of --set", d.Name, d.Workload.Requests)
				}
			}
			written, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			if diff := same(e, mustParseAs(t, name, written)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, named := range regexp.MustCompile("configs/[^ `]*yaml").FindAllString(string(readme), -1) {
		if !slices.Contains(files, "../"+named) {
			t.Errorf("configs/README.md names %s, which is not there", named)
		}
	}
}

func mustParseAs(t *testing.T, name string, data []byte) *Experiment {
	t.Helper()
	e, err := Parse(name, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
