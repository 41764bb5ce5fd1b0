package analyze

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dbtester/dbtester/result"
)

// text draws the table in the form of the published ones, the added rows below
// a line of their own.
func (t *table) text() string {
	widths := t.widths()
	var b strings.Builder
	edge := func() {
		for _, w := range widths {
			b.WriteString("+" + strings.Repeat("-", w+2))
		}
		b.WriteString("+\n")
	}
	write := func(cells []string) {
		for i, text := range cells {
			b.WriteString("| " + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)) + text + " ")
		}
		b.WriteString("|\n")
	}
	edge()
	write(append([]string{""}, t.names...))
	edge()
	for _, l := range t.published {
		write(l.texts())
	}
	edge()
	for _, l := range t.added {
		write(l.texts())
	}
	edge()
	return b.String()
}

// widths returns the width of each column, that of the row names first.
func (t *table) widths() []int {
	widths := make([]int, len(t.names)+1)
	fit := func(cells []string) {
		for i, text := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	fit(append([]string{""}, t.names...))
	for _, l := range slices.Concat(t.published, t.added) {
		fit(l.texts())
	}
	return widths
}

// texts returns what the line prints, its name first.
func (l line) texts() []string {
	cells := []string{l.name}
	for _, c := range l.cells {
		cells = append(cells, c.shown)
	}
	return cells
}

// records returns the table as all-aggregated.csv: name, unit and the figures
// in base units, a figure that is not known empty.
func (t *table) records() [][]string {
	records := [][]string{append([]string{result.AggregatedNameColumn, result.AggregatedUnitColumn}, t.names...)}
	for _, l := range slices.Concat(t.published, t.added) {
		record := []string{l.name, l.unit}
		for _, c := range l.cells {
			record = append(record, c.plain)
		}
		records = append(records, record)
	}
	return records
}

// An errorList itemises the errors of one column.
type errorList struct {
	Name  string
	Lines []string
}

// errorLists returns the columns that had errors, in the published form.
func errorLists(columns []*column) []errorList {
	var lists []errorList
	for _, c := range columns {
		if lines := c.errorLines(); len(lines) > 0 {
			lists = append(lists, errorList{c.name, lines})
		}
	}
	return lists
}

func (c *column) errorLines() []string {
	if c.summary == nil {
		if !(c.clientErrors() > 0) {
			return nil
		}
		return []string{fmt.Sprintf("not itemised, there is no summary file: %s failed, %s indeterminate", comma(c.failed()), comma(c.indeterminate()))}
	}
	var lines []string
	for _, e := range c.summary.Errors {
		suffix := ""
		if e.Indeterminate {
			suffix = ", indeterminate"
		}
		lines = append(lines, fmt.Sprintf("%q (count %s%s)", e.Message, comma(float64(e.Count)), suffix))
	}
	return lines
}

// text puts the figures of a report together as all-aggregated.txt has them.
func (d *document) text() string {
	var b strings.Builder
	for _, line := range d.Banners {
		b.WriteString(line + "\n")
	}
	if len(d.Banners) > 0 {
		b.WriteString("\n")
	}
	b.WriteString(d.table.text())
	for _, list := range d.Errors {
		b.WriteString("\n\n" + list.Name + " errors:\n" + strings.Join(list.Lines, "\n") + "\n")
	}
	for i, note := range d.Notes {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString("note: " + note + "\n")
	}
	return b.String()
}
