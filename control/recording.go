package control

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dbtester/dbtester/internal/hist"
	"github.com/dbtester/dbtester/load"
	"github.com/dbtester/dbtester/result"
)

// A recording writes what the clients of one database see: every second as it
// ends, and the distributions when the load has ended.
type recording struct {
	dir      string
	name     string
	requests int64
	report   *progress
	rows     *result.Table[result.TimeseriesRow]
	logFile  *os.File
	log      *hist.LogWriter
	bound    func() string // why this second was bound by the client
	done     int64         // attempted until now
	errors   int64
}

var _ load.Sink = (*recording)(nil)

func newRecording(dir, name string, requests int64, report *progress, bound func() string) (*recording, error) {
	rows, err := result.CreateTable[result.TimeseriesRow](filepath.Join(dir, result.TimeseriesFile))
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, result.HistogramLogFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create result file: %w", err), rows.Close())
	}
	log, err := hist.NewLogWriter(file, time.Now())
	if err != nil {
		return nil, errors.Join(err, file.Close(), rows.Close())
	}
	return &recording{dir: dir, name: name, requests: requests, report: report, rows: rows, logFile: file, log: log, bound: bound}, nil
}

// Second writes one second to disk.
func (r *recording) Second(s load.Second) error {
	row := result.TimeseriesRow{
		UnixSecond: s.Unix, Clients: s.Clients, Throughput: s.Service.Count(),
		MinLatency: result.Gap(), AvgLatency: result.Gap(), MaxLatency: result.Gap(),
		AvgResponseLatency: result.Gap(), MaxResponseLatency: result.Gap(),
		Failed: s.Failed, Indeterminate: s.Indeterminate, Stage: s.Stage, FullSecond: s.Full, Late: s.Late,
		ClientBound: r.bound(),
	}
	if s.Service.Count() > 0 {
		row.MinLatency, row.AvgLatency, row.MaxLatency = ms(s.Service.Min()), mean(s.Service), ms(s.Service.Max())
		row.AvgResponseLatency, row.MaxResponseLatency = mean(s.Response), ms(s.Response.Max())
	}
	if err := r.rows.Append(row); err != nil {
		return err
	}
	if err := r.logSecond(s); err != nil {
		return err
	}
	r.errors += s.Failed + s.Indeterminate
	r.done += s.Service.Count() + s.Failed + s.Indeterminate
	r.report.second(r.name, s, r.done, r.requests, r.errors)
	return nil
}

func (r *recording) logSecond(s load.Second) error {
	start := time.Unix(s.Unix, 0)
	end := start.Add(time.Second)
	err := r.log.Write(hist.Service, start, end, s.Service)
	if err == nil && s.Response != s.Service {
		err = r.log.Write(hist.Response, start, end, s.Response)
	}
	return err
}

// finish writes what only the end of the load can tell and closes the files.
func (r *recording) finish(l *load.Load, stages []result.Stage) error {
	r.report.endLine()
	return errors.Join(
		r.rows.Close(),
		r.logFile.Close(),
		r.writePercentiles(l),
		r.writeDistribution(l),
		r.writeByKey(l),
		result.WriteSummary(filepath.Join(r.dir, result.SummaryFile), summary(l, stages)),
	)
}

func (r *recording) writePercentiles(l *load.Load) error {
	var rows []result.PercentileRow
	for _, p := range result.Percentiles() {
		rows = append(rows, result.PercentileRow{
			Percentile: p.Name, Latency: ms(l.Service().Quantile(p.Quantile)), Response: ms(l.Response().Quantile(p.Quantile)),
		})
	}
	return result.WriteTable(filepath.Join(r.dir, result.PercentileFile), rows)
}

func (r *recording) writeDistribution(l *load.Load) error {
	var rows []result.DistributionRow
	for edge, n := range l.Service().Buckets() {
		rows = append(rows, result.DistributionRow{Latency: ms(edge), Count: n})
	}
	return result.WriteTable(filepath.Join(r.dir, result.DistributionFile), rows)
}

func (r *recording) writeByKey(l *load.Load) error {
	var rows []result.ByKeyRow
	for _, b := range l.Buckets() {
		row := result.ByKeyRow{Keys: b.Last, Count: b.Count, MinLatency: result.Gap(), AvgLatency: result.Gap(), MaxLatency: result.Gap()}
		if b.Count > 0 {
			row.MinLatency, row.AvgLatency, row.MaxLatency = ms(b.Min), ms(b.Mean), ms(b.Max)
		}
		rows = append(rows, row)
	}
	return result.WriteTable(filepath.Join(r.dir, result.ByKeyFile), rows)
}

// summary adds the stages up.
func summary(l *load.Load, stages []result.Stage) result.Summary {
	h := l.Service()
	s := result.Summary{
		SlowestLatency: ms(h.Max()), FastestLatency: ms(h.Min()),
		AverageLatency: mean(h), StdDevLatency: ms(h.StdDev()),
	}
	for _, stage := range stages {
		s.TotalSeconds += result.Number(time.Duration(stage.End - stage.Start).Seconds())
		s.Attempted += stage.Attempted()
		s.OK += stage.OK
		s.Failed += stage.Failed
		s.Indeterminate += stage.Indeterminate
		s.Unsent += stage.Unsent
	}
	s.RequestsPerSecond = result.Gap()
	if s.TotalSeconds > 0 {
		s.RequestsPerSecond = result.Number(s.OK) / s.TotalSeconds
	}
	for _, e := range l.Errors() {
		s.Errors = append(s.Errors, result.ErrorCount{Message: e.Kind, Indeterminate: e.Indeterminate, Count: e.Count})
	}
	return s
}

// ms is a duration in milliseconds, to the nanosecond.
func ms(d time.Duration) result.Number { return result.Number(float64(d) / float64(time.Millisecond)) }

// mean is a histogram's exact mean in milliseconds.
func mean(h *hist.Histogram) result.Number {
	if h.Count() == 0 {
		return result.Gap()
	}
	return result.Number(h.Sum() / float64(h.Count()) / float64(time.Millisecond))
}
