package result

import (
	"fmt"
	"strings"
)

// MemberFiguresFile names the figures that member n tells of itself, 1 for the
// first: one row per ask, at the second, on the clock of its machine. A row of
// an ask that came to nothing has its times and gaps.
func MemberFiguresFile(n int) string { return fmt.Sprintf("%d-server-store-metrics.csv", n) }

// A Figure describes what one figure of MemberFiguresFile is; the manifest
// lists them in the order of the columns.
type Figure struct {
	Name string     `json:"name"` // the store's own
	Kind FigureKind `json:"kind"`
	Unit string     `json:"unit,omitempty"` // "s", "ms", "ns", "bytes"
	// Meaning is the name that stores share for what is the same in them.
	Meaning string `json:"meaning,omitempty"`
}

// A FigureKind says which columns a figure has.
type FigureKind string

// Kinds of figure, with what follows the name in the columns. Without the
// suffix -DELTA counters, counts and sums are since the member's start.
const (
	FigureGauge     FigureKind = "gauge"     // the name alone
	FigureCounter   FigureKind = "counter"   // and -DELTA
	FigureSummary   FigureKind = "summary"   // -COUNT, -SUM, -COUNT-DELTA, -SUM-DELTA
	FigureHistogram FigureKind = "histogram" // like a summary, and -P50, -P99, -BUCKETS
)

// Meanings that analyze has rows or charts for.
const (
	MeaningLogSync         = "log-sync"
	MeaningBackendCommit   = "backend-commit"
	MeaningQuorumCommit    = "quorum-commit"
	MeaningPeerRoundTrip   = "peer-round-trip"
	MeaningPending         = "pending"
	MeaningCommittedIndex  = "committed-index"
	MeaningAppliedIndex    = "applied-index"
	MeaningLeaderChanges   = "leader-changes"
	MeaningLeadershipsWon  = "leaderships-won"
	MeaningSlowApplies     = "slow-applies"
	MeaningHeap            = "heap"
	MeaningCollectionPause = "collection-pause"
)

// columnName is the store's own name in the form of the other columns.
func (f Figure) columnName() string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.':
			return r
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		default:
			return '-'
		}
	}, f.Name)
}

// Columns returns the figure's columns, in file order.
func (f Figure) Columns() []string {
	suffixes := []string{""}
	switch f.Kind {
	case FigureCounter:
		suffixes = []string{"", "-DELTA"}
	case FigureSummary:
		suffixes = []string{"-COUNT", "-SUM", "-COUNT-DELTA", "-SUM-DELTA"}
	case FigureHistogram:
		suffixes = []string{"-COUNT", "-SUM", "-COUNT-DELTA", "-SUM-DELTA", "-P50", "-P99", "-BUCKETS"}
	}
	columns := make([]string, len(suffixes))
	for i, suffix := range suffixes {
		columns[i] = f.columnName() + suffix
	}
	return columns
}

// FiguresHeader returns the columns of a file with these figures.
func FiguresHeader(figures []Figure) []string {
	header := []string{"UNIX-NANOSECOND", "UNIX-SECOND"}
	for _, f := range figures {
		header = append(header, f.Columns()...)
	}
	return header
}

// A FigureRow is what a member told at one ask.
type FigureRow struct {
	UnixNanosecond int64 // wall clock of the member's machine when it was asked
	UnixSecond     int64
	Values         []FigureValue // one per figure
}

// A FigureValue is one figure of a row. Which fields are in the file follows
// from its kind; a delta is the difference to the ask before.
type FigureValue struct {
	Value, Delta                     Number // gauge, counter
	Count, Sum, CountDelta, SumDelta Number // summary, histogram
	// P50 and P99 are of the events since the ask before, estimated from the
	// buckets; see hist.Buckets.
	P50, P99 Number
	Buckets  Buckets // since the member's start
}

// UnknownFigure is a value without a single known figure.
func UnknownFigure() FigureValue {
	gap := Gap()
	return FigureValue{Value: gap, Delta: gap, Count: gap, Sum: gap, CountDelta: gap, SumDelta: gap, P50: gap, P99: gap}
}

// numbers are the fields of the figure's columns; buckets, if it has any, come
// behind them.
func (v *FigureValue) numbers(kind FigureKind) (numbers []*Number, buckets *Buckets) {
	switch kind {
	case FigureCounter:
		return []*Number{&v.Value, &v.Delta}, nil
	case FigureSummary:
		return []*Number{&v.Count, &v.Sum, &v.CountDelta, &v.SumDelta}, nil
	case FigureHistogram:
		return []*Number{&v.Count, &v.Sum, &v.CountDelta, &v.SumDelta, &v.P50, &v.P99}, &v.Buckets
	default:
		return []*Number{&v.Value}, nil
	}
}
