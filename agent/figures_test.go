//go:build linux

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/result"
)

// A tellingDriver is a fake store with figures of its own; ask answers for the
// member.
type tellingDriver struct {
	fakeDriver
	ask func(context.Context) ([]database.Reading, error)
}

func (tellingDriver) Figures() []database.Figure {
	return []database.Figure{
		{Name: "fake_pending", Kind: database.GaugeFigure, Meaning: database.Pending},
		{Name: "fake_applied_total", Kind: database.CounterFigure},
		{Name: "fake_fsync_seconds", Kind: database.HistogramFigure, Unit: "s", Meaning: database.LogSync},
	}
}

func (d tellingDriver) Inspect(string) (database.Inspection, error) {
	return tellingInspection{d.ask}, nil
}

type tellingInspection struct {
	ask func(context.Context) ([]database.Reading, error)
}

func (i tellingInspection) Ask(ctx context.Context) ([]database.Reading, error) { return i.ask(ctx) }
func (tellingInspection) Close() error                                          { return nil }

// told is one answer: a gauge, a counter, and a histogram with edges at 1, 2
// and infinity.
func told(gauge, counter, sum float64, counts ...float64) []database.Reading {
	readings := []database.Reading{database.Untold(), database.Untold(), database.Untold()}
	readings[0].Value, readings[1].Value = gauge, counter
	readings[2].Sum, readings[2].Count = sum, counts[len(counts)-1]
	for i, edge := range []float64{1, 2, math.Inf(1)} {
		readings[2].Buckets = append(readings[2].Buckets, database.Bucket{Edge: edge, Count: counts[i]})
	}
	return readings
}

func TestFigureRows(t *testing.T) {
	lost := errors.New("connection refused")
	steps := []struct {
		name     string
		readings []database.Reading
		err      error
		// What the row must have; NaN for a gap.
		gauge, counter, delta, count, countDelta, sumDelta, p50 float64
	}{
		{"the first has no deltas", told(3, 10, 5, 4, 4, 4), nil, 3, 10, math.NaN(), 4, math.NaN(), math.NaN(), math.NaN()},
		{"the second", told(1, 15, 8, 4, 14, 14), nil, 1, 15, 5, 14, 10, 3, 1.5},
		{"nothing new", told(1, 15, 8, 4, 14, 14), nil, 1, 15, 0, 14, 0, 0, math.NaN()},
		{"no answer", nil, lost, math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()},
		{"after a gap there is no delta", told(2, 20, 9, 5, 15, 15), nil, 2, 20, math.NaN(), 15, math.NaN(), math.NaN(), math.NaN()},
		{"the member counts anew", told(2, 1, 1, 1, 1, 1), nil, 2, 1, math.NaN(), 1, math.NaN(), math.NaN(), math.NaN()},
		{"an answer of another length", told(2, 1, 1, 1, 1, 1)[:2], nil, math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()},
	}
	step := 0
	f := &figures{specs: tellingDriver{}.Figures(), inspection: tellingInspection{func(context.Context) ([]database.Reading, error) {
		return steps[step].readings, steps[step].err
	}}}
	at := time.Unix(1_700_000_000, 5)
	for i, want := range steps {
		step = i
		row := f.row(t.Context(), at)
		if row.UnixNanosecond != at.UnixNano() || row.UnixSecond != at.Unix() || len(row.Values) != 3 {
			t.Fatalf("%s: row %+v", want.name, row)
		}
		h := row.Values[2]
		for _, c := range []struct {
			what string
			got  result.Number
			want float64
		}{
			{"gauge", row.Values[0].Value, want.gauge},
			{"counter", row.Values[1].Value, want.counter},
			{"delta", row.Values[1].Delta, want.delta},
			{"count", h.Count, want.count},
			{"count's delta", h.CountDelta, want.countDelta},
			{"sum's delta", h.SumDelta, want.sumDelta},
			{"p50", h.P50, want.p50},
		} {
			if float64(c.got) != c.want && (c.got.Known() || !math.IsNaN(c.want)) {
				t.Errorf("%s: %s = %v, want %v", want.name, c.what, c.got, c.want)
			}
		}
	}
	if f.asked != 7 || f.gaps != 2 {
		t.Errorf("asked %d times with %d gaps, want 7 and 2", f.asked, f.gaps)
	}
}

// TestAskIsBounded has a member that never answers: its row is a gap, half a
// second later.
func TestAskIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &figures{specs: tellingDriver{}.Figures(), inspection: tellingInspection{silent}}
		start := time.Now()
		row := f.row(t.Context(), start)
		if took := time.Since(start); took != askTimeout {
			t.Errorf("asked for %v, want %v", took, askTimeout)
		}
		if row.Values[0].Value.Known() {
			t.Errorf("row %+v, want a gap", row)
		}
	})
}

func silent(ctx context.Context) ([]database.Reading, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func newTelling(ask func(context.Context) ([]database.Reading, error)) func(*Options) {
	return func(o *Options) {
		o.Drivers["fake"] = func(raw json.RawMessage) (database.Driver, error) {
			d, err := newFake(raw)
			if err != nil {
				return nil, err
			}
			return tellingDriver{d.(fakeDriver), ask}, nil
		}
	}
}

// series reads the lines of a series from number from on until enough is true
// of those that came, or until its end.
func (a *testAgent) series(t *testing.T, s dbtesterpb.MetricsRequest_Series, from int64, enough func([]string) bool) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	stream, err := a.Metrics(ctx, &dbtesterpb.MetricsRequest{Series: s, From: from})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for enough == nil || !enough(lines) {
		row, err := stream.Recv()
		if err != nil {
			if enough != nil {
				t.Fatalf("after %q: %v", lines, err)
			}
			break
		}
		if row.GetNumber() != from+int64(len(lines)) {
			t.Fatalf("row %d, want %d", row.GetNumber(), from+int64(len(lines)))
		}
		lines = append(lines, row.GetLine())
	}
	return lines
}

// TestFiguresBesideSamples follows both series of a member: the figures come
// beside the samples, resume where they broke, and stand in the file as they
// were streamed.
func TestFiguresBesideSamples(t *testing.T) {
	asked := 0.0
	a := newTestAgent(t, newTelling(func(context.Context) ([]database.Reading, error) {
		asked++
		return told(asked, asked, asked, asked, asked, asked), nil
	}))
	started := a.start(t, "")
	if got := started.GetFigures(); len(got) != 3 || got[2].GetMeaning() != "log-sync" || got[2].GetKind() != "histogram" || got[2].GetUnit() != "s" {
		t.Errorf("Start = %v", started)
	}
	first := a.series(t, dbtesterpb.MetricsRequest_SERIES_FIGURES, 0, func(lines []string) bool { return len(lines) == 2 })
	if !strings.HasPrefix(first[0], "UNIX-NANOSECOND,UNIX-SECOND,FAKE-PENDING,FAKE-APPLIED-TOTAL,FAKE-APPLIED-TOTAL-DELTA,FAKE-FSYNC-SECONDS-COUNT,") {
		t.Errorf("header %q", first[0])
	}
	a.stop(t, false)
	rest := a.series(t, dbtesterpb.MetricsRequest_SERIES_FIGURES, 2, nil)
	whole := strings.Join(append(first, rest...), "\n") + "\n"
	file, _ := a.fetch(t, &dbtesterpb.FetchRequest{File: dbtesterpb.FetchRequest_FILE_FIGURES})
	if string(file) != whole {
		t.Errorf("file\n%swas streamed as\n%s", file, whole)
	}
	if system := a.series(t, dbtesterpb.MetricsRequest_SERIES_UNSPECIFIED, 0, nil); !strings.Contains(system[0], "VMRSS-NUM") {
		t.Errorf("system metrics begin with %q", system[0])
	}
}

// TestSilentMemberDelaysNoSample has a member that never tells its figures.
func TestSilentMemberDelaysNoSample(t *testing.T) {
	a := newTestAgent(t, newTelling(silent))
	a.start(t, "")
	system := a.series(t, dbtesterpb.MetricsRequest_SERIES_UNSPECIFIED, 1, func(lines []string) bool { return len(lines) == 3 })
	for i := 1; i < len(system); i++ {
		if second(t, system[i]) != second(t, system[i-1])+1 {
			t.Errorf("samples %q are not a second apart", system)
		}
	}
	for _, line := range a.series(t, dbtesterpb.MetricsRequest_SERIES_FIGURES, 1, func(lines []string) bool { return len(lines) == 2 }) {
		if cells := strings.Split(line, ","); strings.Join(cells[2:], "") != "" {
			t.Errorf("row %q, want a gap", line)
		}
	}
}

// second returns the second column of a row.
func second(t *testing.T, line string) int64 {
	t.Helper()
	unix := json.Number(strings.Split(line, ",")[1])
	n, err := unix.Int64()
	if err != nil {
		t.Fatalf("row %q: %v", line, err)
	}
	return n
}

func TestStoreWithoutFigures(t *testing.T) {
	a := newTestAgent(t, nil)
	if started := a.start(t, ""); len(started.GetFigures()) != 0 {
		t.Errorf("Start = %v", started)
	}
	stream, err := a.Metrics(t.Context(), &dbtesterpb.MetricsRequest{Series: dbtesterpb.MetricsRequest_SERIES_FIGURES})
	if err == nil {
		_, err = stream.Recv()
	}
	if status.Code(err) != codes.FailedPrecondition {
		t.Errorf("the series of figures: %v, want it refused", err)
	}
}

// TestPingTimeOnly asks for the clock alone.
func TestPingTimeOnly(t *testing.T) {
	a := newTestAgent(t, nil)
	resp, err := a.Ping(t.Context(), &dbtesterpb.PingRequest{TimeOnly: true})
	if err != nil || resp.GetNow() == nil || resp.GetHost() != nil || len(resp.GetInstallations()) != 0 {
		t.Errorf("Ping = %v, %v", resp, err)
	}
}
