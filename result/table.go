package result

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/jszwec/csvutil"
)

// A Row is one of the row types of this package.
type Row interface {
	TimeseriesRow | PercentileRow | DistributionRow | ByKeyRow | DiskSpaceRow | SystemRow
}

// Header returns the columns of a row type, in file order.
func Header[R Row]() []string {
	var row R
	header, err := csvutil.Header(row, "csv")
	if err != nil {
		panic(err) //nolint:forbidigo // cannot happen: the row types are fixed, and a test encodes each
	}
	return header
}

// A Table appends rows to one CSV file. Each row is in the file when Append
// returns, so that whatever ends the process later leaves it readable.
// Not safe for concurrent use.
type Table[R Row] struct {
	file    io.WriteCloser
	csv     *csv.Writer
	encoder *csvutil.Encoder
	path    string
}

// CreateTable makes the file and writes its header. A file that is already
// there is an error: no result is ever overwritten.
func CreateTable[R Row](path string) (*Table[R], error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create result file: %w", err)
	}
	t, err := newTable[R](file, path)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return t, nil
}

func newTable[R Row](file io.WriteCloser, path string) (*Table[R], error) {
	w := csv.NewWriter(file)
	t := &Table[R]{file: file, csv: w, encoder: csvutil.NewEncoder(w), path: path}
	t.encoder.AutoHeader = false
	if err := t.encoder.EncodeHeader(*new(R)); err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return t, t.flush()
}

// Append writes rows and flushes them to the file.
func (t *Table[R]) Append(rows ...R) error {
	for _, row := range rows {
		if err := t.encoder.Encode(row); err != nil {
			return fmt.Errorf("write %s: %w", t.path, err)
		}
	}
	return t.flush()
}

func (t *Table[R]) flush() error {
	t.csv.Flush()
	if err := t.csv.Error(); err != nil {
		return fmt.Errorf("write %s: %w", t.path, err)
	}
	return nil
}

// Close closes the file.
func (t *Table[R]) Close() error {
	if err := t.file.Close(); err != nil {
		return fmt.Errorf("close %s: %w", t.path, err)
	}
	return nil
}

// WriteTable writes a whole file at once.
func WriteTable[R Row](path string, rows []R) error {
	t, err := CreateTable[R](path)
	if err != nil {
		return err
	}
	return errors.Join(t.Append(rows...), t.Close())
}

// ReadTable returns the rows of a file. When a line cannot be read the rows
// before it come back together with a [SyntaxError]. Columns this version does
// not know are ignored; a column it needs and the file lacks is an error.
func ReadTable[R Row](path string) ([]R, error) {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, fmt.Errorf("read result file: %w", err)
	}
	defer file.Close()
	return ParseTable[R](file, path)
}

// ParseTable is ReadTable on an open file; name stands in its errors.
func ParseTable[R Row](r io.Reader, name string) ([]R, error) {
	cells := csv.NewReader(r)
	decoder, err := csvutil.NewDecoder(cells)
	if errors.Is(err, io.EOF) {
		return nil, &SyntaxError{File: name, Err: errors.New("the file is empty: it has no header")}
	} else if err != nil {
		return nil, syntaxError(name, cells, err)
	}
	if missing := MissingColumns[R](decoder.Header()); len(missing) > 0 {
		return nil, &SyntaxError{File: name, Line: 1, Err: fmt.Errorf("the header lacks the columns %q", missing)}
	}
	unknown := UnknownRow[R]()
	var rows []R
	for {
		row := unknown
		err := decoder.Decode(&row)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, syntaxError(name, cells, err)
		}
		rows = append(rows, row)
	}
}

// MissingColumns returns the columns a file with that header must have and lacks.
func MissingColumns[R Row](header []string) []string {
	var missing []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[R]()) {
		name := field.Tag.Get("csv")
		if field.Tag.Get("added") == "" && !slices.Contains(header, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// UnknownRow returns a row whose figures are all gaps: those of the columns that a
// file lacks stay so.
func UnknownRow[R Row]() R {
	var row R
	for _, field := range reflect.ValueOf(&row).Elem().Fields() {
		if field.Type() == reflect.TypeFor[Number]() {
			field.SetFloat(float64(Gap()))
		}
	}
	return row
}

// syntaxError finds the place of a decoding error.
func syntaxError(name string, cells *csv.Reader, err error) error {
	var cell *csvutil.DecodeError
	var line *csv.ParseError
	switch {
	case errors.As(err, &cell):
		return &SyntaxError{File: name, Line: cell.Line, Column: cell.Field, Err: cell.Err}
	case errors.As(err, &line):
		return &SyntaxError{File: name, Line: line.Line, Column: fmt.Sprint(line.Column), Err: line.Err}
	default:
		at, _ := cells.FieldPos(0)
		return &SyntaxError{File: name, Line: at, Err: err}
	}
}
