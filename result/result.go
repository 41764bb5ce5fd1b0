// Package result is the one place for the file names, columns and units of a
// result folder. Writers and readers of every file live here, so that what
// control and agent write is what analyze reads.
//
// It knows nothing of how a row came about. The names are those of the results
// published in 2017 and 2018: columns are added, never renamed.
package result

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// FormatVersion is raised with every change to a name or a column in this
// package. It stands in the manifest; the changes stand in CHANGELOG.md.
const FormatVersion = 1

// Files of one result folder, and of the folder of one database inside it.
const (
	ManifestFile = "manifest.json" // in the result folder itself

	TimeseriesFile    = "client-latency-throughput-timeseries.csv"
	PercentileFile    = "client-latency-distribution-percentile.csv"
	DistributionFile  = "client-latency-distribution-all.csv"
	SummaryFile       = "client-latency-distribution-summary.csv"
	ByKeyFile         = "client-latency-by-key-number.csv"
	ClientMetricsFile = "client-system-metrics.csv"
	DiskSpaceFile     = "server-disk-space-usage-summary.csv"
	HistogramLogFile  = "latency.hlog"
)

// LeaseKeyFile is in the result folder while the experiment runs: with the key
// a resumed run takes the agents back at once. It is for its owner only.
const LeaseKeyFile = "lease.key"

// Files that analyze writes into the result folder, beside the charts.
const (
	AggregatedCSVFile = "all-aggregated.csv"
	AggregatedTXTFile = "all-aggregated.txt"
	ReadmeFile        = "README.md"
	ReportFile        = "report.html"
)

// MemberMetricsFile names the system metrics of member n, 1 for the first.
func MemberMetricsFile(n int) string { return fmt.Sprintf("%d-server-system-metrics.csv", n) }

// MemberLogFile names what member n printed, 1 for the first.
func MemberLogFile(n int) string { return fmt.Sprintf("%d-database.log", n) }

// SyntaxError is a place in a result file that cannot be read.
type SyntaxError struct {
	File   string
	Line   int    // 1 for the first; 0 if the whole file is meant
	Column string // the column's name or number; empty if the whole line is meant
	Err    error
}

// Error gives file, line, column and cause, as far as they are known.
func (e *SyntaxError) Error() string {
	at := e.File
	if e.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, e.Line)
	}
	if e.Column != "" {
		at += ": column " + e.Column
	}
	return fmt.Sprintf("%s: %v", at, e.Err)
}

// Unwrap returns the cause.
func (e *SyntaxError) Unwrap() error { return e.Err }

// IncompleteDir names the folder, beside that of the database, which holds what
// was measured before the database was begun again; n is 1 for the first time.
func IncompleteDir(database string, n int) string {
	return fmt.Sprintf("%s.incomplete-%d", database, n)
}

// DatabaseDir returns the folder of the database with that name in the result folder dir.
func DatabaseDir(dir, database string) string { return filepath.Join(dir, database) }

// LooksLikeFile reports whether a database of that name would have a folder
// that looks like a file of the result: one that control or analyze writes
// beside it, now or in a later version. Upper and lower case are the same, as
// they are on some filesystems.
func LooksLikeFile(database string) bool {
	endings := []string{".csv", ".hlog", ".html", ".json", ".log", ".md", ".svg", ".txt"}
	return slices.Contains(endings, strings.ToLower(filepath.Ext(database)))
}
