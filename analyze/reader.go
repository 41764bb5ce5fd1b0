package analyze

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/dbtester/dbtester/internal/hist"
	"github.com/dbtester/dbtester/result"
)

// need says what it means when a file is not there.
type need int

const (
	perSecond  need = iota // written while the load runs: a complete run has it
	atEnd                  // written after the load: only the figures in it are lost
	ifComplete             // like atEnd, and a run cut short need not mention it
)

// A reader reads the files of one database.
type reader struct {
	*findings
	// cutShort: the run did not complete, so missing files and a half last
	// line are to be expected.
	cutShort bool
}

// missing files an error of opening a file by how much it is needed.
func (r *reader) missing(path string, err error, n need) {
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		r.fail(fmt.Errorf("read result file: %w", err))
	case n == perSecond:
		r.judge(fmt.Errorf("%s is missing: its figures are not known", path), r.cutShort)
	case n == atEnd || !r.cutShort:
		r.warnf("%s is missing: its figures are not known", path)
	}
}

// readTable returns the readable rows of a file. A line that cannot be read is
// an error, and reading goes on after it.
func readTable[R result.Row](r *reader, path string, n need) []R {
	data, half, err := wholeLines(path)
	if err != nil {
		r.missing(path, err, n)
		return nil
	}
	if half != nil {
		r.judge(half, r.cutShort)
	}
	if len(data) == 0 {
		if half == nil {
			r.judge(&result.SyntaxError{File: path, Err: errors.New("the file is empty: it has no header")}, r.cutShort)
		}
		return nil
	}
	return parseTable[R](r.findings, data, path)
}

func parseTable[R result.Row](f *findings, data []byte, path string) []R {
	header, passed := firstLine(data), 0
	if err := checkHeader[R](header, path); err != nil {
		f.fail(err)
		return nil
	}
	var all []R
	for range maxSyntaxErrors {
		rows, err := result.ParseTable[R](bytes.NewReader(data), path)
		all = append(all, rows...)
		var syntax *result.SyntaxError
		if !errors.As(err, &syntax) || syntax.Line <= 1 {
			f.fail(err)
			return all
		}
		rest := afterLine(data, syntax.Line)
		passed += syntax.Line - 1
		at := *syntax
		at.Line = passed + 1
		f.fail(&at)
		if len(rest) == 0 {
			return all
		}
		// The line after the bad one becomes line 2, below the header.
		data = slices.Concat(header, rest)
	}
	f.fail(fmt.Errorf("%s: more than %d lines cannot be read: the rest of the file is left out", path, maxSyntaxErrors))
	return all
}

// checkHeader finds a header that lacks columns before every line below it
// looks wrong.
func checkHeader[R result.Row](header []byte, path string) error {
	names, err := csv.NewReader(bytes.NewReader(header)).Read()
	if err != nil {
		return &result.SyntaxError{File: path, Line: 1, Err: err}
	}
	missing := result.MissingColumns[R](names)
	if len(missing) > 0 {
		return &result.SyntaxError{File: path, Line: 1, Err: fmt.Errorf("the header lacks the columns %q", missing)}
	}
	return nil
}

// hasColumn reports whether the file's header has the column.
func hasColumn(path, column string) bool {
	data, _, err := wholeLines(path)
	if err != nil || len(data) == 0 {
		return false
	}
	names, err := csv.NewReader(bytes.NewReader(firstLine(data))).Read()
	return err == nil && slices.Contains(names, column)
}

// readHistograms calls fn for each interval of the histogram log at path, and
// goes on after a line that cannot be read.
func (r *reader) readHistograms(path string, fn func(hist.Interval)) {
	data, half, err := wholeLines(path)
	if err != nil {
		r.missing(path, err, perSecond)
		return
	}
	if half != nil {
		r.judge(half, r.cutShort)
	}
	passed := 0
	for range maxSyntaxErrors {
		err := hist.ReadLog(bytes.NewReader(data), fn)
		var line *hist.LogError
		if !errors.As(err, &line) {
			r.fail(err)
			return
		}
		passed += line.Line
		r.fail(&result.SyntaxError{File: path, Line: passed, Err: line.Err})
		data = afterLine(data, line.Line)
	}
	r.fail(fmt.Errorf("%s: more than %d lines cannot be read: the rest of the file is left out", path, maxSyntaxErrors))
}

// readSummary returns the summary, or nil without one.
func (r *reader) readSummary(path string) *result.Summary {
	data, half, err := wholeLines(path)
	if err != nil {
		r.missing(path, err, ifComplete)
		return nil
	}
	if half != nil {
		r.judge(half, r.cutShort)
	}
	summary, err := result.ParseSummary(bytes.NewReader(data), path)
	if err != nil {
		r.fail(err)
		return nil
	}
	return &summary
}
