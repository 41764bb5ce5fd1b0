package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// An Error is one mistake in an experiment: where it stands, what is wrong and
// what to write instead.
type Error struct {
	// File is the experiment's file, or "--set path=value" if an override is
	// to blame. It is empty if the experiment was not read from a file.
	File string
	// Line and Column are 1 for the first, and 0 if the whole File is meant.
	Line, Column int
	// Path leads to the value: "databases[0].workload.clients". It is empty if
	// the whole document is meant.
	Path string
	Msg  string
}

// Error returns "write-1M.yaml:12:5: workload.requests: what is wrong".
func (e *Error) Error() string {
	msg := e.Msg
	if e.Path != "" {
		msg = e.Path + ": " + msg
	}
	if at := e.position().String(); at != "" {
		msg = at + ": " + msg
	}
	return msg
}

func (e *Error) position() position {
	return position{file: e.File, line: e.Line, column: e.Column}
}

// A position is where a value comes from. The zero value is nowhere.
type position struct {
	file         string // or the flag
	line, column int    // 0 if from a flag
}

// String returns what editors jump to, "file:line:column".
func (p position) String() string {
	if p.line == 0 {
		return p.file
	}
	return fmt.Sprintf("%s:%d:%d", p.file, p.line, p.column)
}

// errorf makes an error of what is at p.
func (p position) errorf(path, format string, args ...any) *Error {
	return &Error{File: p.file, Line: p.line, Column: p.column, Path: path, Msg: fmt.Sprintf(format, args...)}
}

// join makes one error of all, those of the file first and in its order; nil
// if there are none.
func join(problems []*Error) error {
	sorted := slices.Clone(problems)
	slices.SortStableFunc(sorted, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.order(), b.order()), cmp.Compare(a.Column, b.Column))
	})
	errs := make([]error, len(sorted))
	for i, p := range sorted {
		errs[i] = p
	}
	return errors.Join(errs...)
}

// order puts errors by line, and those without one last.
func (e *Error) order() int {
	if e.Line == 0 {
		return math.MaxInt
	}
	return e.Line
}
