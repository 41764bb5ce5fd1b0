// Package analyze turns result folders into tables, charts and a report: one
// column and one line per database. It reads files and nothing else: it knows
// no database, no agent and no configuration, and it never changes a measured
// file.
package analyze

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Options of an analysis.
type Options struct {
	// Folders are result folders; each of their databases becomes a column, in
	// this order. The folder of one database inside a result folder stands for
	// that database alone.
	Folders []string
	// Out is the folder to write to; it is made if it is not there. Empty means
	// the result folder itself if there is one, and for several a new folder
	// analysis-<UTC time> in the working directory.
	Out string
	// Now names the new folder; nil means [time.Now].
	Now func() time.Time
}

// A Report tells what an analysis found and wrote.
type Report struct {
	// Text is the table with banners, errors and notes, as in
	// all-aggregated.txt; the warnings are not in it.
	Text string
	// Out is the folder written to, and Files are the paths of what was written.
	Out   string
	Files []string
	// ClientBound names the columns in which the harness or its machine was the
	// limit in more than 1 % of the seconds.
	ClientBound []string
	// Warnings are doubts about the figures; they do not make an analysis fail.
	Warnings []error
}

// Run analyses the result folders and writes tables, charts and report.
//
// What cannot be read or written does not keep the rest from being written:
// the report is never nil and holds what there is, and the error joins one
// error for each such place, with file, line and column where they are known.
func Run(ctx context.Context, opts Options) (*Report, error) {
	report := &Report{}
	if len(opts.Folders) == 0 {
		return report, errors.New("no result folder is named: give at least one")
	}
	var f findings
	var columns []*column
	for _, folder := range opts.Folders {
		if err := ctx.Err(); err != nil {
			return report, fmt.Errorf("analyse %s: %w", folder, context.Cause(ctx))
		}
		source, err := openSource(folder)
		if err != nil {
			f.fail(err)
			continue
		}
		columns = append(columns, source.columns(&f)...)
	}
	if len(columns) == 0 {
		f.fail(fmt.Errorf("nothing to analyse: no database in %q has results", opts.Folders))
		report.Warnings = f.warnings
		return report, errors.Join(f.errs...)
	}
	nameColumns(columns)
	compareColumns(columns, &f)
	for _, c := range columns {
		if c.isClientBound() {
			report.ClientBound = append(report.ClientBound, c.name)
		}
	}
	report.Out = opts.out(columns)
	d := newDocument(columns, &f)
	report.Text = d.text()
	w := writer{dir: report.Out, findings: &f}
	d.write(ctx, &w)
	report.Files = w.files
	report.Warnings = f.warnings
	return report, errors.Join(f.errs...)
}

// out is the folder to write to.
func (o Options) out(columns []*column) string {
	switch {
	case o.Out != "":
		return filepath.Clean(o.Out)
	case len(o.Folders) == 1:
		return columns[0].source.folder
	}
	now := o.Now
	if now == nil {
		now = time.Now
	}
	return "analysis-" + now().UTC().Format("20060102T150405Z")
}

// A writer replaces files in the folder of an analysis, each in one step, so
// that a reader finds the old one or the new one.
type writer struct {
	*findings
	dir   string
	files []string
}

// file writes one file; what goes wrong is among the findings.
func (w *writer) file(name string, content []byte) {
	path := filepath.Join(w.dir, name)
	if err := replaceFile(path, content); err != nil {
		w.fail(fmt.Errorf("write %s: %w", path, err))
		return
	}
	w.files = append(w.files, path)
}

func replaceFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	// Results are for everyone to read, like the measured files beside them.
	err = errors.Join(err, temp.Chmod(0o644), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
