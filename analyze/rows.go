package analyze

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/dbtester/dbtester/result"
)

// A row is one line of the table: its name, and what stands in it for a column.
type row struct {
	name   string
	unit   unit
	figure func(*column, *findings) float64
	// text is set instead of unit and figure where the row holds words: for
	// people and for programs.
	text func(*column) (shown, plain string)
}

// plainRow is a row whose figure raises no doubts.
func plainRow(name string, u unit, figure func(*column) float64) row {
	return row{name: name, unit: u, figure: func(c *column, _ *findings) float64 { return figure(c) }}
}

func serverSumRow(u unit, counter machineCounter) row {
	return row{name: counter.row, unit: u, figure: func(c *column, f *findings) float64 { return c.serverSum(f, counter) }}
}

func clientSumRow(name string, counter machineCounter) row {
	return row{name: name, unit: bytesUnit(), figure: func(c *column, f *findings) float64 { return c.clientSum(f, name, counter) }}
}

func serverMaxRow(name string, u unit, m measure) row {
	return row{name: name, unit: u, figure: func(c *column, f *findings) float64 { return c.serverMax(f, name, m) }}
}

func percentileRow(text string, q float64) row {
	return plainRow(result.RowLatencyPrefix+text, percentile(), func(c *column) float64 { return c.percentile(q) })
}

func responseRow(text string, q float64) row {
	return plainRow(result.RowResponsePrefix+text, percentile(), func(c *column) float64 { return c.responsePercentile(q) })
}

// publishedRows are the thirty rows of the published tables, in their order.
func publishedRows() []row {
	return []row{
		plainRow(result.RowTotalSeconds, seconds(), (*column).totalSeconds),
		plainRow(result.RowTotalRequests, requests(), (*column).attempted),
		plainRow(result.RowMaxThroughput, perSecondUnit(), (*column).maxThroughput),
		plainRow(result.RowAvgThroughput, perSecondUnit(), (*column).avgThroughput),
		plainRow(result.RowMinThroughput, perSecondUnit(), (*column).minThroughput),
		plainRow(result.RowFastestLatency, latency(), (*column).fastest),
		plainRow(result.RowAvgLatency, latency(), (*column).avgLatency),
		plainRow(result.RowSlowestLatency, latency(), (*column).slowest),
		percentileRow("p10", 0.10),
		percentileRow("p25", 0.25),
		percentileRow("p50", 0.50),
		percentileRow("p75", 0.75),
		percentileRow("p90", 0.90),
		percentileRow("p95", 0.95),
		percentileRow("p99", 0.99),
		percentileRow("p99.9", 0.999),
		serverSumRow(bytesUnit(), receiveCounter()),
		serverSumRow(bytesUnit(), transmitCounter()),
		clientSumRow(result.RowClientReceive, receiveCounter()),
		clientSumRow(result.RowClientTransmit, transmitCounter()),
		serverMaxRow(result.RowServerMaxCPU, percent(), cpu()),
		serverMaxRow(result.RowServerMaxMemory, bytesUnit(), memory()),
		plainRow(result.RowClientMaxCPU, percent(), func(c *column) float64 { return c.clientMax(cpu()) }),
		plainRow(result.RowClientMaxMemory, bytesUnit(), func(c *column) float64 { return c.clientMax(memory()) }),
		plainRow(result.RowClientErrors, requests(), (*column).clientErrors),
		serverSumRow(operations("reads"), readsCounter()),
		serverSumRow(operations("sectors"), sectorsReadCounter()),
		serverSumRow(operations("writes"), writesCounter()),
		serverSumRow(operations("sectors"), sectorsWrittenCounter()),
		plainRow(result.RowServerDiskSpace, bytesUnit(), (*column).diskSpace),
	}
}

// addedRows are the rows the published tables lack. They stand below.
func addedRows(columns []*column) []row {
	rows := []row{
		responseRow("p50", 0.50),
		responseRow("p99", 0.99),
		responseRow("p99.9", 0.999),
		plainRow(result.RowSlowestResponse, latency(), (*column).slowestResponse),
	}
	if slices.ContainsFunc(columns, func(c *column) bool { return c.db.RequestRate > 0 }) {
		rows = append(rows,
			plainRow(result.RowTargetThroughput, perSecondUnit(), (*column).target),
			plainRow(result.RowAchievedOfTarget, percent(), (*column).achieved),
			plainRow(result.RowLate, requests(), (*column).late))
	}
	if slices.ContainsFunc(columns, func(c *column) bool { return c.db.RequestRate == 0 }) {
		rows = append(rows, plainRow(result.RowClientTimeCovered, percent(), (*column).covered))
	}
	rows = append(rows, toldRows(columns)...)
	rows = append(rows, causeRows(columns)...)
	return append(rows,
		row{name: result.RowClientBound, text: (*column).clientBound},
		plainRow(result.RowFailed, requests(), (*column).failed),
		plainRow(result.RowIndeterminate, requests(), (*column).indeterminate),
		plainRow(result.RowUnsent, requests(), (*column).unsent),
		plainRow(result.RowKeysCounted, keys(), (*column).keysCounted),
		plainRow(result.RowKeysAcknowledged, keys(), (*column).keysAcknowledged),
		row{name: result.RowReadsGuarantee, text: func(c *column) (string, string) { return words(cmp.Or(c.readsPromise(), "no reads")) }},
		row{name: result.RowFsync, text: func(c *column) (string, string) { return yesNo(c.db.Guarantee.Fsync) }},
		row{name: result.RowPlacement, text: func(c *column) (string, string) { return words(c.db.Guarantee.Placement) }},
		row{name: result.RowClients, text: func(c *column) (string, string) {
			return c.steps(func(s stage) int { return s.Clients })
		}},
		row{name: result.RowConnections, text: func(c *column) (string, string) {
			return c.steps(func(s stage) int { return s.Connections })
		}},
	)
}

func yesNo(b bool) (shown, plain string) {
	if b {
		return "yes", "yes"
	}
	return "no", "no"
}

func words(s string) (shown, plain string) {
	if s == "" {
		return notKnown, ""
	}
	return s, s
}

// steps tells a number that may differ between stages: "100", or "1 to 1,000".
func (c *column) steps(of func(stage) int) (shown, plain string) {
	var all []int
	var list []string
	for _, s := range c.stages {
		if n := of(s); n > 0 && !slices.Contains(all, n) {
			all = append(all, n)
			list = append(list, strconv.Itoa(n))
		}
	}
	if len(all) == 0 {
		return notKnown, ""
	}
	low, high := int64(slices.Min(all)), int64(slices.Max(all))
	shown = humanize.Comma(low)
	if low != high {
		shown += " to " + humanize.Comma(high)
	}
	return shown, strings.Join(list, " ")
}

// A cell is one figure of the table, for people and for programs.
type cell struct{ shown, plain string }

// A line is a row of the table with its cells, one per column.
type line struct {
	name  string
	unit  string
	cells []cell
}

// A table holds the figures of all columns.
type table struct {
	names     []string // of the columns
	published []line
	added     []line
}

// newTable computes every figure once.
func newTable(columns []*column, f *findings) *table {
	t := &table{}
	for _, c := range columns {
		t.names = append(t.names, c.name)
	}
	for _, r := range publishedRows() {
		t.published = append(t.published, r.line(columns, f))
	}
	for _, r := range addedRows(columns) {
		t.added = append(t.added, r.line(columns, f))
	}
	return t
}

func (r row) line(columns []*column, f *findings) line {
	l := line{name: r.name, unit: r.unit.name}
	for _, c := range columns {
		if r.text != nil {
			shown, plain := r.text(c)
			l.cells = append(l.cells, cell{shown, plain})
			continue
		}
		v := r.figure(c, f)
		l.cells = append(l.cells, cell{r.unit.show(v), raw(v)})
	}
	return l
}
