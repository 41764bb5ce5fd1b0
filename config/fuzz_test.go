package config

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// unwrap returns the errors that err joins.
func unwrap(err error) []error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return all.Unwrap()
	}
	return []error{err}
}

// FuzzParse: nothing panics, all errors are ours, and what is accepted is valid
// and survives being written and read.
func FuzzParse(f *testing.F) {
	f.Add([]byte(smallest), "workload.requests=5")
	f.Add([]byte(compared), "databases[other].workload.key={size: 9}")
	f.Add([]byte(everything), "workload.requests=5")
	f.Add([]byte(everything), "databases[counted].workload.warm_up.duration=5s")
	f.Add([]byte("a: &x [*x]\n---\n? b\n: !!str |\n  c"), "databases[0]=1")
	files, err := filepath.Glob("../configs/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "title=x")
	}
	f.Fuzz(func(t *testing.T, data []byte, override string) {
		e, err := Parse("test.yaml", data, []string{override})
		if err != nil {
			for _, one := range unwrap(err) {
				var known *Error
				if !errors.As(one, &known) || known.File == "" || known.Msg == "" {
					t.Errorf("%#v is not a whole *Error", one)
				}
			}
			return
		}
		if err := e.Validate(); err != nil {
			t.Errorf("Parse accepted what Validate does not: %v", err)
		}
		written, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("test.yaml", written, nil)
		if err != nil {
			t.Fatalf("%s\n%v", written, err)
		}
		if diff := same(e, again); diff != "" {
			t.Errorf("%s\n(-want +got):\n%s", written, diff)
		}
	})
}
