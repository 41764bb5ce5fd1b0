package memory

import (
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/exposition"
)

var _ database.Introspector = (*driver)(nil)

// metricsPath is where a member tells its figures.
const metricsPath = "/metrics"

// Names of what a member tells.
const (
	figureAnswer = "memory_answer_duration_seconds"
	figureHeap   = "memory_heap_bytes"
	figureUptime = "memory_uptime_seconds_total"
)

// Figures lists what a member tells: enough to try the way of figures through
// the harness in a dry run.
func (d *driver) Figures() []database.Figure {
	return []database.Figure{
		{Name: figureAnswer, Kind: database.HistogramFigure, Unit: "s"},
		{Name: figureHeap, Kind: database.GaugeFigure, Unit: "bytes", Meaning: database.HeapBytes},
		{Name: figureUptime, Kind: database.CounterFigure, Unit: "s"},
	}
}

// Inspect returns a way to ask the member at the endpoint.
func (d *driver) Inspect(endpoint string) (database.Inspection, error) {
	return exposition.Inspect(endpoint, metricsPath, d.Figures())
}

// answerEdges are the upper edges of how long an answer took, in seconds.
func answerEdges() []float64 { return []float64{0.0001, 0.0002, 0.0004, 0.0008, 0.0016} }

// teller answers with a member's own figures.
type teller struct {
	started time.Time
	mu      sync.Mutex
	answers []time.Duration // of earlier answers
}

// ServeHTTP writes the figures in the Prometheus text format.
func (t *teller) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	begun := time.Now()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	var page strings.Builder
	t.writeAnswers(&page)
	fmt.Fprintf(&page, "%s %d\n", figureHeap, memory.HeapInuse)
	fmt.Fprintf(&page, "%s %g\n", figureUptime, begun.Sub(t.started).Seconds())
	if _, err := w.Write([]byte(page.String())); err != nil {
		return // whoever asked is gone
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answers = append(t.answers, time.Since(begun))
}

// writeAnswers writes the histogram of the answers until now.
func (t *teller) writeAnswers(page *strings.Builder) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := 0.0
	for _, took := range t.answers {
		sum += took.Seconds()
	}
	for _, edge := range answerEdges() {
		n := 0
		for _, took := range t.answers {
			if took.Seconds() <= edge {
				n++
			}
		}
		fmt.Fprintf(page, "%s_bucket{le=%q} %d\n", figureAnswer, strconv.FormatFloat(edge, 'g', -1, 64), n)
	}
	fmt.Fprintf(page, "%s_bucket{le=\"+Inf\"} %d\n", figureAnswer, len(t.answers))
	fmt.Fprintf(page, "%s_sum %g\n%s_count %d\n", figureAnswer, sum, figureAnswer, len(t.answers))
}
