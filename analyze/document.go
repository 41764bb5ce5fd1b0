package analyze

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/dbtester/dbtester/result"
)

// A document is everything that an analysis says, before it takes the form of
// text, README or report. The templates read its exported fields.
type document struct {
	Titles  []string
	Banners []string
	Errors  []errorList
	Notes   []string
	Charts  []drawing

	table    *table
	columns  []*column
	findings *findings
}

// A drawing is a chart that has been drawn.
type drawing struct {
	Name, Title string
	svg         []byte
}

func newDocument(columns []*column, f *findings) *document {
	d := &document{columns: columns, findings: f}
	for _, s := range d.sources() {
		d.Titles = append(d.Titles, oneLine(s.manifest.Title))
		if word := banner(s.manifest.Status); word != "" {
			d.Banners = append(d.Banners, fmt.Sprintf("*** %s *** %s: %s", word, oneLine(s.manifest.Experiment), oneLine(reasonOf(s.manifest.Status, s.manifest.Reason))))
		}
	}
	for _, c := range columns {
		if word := banner(c.db.Status); word != "" {
			d.Banners = append(d.Banners, fmt.Sprintf("*** %s *** %s: %s", word, c.name, oneLine(reasonOf(c.db.Status, c.db.Reason))))
		}
	}
	d.Notes = joinNotes(columns)
	d.table = newTable(columns, f)
	d.Errors = errorLists(columns)
	return d
}

// sources returns the result folders of the columns, each once.
func (d *document) sources() []*source {
	var sources []*source
	for _, c := range d.columns {
		if !slices.Contains(sources, c.source) {
			sources = append(sources, c.source)
		}
	}
	return sources
}

// write puts all files of the document into the folder of w.
func (d *document) write(ctx context.Context, w *writer) {
	w.file(result.AggregatedCSVFile, csvOf(d.table.records()))
	for _, ch := range charts(d.columns) {
		if ctx.Err() != nil {
			w.fail(fmt.Errorf("draw chart %s: %w", ch.name, context.Cause(ctx)))
			return
		}
		lines := ch.series(d.columns)
		w.file(result.ChartPointsFile(ch.name), csvOf(ch.records(lines)))
		svg, err := ch.marked(d.columns).draw(lines)
		if err != nil {
			w.fail(err)
			continue
		}
		w.file(result.ChartFile(ch.name), svg)
		d.Charts = append(d.Charts, drawing{Name: ch.name, Title: ch.title, svg: svg})
	}
	w.file(result.AggregatedTXTFile, []byte(d.text()+d.warnings()))
	w.file(result.ReadmeFile, []byte(d.readme()))
	html, err := d.html()
	if err != nil {
		w.fail(err)
		return
	}
	w.file(result.ReportFile, html)
}

// warnings lists the doubts and the errors as text.
func (d *document) warnings() string {
	var b strings.Builder
	for _, err := range d.findings.warnings {
		b.WriteString("warning: " + oneLine(err.Error()) + "\n")
	}
	for _, err := range d.findings.errs {
		b.WriteString("error: " + oneLine(err.Error()) + "\n")
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + b.String()
}

// csvOf encodes records.
func csvOf(records [][]string) []byte {
	var buf bytes.Buffer
	// Writing to memory does not fail.
	_ = csv.NewWriter(&buf).WriteAll(records)
	return buf.Bytes()
}

// oneLine takes line breaks and control characters out of a text of others.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s))
}
