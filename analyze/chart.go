package analyze

import (
	"slices"

	"github.com/dbtester/dbtester/result"
)

// An axis says what is counted along one side of a chart.
type axis struct {
	label  string
	column string // in the file of points
	format func(float64) string
}

// A chart is one drawing: one line per database.
type chart struct {
	name   string
	title  string
	x, y   axis
	points func(*column) []point
	// errors draws single points with the lowest and highest value, instead of a line.
	errors bool
	// log spaces the y axis by powers of ten.
	log bool
	// bound are the seconds to mark as bound by the client.
	bound []float64
}

// marked returns the chart with the seconds marked in which the client was the
// limit, if it has seconds.
func (ch chart) marked(columns []*column) chart {
	if ch.x.column == result.PointSecondColumn {
		ch.bound = boundSeconds(columns)
	}
	return ch
}

func secondsAxis() axis {
	return axis{"seconds since the load began", result.PointSecondColumn, plainLabel}
}

func keysAxis() axis {
	return axis{"requests, in the order they were sent", result.PointKeysColumn, countLabel}
}

func answeredAxis() axis {
	return axis{"requests answered so far", result.PointKeysColumn, countLabel}
}

func clientsAxis() axis { return axis{"clients", result.PointClientsColumn, plainLabel} }

func countAxis(label string) axis { return axis{label: label, format: countLabel} }
func plainAxis(label string) axis { return axis{label: label, format: plainLabel} }
func bytesAxis() axis             { return axis{label: "bytes per second", format: bytesLabel} }

// memoryAxis shows figures in MB with the prefix that suits them.
func memoryAxis() axis {
	return axis{label: "resident memory (1 MB = 10⁶ bytes)", format: func(v float64) string { return bytesLabel(v * megabyte) }}
}

func mean(s spread) float64 { return s.mean }
func high(s spread) float64 { return s.high }

// processChart draws a figure of the members' processes over the seconds.
func processChart(name, title string, y axis, m measure, pick func(spread) float64) chart {
	return chart{name: name, title: title, x: secondsAxis(), y: y, points: memberPoints(m, (*column).everyone, pick)}
}

// machineChart draws a figure of the members' machines over the seconds, each
// device or interface once.
func machineChart(name, title string, y axis, delta func(*result.SystemRow) result.Number, use func(*member) resource) chart {
	positions := func(c *column) []int { return c.speakers(use) }
	return chart{name: name, title: title, x: secondsAxis(), y: y, points: memberPoints(rate(delta), positions, mean)}
}

// publishedCharts are the nineteen charts of the published results, in their order.
func publishedCharts() []chart {
	milli := plainAxis("service time of ok requests (ms)")
	return append([]chart{
		{name: result.ChartLatency, title: "Average latency", x: secondsAxis(), y: milli, points: latencyPoints},
		{name: result.ChartLatencyByKey, title: "Average latency by key", x: keysAxis(), y: milli, points: latencyByKeyPoints},
		{
			name: result.ChartLatencyByKeyErrors, title: "Average latency by key, with the lowest and highest",
			x: keysAxis(), y: plainAxis("service time (ms, powers of ten)"), points: latencyByKeyPoints, errors: true, log: true,
		},
		{name: result.ChartThroughput, title: "Throughput", x: secondsAxis(), y: countAxis("ok requests per second"), points: throughputPoints},
		processChart(result.ChartVoluntaryCtxt, "Voluntary context switches, mean of the members", countAxis("context switches per second"),
			rate(func(r *result.SystemRow) result.Number { return r.VoluntaryCtxtDelta }), mean),
		processChart(result.ChartNonVoluntaryCtxt, "Involuntary context switches, mean of the members", countAxis("context switches per second"),
			rate(func(r *result.SystemRow) result.Number { return r.NonVoluntaryCtxtDelta }), mean),
		processChart(result.ChartCPU, "CPU of the server process, mean of the members", plainAxis("CPU (%, 100 % = one core)"), cpu(), mean),
		processChart(result.ChartMaxCPU, "CPU of the server process, busiest member", plainAxis("CPU (%, 100 % = one core)"), cpu(), high),
		processChart(result.ChartMemory, "Resident memory of the server process, mean of the members", memoryAxis(),
			gauge(func(r *result.SystemRow) result.Number { return r.VMRSS / megabyte }), mean),
		{
			name: result.ChartMemoryByKey, title: "Resident memory by key, mean of the members",
			x: answeredAxis(), y: memoryAxis(), points: memoryByKeyPoints,
		},
		{
			name: result.ChartMemoryByKeyErrors, title: "Resident memory by key, with the smallest and largest member",
			x: answeredAxis(), y: memoryAxis(), points: memoryByKeyPoints, errors: true,
		},
	}, machineCharts()...)
}

func machineCharts() []chart {
	return []chart{
		machineChart(result.ChartReads, "Disk reads completed, mean of the devices", countAxis("reads per second"),
			func(r *result.SystemRow) result.Number { return r.ReadsCompletedDelta }, device),
		machineChart(result.ChartSectorsRead, "Disk sectors read, mean of the devices", countAxis("512-byte sectors per second"),
			func(r *result.SystemRow) result.Number { return r.SectorsReadDelta }, device),
		machineChart(result.ChartWrites, "Disk writes completed, mean of the devices", countAxis("writes per second"),
			func(r *result.SystemRow) result.Number { return r.WritesCompletedDelta }, device),
		machineChart(result.ChartSectorsWritten, "Disk sectors written, mean of the devices", countAxis("512-byte sectors per second"),
			func(r *result.SystemRow) result.Number { return r.SectorsWrittenDelta }, device),
		machineChart(result.ChartReadBytes, "Disk bytes read, mean of the devices", bytesAxis(),
			func(r *result.SystemRow) result.Number { return r.ReadBytesDelta }, device),
		machineChart(result.ChartWriteBytes, "Disk bytes written, mean of the devices", bytesAxis(),
			func(r *result.SystemRow) result.Number { return r.WriteBytesDelta }, device),
		machineChart(result.ChartReceiveBytes, "Network bytes received, mean of the interfaces", bytesAxis(),
			func(r *result.SystemRow) result.Number { return r.ReceiveBytesDelta }, network),
		machineChart(result.ChartTransmitBytes, "Network bytes sent, mean of the interfaces", bytesAxis(),
			func(r *result.SystemRow) result.Number { return r.TransmitBytesDelta }, network),
	}
}

// ladderCharts draw figures of whole stages against the number of clients.
func ladderCharts() []chart {
	ladder := func(name, title string, y axis, figure func(*column, stage) float64) chart {
		return chart{name: name, title: title, x: clientsAxis(), y: y, points: stagePoints(figure)}
	}
	milli := plainAxis("service time of ok requests (ms)")
	return []chart{
		ladder(result.ChartThroughputByClients, "Throughput by number of clients", countAxis("ok requests per second"), stageThroughput),
		ladder(result.ChartCPUByClients, "CPU of the server process by number of clients, mean of the members",
			plainAxis("CPU (%, 100 % = one core)"), stageCPU),
		ladder(result.ChartSectorsWrittenByClients, "Disk sectors written by number of clients, sum of the devices",
			countAxis("512-byte sectors in the stage"), stageSectors),
		ladder(result.ChartMedianByClients, "Median latency by number of clients", milli, stageQuantile(0.5)),
		ladder(result.ChartP99ByClients, "99th percentile of latency by number of clients", milli, stageQuantile(0.99)),
	}
}

// charts returns those that fit the columns.
func charts(columns []*column) []chart {
	all := append(publishedCharts(), causeCharts(columns)...)
	// What explains a latency stands next to it.
	all = slices.Insert(all, 1, toldCharts(columns)...)
	if isLadder(columns) {
		all = append(all, ladderCharts()...)
	}
	return all
}

// Limits that keep a drawing readable and below about 300 KB.
const (
	maxLinePoints  = 6000 // of all lines of a chart together
	maxErrorPoints = 60   // of one database
)

// series computes what the chart draws.
func (ch chart) series(columns []*column) []series {
	lines := make([]series, len(columns))
	for i, c := range columns {
		points := ch.points(c)
		for k := range points {
			points[k] = points[k].finite()
		}
		if ch.errors {
			points = merge(points, maxErrorPoints)
		} else {
			points = thin(points, max(maxLinePoints/len(columns), 30))
		}
		lines[i] = series{name: c.name, points: points}
	}
	return lines
}

// records returns the points as the file beside the drawing has them.
func (ch chart) records(lines []series) [][]string {
	head := []string{result.PointDatabaseColumn, ch.x.column, ch.name}
	if ch.errors {
		head = append(head, result.PointMinColumn, result.PointMaxColumn)
	}
	records := [][]string{head}
	for _, line := range lines {
		for _, p := range line.points {
			record := []string{line.name, raw(p.x), raw(p.y)}
			if ch.errors {
				record = append(record, raw(p.low), raw(p.high))
			}
			records = append(records, record)
		}
	}
	return records
}
