package database

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// An OptionError is an option a driver does not accept. Path leads to it from
// the experiment's options key: "snapshot_count", "flags.max-txn-ops"; it is
// empty if the options as a whole are meant. Whoever knows the file adds line
// and column.
type OptionError struct {
	Path string
	Err  error
}

// Error names the option and the cause.
func (e *OptionError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("options: %v", e.Err)
	}
	return fmt.Sprintf("options.%s: %v", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *OptionError) Unwrap() error { return e.Err }

// DecodeOptions fills the struct that into points to, whose fields have json
// tags. A key the struct has not, or a value of another type, is an
// [OptionError]. What is not named keeps its value.
func DecodeOptions(options json.RawMessage, into any) error {
	if len(options) == 0 || string(options) == "null" {
		return nil
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(options, &given); err != nil {
		return &OptionError{Err: errors.New("want a mapping of option names to values")}
	}
	known := optionNames(reflect.TypeOf(into).Elem())
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, name) {
			return &OptionError{Path: name, Err: fmt.Errorf("unknown option; known are %s", strings.Join(known, ", "))}
		}
	}
	err := json.Unmarshal(options, into)
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return &OptionError{Path: kind.Field, Err: fmt.Errorf("want %s, not %s", kind.Type, kind.Value)}
	} else if err != nil {
		return &OptionError{Err: err}
	}
	return nil
}

// optionNames returns the json names of a struct's fields, sorted.
func optionNames(t reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
