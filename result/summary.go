package result

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Summary is the whole load of one database in a few figures: the file has one
// line NAME,VALUE each and, below them, one ERROR line per kind of error.
type Summary struct {
	TotalSeconds      Number // length of the measured window, summed over stages
	RequestsPerSecond Number // ok requests ÷ TotalSeconds
	SlowestLatency    Number // milliseconds of service time, as the ones below
	FastestLatency    Number
	AverageLatency    Number
	StdDevLatency     Number

	Attempted     int64 // = OK + Failed + Indeterminate
	OK            int64
	Failed        int64
	Indeterminate int64
	Unsent        int64
	Errors        []ErrorCount
}

// ErrorCount counts the requests that ended with one kind of error.
type ErrorCount struct {
	Message       string // without key, port or address in it
	Indeterminate bool   // the request may have been applied
	Count         int64
}

const (
	errorPrefix         = "ERROR: "
	indeterminatePrefix = "ERROR (INDETERMINATE): "
)

// A summaryField binds a line's name to its field.
type summaryField struct {
	name   string
	figure *Number
	count  *int64
}

func (s *Summary) fields() []summaryField {
	return []summaryField{
		{name: "TOTAL-SECONDS", figure: &s.TotalSeconds},
		{name: "REQUESTS-PER-SECOND", figure: &s.RequestsPerSecond},
		{name: "SLOWEST-LATENCY-MS", figure: &s.SlowestLatency},
		{name: "FASTEST-LATENCY-MS", figure: &s.FastestLatency},
		{name: "AVERAGE-LATENCY-MS", figure: &s.AverageLatency},
		{name: "STDDEV-LATENCY-MS", figure: &s.StdDevLatency},
		{name: "ATTEMPTED", count: &s.Attempted},
		{name: "OK", count: &s.OK},
		{name: "FAILED", count: &s.Failed},
		{name: "INDETERMINATE", count: &s.Indeterminate},
		{name: "UNSENT", count: &s.Unsent},
	}
}

// WriteSummary replaces the file at path in one step.
func WriteSummary(path string, s Summary) error {
	var records [][]string
	for _, f := range s.fields() {
		value := ""
		if f.count != nil {
			value = strconv.FormatInt(*f.count, 10)
		} else if text, err := f.figure.MarshalText(); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		} else {
			value = string(text)
		}
		records = append(records, []string{f.name, value})
	}
	for _, e := range s.Errors {
		prefix := errorPrefix
		if e.Indeterminate {
			prefix = indeterminatePrefix
		}
		records = append(records, []string{prefix + strconv.Quote(e.Message), strconv.FormatInt(e.Count, 10)})
	}
	file, err := os.Create(filepath.Clean(path + ".tmp"))
	if err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	if err := errors.Join(csv.NewWriter(file).WriteAll(records), file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(path+".tmp", path)
}

// ReadSummary reads what WriteSummary wrote. Lines with a name this version
// does not know are ignored.
func ReadSummary(path string) (Summary, error) {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return Summary{}, fmt.Errorf("read result file: %w", err)
	}
	defer file.Close()
	return ParseSummary(file, path)
}

// ParseSummary is ReadSummary on an open file; name stands in its errors.
func ParseSummary(r io.Reader, name string) (Summary, error) {
	var s Summary
	lines := csv.NewReader(r)
	lines.FieldsPerRecord = 2
	for {
		record, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return s, syntaxError(name, lines, err)
		}
		if err := s.set(record[0], record[1]); err != nil {
			line, _ := lines.FieldPos(0)
			return s, &SyntaxError{File: name, Line: line, Column: record[0], Err: err}
		}
	}
}

// set takes one line into s.
func (s *Summary) set(name, value string) error {
	for _, f := range s.fields() {
		switch {
		case f.name != name:
		case f.figure != nil:
			return f.figure.UnmarshalText([]byte(value))
		default:
			return setCount(f.count, value)
		}
	}
	message, indeterminate := strings.CutPrefix(name, indeterminatePrefix)
	if !indeterminate {
		var isError bool
		if message, isError = strings.CutPrefix(name, errorPrefix); !isError {
			return nil
		}
	}
	text, err := strconv.Unquote(message)
	if err != nil {
		return fmt.Errorf("%s is not a quoted message: %w", message, err)
	}
	e := ErrorCount{Message: text, Indeterminate: indeterminate}
	if err := setCount(&e.Count, value); err != nil {
		return err
	}
	s.Errors = append(s.Errors, e)
	return nil
}

func setCount(n *int64, value string) error {
	v, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return fmt.Errorf("%q is not a whole number", value)
	}
	*n = v
	return nil
}
