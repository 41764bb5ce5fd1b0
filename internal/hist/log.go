package hist

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Tag says which of the two clocks an interval of a histogram log was read from.
type Tag string

const (
	// Service marks intervals of service time: end − start of a request.
	Service Tag = "service"
	// Response marks intervals of response time: end − due of a request.
	Response Tag = "response"
)

// A LogWriter writes an HdrHistogram log, format 1.3, which any HdrHistogram
// viewer opens: one line per interval, values in nanoseconds, times in
// milliseconds since the Unix epoch.
type LogWriter struct {
	log *hdrhistogram.HistogramLogWriter
}

// NewLogWriter writes the head of a log that starts at start and returns the
// writer of its intervals.
func NewLogWriter(w io.Writer, start time.Time) (*LogWriter, error) {
	log := hdrhistogram.NewHistogramLogWriter(w)
	err := errors.Join(
		log.OutputComment("[Latencies in nanoseconds, one interval per second and tag]"),
		log.OutputLogFormatVersion(),
		log.OutputStartTime(start.UnixMilli()),
		log.OutputLegend(),
	)
	if err != nil {
		return nil, fmt.Errorf("write histogram log head: %w", err)
	}
	return &LogWriter{log: log}, nil
}

// Write appends what h counted between start and end as one line.
func (w *LogWriter) Write(tag Tag, start, end time.Time, h *Histogram) error {
	h.buckets.SetTag(string(tag))
	h.buckets.SetStartTimeMs(start.UnixMilli())
	h.buckets.SetEndTimeMs(end.UnixMilli())
	if err := w.log.OutputIntervalHistogram(h.buckets); err != nil {
		return fmt.Errorf("write histogram interval: %w", err)
	}
	return nil
}

// An Interval is one line of a histogram log.
type Interval struct {
	Tag        Tag
	Start, End time.Time
	// Histogram holds the buckets; its Min, Max, Mean and StdDev are the
	// buckets' own, exact to three digits.
	Histogram *Histogram
}

// A LogError is a line of a histogram log that cannot be read.
type LogError struct {
	Line int // 1 for the first
	Err  error
}

// Error tells the line and the cause.
func (e *LogError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *LogError) Unwrap() error { return e.Err }

// ReadLog calls fn for each interval of the log in r, in its order. It stops
// at the first line that is no interval with a [LogError]; what stood before
// has then been handed to fn.
func ReadLog(r io.Reader, fn func(Interval)) error {
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read histogram log: %w", err)
		}
		if errors.Is(err, io.EOF) {
			return endOfLog(n, line)
		}
		if line[0] == '#' || line[0] == '"' || strings.TrimSpace(line) == "" {
			continue
		}
		interval, err := parseInterval(line)
		if err != nil {
			return &LogError{Line: n, Err: err}
		}
		fn(interval)
	}
}

// endOfLog tells a log that ends with a whole line from one that was cut.
func endOfLog(n int, rest string) error {
	if rest == "" {
		return nil
	}
	return &LogError{Line: n, Err: errors.New("the line is cut off: it has no line end")}
}

// parseInterval reads one line. The times are absolute: this package writes no base time.
func parseInterval(line string) (Interval, error) {
	h, err := hdrhistogram.NewHistogramLogReader(strings.NewReader(line)).NextIntervalHistogram()
	if err != nil {
		return Interval{}, err
	}
	if h == nil {
		return Interval{}, fmt.Errorf("%.40q is not an interval of an HdrHistogram log", line)
	}
	if h.LowestTrackableValue() != int64(Lowest) || h.SignificantFigures() != Digits {
		return Interval{}, fmt.Errorf("a histogram from %d ns with %d digits; want %d ns and %d digits",
			h.LowestTrackableValue(), h.SignificantFigures(), int64(Lowest), Digits)
	}
	return Interval{
		Tag:       Tag(h.Tag()),
		Start:     time.UnixMilli(h.StartTimeMs()),
		End:       time.UnixMilli(h.EndTimeMs()),
		Histogram: fromBuckets(h),
	}, nil
}

// fromBuckets wraps decoded buckets; sums are those of the buckets' middles.
func fromBuckets(h *hdrhistogram.Histogram) *Histogram {
	n := float64(h.TotalCount())
	mean, dev := h.Mean(), h.StdDev()
	return &Histogram{
		buckets:    h,
		count:      h.TotalCount(),
		min:        time.Duration(h.Min()),
		max:        time.Duration(h.Max()),
		sum:        mean * n,
		sumSquares: n * (dev*dev + mean*mean),
	}
}
