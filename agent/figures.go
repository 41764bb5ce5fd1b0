//go:build linux

package agent

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/internal/hist"
	"github.com/dbtester/dbtester/internal/monitor"
	"github.com/dbtester/dbtester/result"
)

// askTimeout bounds one ask: half of the second between two of them, so that a
// member that answers late costs its row and not the next one.
const askTimeout = 500 * time.Millisecond

// figures asks a member for what it tells of itself, each second, apart from
// the sampling: a member that does not answer delays no sample.
type figures struct {
	specs      []database.Figure
	inspection database.Inspection
	rows       *rowFile[result.FigureRow]

	last        []database.Reading // of the ask before; nil if that came to nothing
	asked, gaps int
}

// figures are those of the launch's member.
func (l *launch) figures() []database.Figure {
	if l.introspector == nil {
		return nil
	}
	return l.introspector.Figures()
}

// newFigures makes the file of the figures in the member's folder; it returns
// nil if the store has none.
func newFigures(folder string, l *launch) (*figures, error) {
	specs := l.figures()
	if len(specs) == 0 {
		return nil, nil //nolint:nilnil // no figures is no error
	}
	columns := make([]result.Figure, len(specs))
	for i, s := range specs {
		columns[i] = result.Figure{Name: s.Name, Kind: result.FigureKind(s.Kind), Unit: s.Unit, Meaning: string(s.Meaning)}
	}
	inspection, err := l.introspector.Inspect(l.Endpoint)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, result.MemberFiguresFile(l.member.Index))
	table, err := result.CreateFigures(path, columns)
	if err != nil {
		return nil, errors.Join(err, inspection.Close())
	}
	return &figures{specs: specs, inspection: inspection, rows: newRowFile[result.FigureRow](path, table)}, nil
}

// run writes rows until ctx ends. The file stays open until the process is
// gone, like that of the samples.
func (f *figures) run(ctx context.Context, log *slog.Logger) {
	ask := context.WithoutCancel(ctx) // the last one is made when ctx has ended
	for now := range monitor.Seconds(ctx) {
		if err := f.rows.append(f.row(ask, now)); err != nil {
			log.Error("the store's own figures end early", "cause", err)
			_ = f.rows.end(err) // err is the reason, closing adds nothing
			break
		}
	}
	if err := f.inspection.Close(); err != nil {
		log.Warn("the store's own figures end", "cause", err)
	}
	log.Info("the store was asked for its own figures", "times", f.asked, "without answer", f.gaps)
}

// row asks once. An ask that comes to nothing is a gap, and so are the deltas
// of the row after it.
func (f *figures) row(ctx context.Context, now time.Time) result.FigureRow {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	readings, err := f.inspection.Ask(ctx)
	f.asked++
	if err != nil || len(readings) != len(f.specs) {
		f.gaps++
		readings = nil
	}
	row := result.FigureRow{UnixNanosecond: now.UnixNano(), UnixSecond: now.Unix(), Values: make([]result.FigureValue, len(f.specs))}
	for i := range row.Values {
		row.Values[i] = result.UnknownFigure()
		if readings == nil {
			continue
		}
		before := database.Untold()
		if f.last != nil {
			before = f.last[i]
		}
		setFigure(&row.Values[i], readings[i], before)
	}
	f.last = readings
	return row
}

// setFigure fills in what was told now and what came since before.
func setFigure(v *result.FigureValue, now, before database.Reading) {
	v.Value, v.Count, v.Sum = result.Number(now.Value), result.Number(now.Count), result.Number(now.Sum)
	v.Delta = rise(now.Value, before.Value)
	v.CountDelta = rise(now.Count, before.Count)
	if v.CountDelta.Known() { // a sum may fall only where the count did
		v.SumDelta = rise(now.Sum, before.Sum)
	}
	for _, b := range now.Buckets {
		v.Buckets = append(v.Buckets, result.Bucket(b))
	}
	if since, ok := bucketsOf(now).Since(bucketsOf(before)); ok {
		v.P50, v.P99 = result.Number(since.Quantile(0.5)), result.Number(since.Quantile(0.99))
	}
}

// rise returns how far a counter went, or a gap: one that went backwards
// counts anew.
func rise(now, before float64) result.Number {
	if now < before {
		return result.Gap()
	}
	return result.Number(now - before)
}

func bucketsOf(r database.Reading) hist.Buckets {
	var b hist.Buckets
	for _, bucket := range r.Buckets {
		b.Edges, b.Counts = append(b.Edges, bucket.Edge), append(b.Counts, bucket.Count)
	}
	return b
}
