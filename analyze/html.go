package analyze

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/dbtester/dbtester/result"
)

//go:embed report.html.tmpl
var reportTemplate string

// A page is what the template of the report sees.
type page struct {
	*document
	Title         string
	Status        string // "complete", or what is worst
	Facts         []string
	Hosts         []hostTable
	Descriptions  []string
	Names         []string
	Lines         []pageLine
	Warnings      []string
	Unreadable    []string
	Cards         []card
	Stores        []store
	Drawings      []pageDrawing
	Configuration []string
	Files         pageFiles
}

// A pageLine is a row of the table; Added marks those the published tables lack.
type pageLine struct {
	Name  string
	Cells []string
	First bool // the first of the added rows
}

// A card shows the figures of one database that are read first.
type card struct {
	Name, Status                  string
	Throughput, Median, P99, Errs string
}

// A store holds the facts of one column.
type store struct {
	Name     string
	Fact     string
	Settings []result.Setting
	Members  []result.Member
	Stages   []stage
}

type pageDrawing struct {
	Name, Title, Points string
	SVG                 template.HTML
}

type pageFiles struct{ CSV, TXT string }

// html returns the report as one page that needs nothing else.
func (d *document) html() ([]byte, error) {
	t, err := template.New(result.ReportFile).Funcs(template.FuncMap{
		"command": commandLine,
		"comma":   func(n int64) string { return comma(float64(n)) },
		"seconds": func(s stage) string { return fmt.Sprintf("%.3f", s.window.seconds()) },
		"rate":    func(s stage) string { return perSecondUnit().show(stageThroughput(nil, s)) },
		"number":  func(n int) string { return comma(float64(n)) },
		"clock":   clockText,
		"bytes":   func(n int64) string { return bytesUnit().show(float64(n)) },
	}).Parse(reportTemplate)
	if err != nil {
		return nil, fmt.Errorf("read the template of %s: %w", result.ReportFile, err)
	}
	var buf bytes.Buffer
	if err := t.Execute(&buf, d.page()); err != nil {
		return nil, fmt.Errorf("fill in %s: %w", result.ReportFile, err)
	}
	return buf.Bytes(), nil
}

func (d *document) page() page {
	p := page{
		document: d,
		Title:    strings.Join(uniq(d.Titles), " · "),
		Facts:    d.facts(),
		Hosts:    d.hostTables(),
		Names:    d.table.names,
		Files:    pageFiles{result.AggregatedCSVFile, result.AggregatedTXTFile},
	}
	for i, l := range slices.Concat(d.table.published, d.table.added) {
		p.Lines = append(p.Lines, pageLine{Name: l.name, Cells: l.texts()[1:], First: i == len(d.table.published)})
	}
	for _, err := range d.findings.warnings {
		p.Warnings = append(p.Warnings, err.Error())
	}
	for _, err := range d.findings.errs {
		p.Unreadable = append(p.Unreadable, err.Error())
	}
	for _, s := range d.sources() {
		if s.manifest.Description != "" {
			p.Descriptions = append(p.Descriptions, s.manifest.Description)
		}
		p.Configuration = append(p.Configuration, indented(s.manifest.Configuration))
	}
	for i, c := range d.columns {
		p.Cards = append(p.Cards, d.card(i, c))
		p.Stores = append(p.Stores, c.store())
	}
	for _, chart := range d.Charts {
		p.Drawings = append(p.Drawings, pageDrawing{
			Name: chart.Name, Title: chart.Title, Points: result.ChartPointsFile(chart.Name), SVG: inline(chart.svg),
		})
	}
	return p
}

func (d *document) card(i int, c *column) card {
	cellOf := func(name string) string {
		for _, l := range d.table.published {
			if l.name == name {
				return l.cells[i].shown
			}
		}
		return notKnown
	}
	return card{
		Name: c.name, Status: banner(c.db.Status),
		Throughput: cellOf(result.RowAvgThroughput),
		Median:     latency().show(c.percentile(0.5)),
		P99:        latency().show(c.percentile(0.99)),
		Errs:       cellOf(result.RowClientErrors),
	}
}

func (c *column) store() store {
	s := store{Name: c.name, Fact: c.storeFact(), Settings: c.db.Settings, Stages: c.stages}
	for _, m := range c.members {
		s.Members = append(s.Members, m.Member)
	}
	return s
}

// inline takes the head of an SVG file off, which has no place inside a page.
func inline(svg []byte) template.HTML {
	if start := bytes.Index(svg, []byte("<svg ")); start > 0 {
		svg = svg[start:]
	}
	return template.HTML(svg) //nolint:gosec // drawn by this package, which escapes all texts
}

// indented is JSON for people.
func indented(raw json.RawMessage) string {
	var buf bytes.Buffer
	if err := json.Indent(&buf, raw, "", "  "); err != nil {
		return string(raw)
	}
	return buf.String()
}
