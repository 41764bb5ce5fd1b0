package result

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
)

// A FigureTable appends rows to a file of a member's own figures, like a
// [Table]: each row is in the file when Append returns. Its columns depend on
// the store. Not safe for concurrent use.
type FigureTable struct {
	figures []Figure
	file    io.WriteCloser
	csv     *csv.Writer
	path    string
}

// CreateFigures makes the file and writes its header. A file that is already
// there is an error.
func CreateFigures(path string, figures []Figure) (*FigureTable, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create result file: %w", err)
	}
	t := &FigureTable{figures: figures, file: file, csv: csv.NewWriter(file), path: path}
	if err := t.write(FiguresHeader(figures)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return t, nil
}

// Append writes rows and flushes them to the file.
func (t *FigureTable) Append(rows ...FigureRow) error {
	for _, row := range rows {
		cells, err := t.cells(row)
		if err != nil {
			return fmt.Errorf("write %s: %w", t.path, err)
		}
		if err := t.write(cells); err != nil {
			return err
		}
	}
	return nil
}

func (t *FigureTable) cells(row FigureRow) ([]string, error) {
	if len(row.Values) != len(t.figures) {
		return nil, fmt.Errorf("a row of %d figures, want %d", len(row.Values), len(t.figures))
	}
	cells := []string{strconv.FormatInt(row.UnixNanosecond, 10), strconv.FormatInt(row.UnixSecond, 10)}
	for i := range row.Values {
		numbers, buckets := row.Values[i].numbers(t.figures[i].Kind)
		for _, number := range numbers {
			text, err := number.MarshalText()
			if err != nil {
				return nil, err
			}
			cells = append(cells, string(text))
		}
		if buckets != nil {
			text, err := buckets.MarshalText()
			if err != nil {
				return nil, err
			}
			cells = append(cells, string(text))
		}
	}
	return cells, nil
}

func (t *FigureTable) write(cells []string) error {
	if err := errors.Join(t.csv.Write(cells), flush(t.csv)); err != nil {
		return fmt.Errorf("write %s: %w", t.path, err)
	}
	return nil
}

func flush(w *csv.Writer) error {
	w.Flush()
	return w.Error()
}

// Close closes the file.
func (t *FigureTable) Close() error {
	if err := t.file.Close(); err != nil {
		return fmt.Errorf("close %s: %w", t.path, err)
	}
	return nil
}

// ParseFigures reads a file of these figures; name stands in its errors. When a
// line cannot be read the rows before it come back together with a
// [SyntaxError]. A figure whose columns the file lacks is a gap, and columns
// that belong to none of the figures are ignored.
func ParseFigures(r io.Reader, name string, figures []Figure) ([]FigureRow, error) {
	lines := csv.NewReader(r)
	lines.ReuseRecord = true
	header, err := lines.Read()
	if errors.Is(err, io.EOF) {
		return nil, &SyntaxError{File: name, Err: errors.New("the file is empty: it has no header")}
	} else if err != nil {
		return nil, syntaxError(name, lines, err)
	}
	header = slices.Clone(header)
	p := figureParser{name: name, header: header, figures: figures}
	for _, f := range figures {
		p.first = append(p.first, slices.Index(header, f.Columns()[0]))
	}
	if times := FiguresHeader(nil); len(header) < len(times) || !slices.Equal(header[:len(times)], times) {
		return nil, &SyntaxError{File: name, Line: 1, Err: fmt.Errorf("the header does not begin with the columns %q", times)}
	}
	var rows []FigureRow
	for {
		cells, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, syntaxError(name, lines, err)
		}
		row, column, err := p.row(cells)
		if err != nil {
			at, _ := lines.FieldPos(0)
			return rows, &SyntaxError{File: name, Line: at, Column: column, Err: err}
		}
		rows = append(rows, row)
	}
}

type figureParser struct {
	name    string
	header  []string
	figures []Figure
	first   []int // place of each figure's first column; -1 if the file lacks it
}

// row reads the cells of one line, or tells the column that is wrong.
func (p *figureParser) row(cells []string) (row FigureRow, column string, err error) {
	for i, into := range []*int64{&row.UnixNanosecond, &row.UnixSecond} {
		if *into, err = strconv.ParseInt(cells[i], 10, 64); err != nil {
			return row, p.header[i], err
		}
	}
	for i, f := range p.figures {
		value := UnknownFigure()
		at := p.first[i]
		numbers, buckets := value.numbers(f.Kind)
		if at >= 0 && at+len(f.Columns()) <= len(cells) {
			for k, number := range numbers {
				if err := number.UnmarshalText([]byte(cells[at+k])); err != nil {
					return row, p.header[at+k], err
				}
			}
			if buckets != nil {
				if err := buckets.UnmarshalText([]byte(cells[at+len(numbers)])); err != nil {
					return row, p.header[at+len(numbers)], err
				}
			}
		}
		row.Values = append(row.Values, value)
	}
	return row, "", nil
}
