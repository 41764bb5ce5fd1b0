package database_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbtester/dbtester/database"
)

type testOptions struct {
	Count  int                        `json:"count"`
	Name   string                     `json:"name,omitempty"`
	Flags  map[string]json.RawMessage `json:"flags"`
	Hidden string                     `json:"-"`
	Plain  string
}

func TestDecodeOptions(t *testing.T) {
	start := testOptions{Count: 7, Hidden: "kept", Plain: "kept"}
	tests := []struct {
		name, options string
		want          testOptions
	}{
		{"nothing", ``, start},
		{"null", `null`, start},
		{"empty", `{}`, start},
		{"one of them", `{"name": "x"}`, testOptions{Count: 7, Name: "x", Hidden: "kept", Plain: "kept"}},
		{"zero is a value", `{"count": 0}`, testOptions{Hidden: "kept", Plain: "kept"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := start
			err := database.DecodeOptions(json.RawMessage(tt.options), &got)
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestDecodeOptionsRefuses(t *testing.T) {
	tests := []struct {
		name, options string
		path, text    string
	}{
		{"a list", `[1]`, "", "options: want a mapping"},
		{"a number", `1`, "", "options: want a mapping"},
		{"cut off", `{"count": 1`, "", "options: want a mapping"},
		{"two values", `{} {}`, "", "options: want a mapping"},
		{"unknown", `{"conut": 1}`, "conut", "options.conut: unknown option; known are count, flags, name"},
		{"another case", `{"Count": 1}`, "Count", "options.Count: unknown option"},
		{"field without a tag", `{"Plain": "x"}`, "Plain", "options.Plain: unknown option"},
		{"hidden field", `{"Hidden": "x"}`, "Hidden", "options.Hidden: unknown option"},
		{"the first of two unknown", `{"b": 1, "a": 1}`, "a", "options.a: unknown option"},
		{"wrong type", `{"count": "many"}`, "count", "options.count: want int, not string"},
		{"fraction", `{"count": 1.5}`, "count", "options.count: want int, not number 1.5"},
		{"wrong type of a mapping", `{"flags": []}`, "flags", "options.flags: want map"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var into testOptions
			err := database.DecodeOptions(json.RawMessage(tt.options), &into)
			var option *database.OptionError
			if !errors.As(err, &option) {
				t.Fatalf("got %v, want an option error", err)
			}
			if option.Path != tt.path || !strings.HasPrefix(err.Error(), tt.text) {
				t.Errorf("got path %q, %q, want path %q, %q", option.Path, err, tt.path, tt.text)
			}
		})
	}
}

func TestOptionErrorUnwraps(t *testing.T) {
	cause := errors.New("cause")
	if err := error(&database.OptionError{Path: "x", Err: cause}); !errors.Is(err, cause) {
		t.Errorf("%v does not wrap its cause", err)
	}
}

// FuzzDecodeOptions checks that what is refused is an option error, and that
// what is accepted decodes to the same again.
func FuzzDecodeOptions(f *testing.F) {
	for _, seed := range []string{``, `null`, `{}`, `{"count": 1}`, `{"flags": {"a": [1]}}`, `{"count": 1e3}`, `[`, `{"": 1}`, `{"count":1,"count":"x"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var first, second testOptions
		if err := database.DecodeOptions(raw, &first); err != nil {
			if _, ok := errors.AsType[*database.OptionError](err); !ok {
				t.Errorf("%q: got %v, want an option error", raw, err)
			}
			return
		}
		again, err := json.Marshal(map[string]any{"count": first.Count, "name": first.Name, "flags": first.Flags})
		if err != nil {
			t.Fatal(err)
		}
		if err := database.DecodeOptions(again, &second); err != nil {
			t.Fatalf("%q accepted, but %q not: %v", raw, again, err)
		}
		if first.Count != second.Count || first.Name != second.Name || len(first.Flags) != len(second.Flags) {
			t.Errorf("%q: got %+v, then %+v", raw, first, second)
		}
	})
}
