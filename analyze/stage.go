package analyze

import (
	"cmp"
	"slices"
	"time"

	"github.com/dbtester/dbtester/result"
)

// span is a stretch of the controller's clock, in nanoseconds since the Unix epoch.
type span struct{ from, to int64 }

func (s span) seconds() float64 { return time.Duration(max(s.to-s.from, 0)).Seconds() }

// contains reports whether t lies in the span.
func (s span) contains(t int64) bool { return s.from <= t && t < s.to }

// stage is one step of the load with its measured window: from the manifest if
// the stage ended, otherwise from the seconds that reached the disk.
type stage struct {
	result.Stage
	window span
	// derived: the window is known to a second only.
	derived bool
}

// stagesOf joins the stages of the manifest with the rows of the time series,
// in the order of their numbers.
func stagesOf(f *findings, db *result.Database, rows []result.TimeseriesRow) []stage {
	seen := map[int]*stage{}
	for _, row := range rows {
		if s := seen[row.Stage]; s != nil {
			s.extend(row)
			continue
		}
		s := &stage{Stage: result.Stage{Number: row.Stage, Clients: row.Clients}, derived: true}
		s.window = span{row.UnixSecond * int64(time.Second), row.UnixSecond * int64(time.Second)}
		s.extend(row)
		seen[row.Stage] = s
	}
	var stages []stage
	for _, planned := range db.Stages {
		counted := seen[planned.Number]
		delete(seen, planned.Number)
		if s, ok := joinStage(f, db.Name, planned, counted); ok {
			stages = append(stages, s)
		}
	}
	for _, s := range seen {
		f.warnf("%s: stage %d is not in the manifest: its window is taken from the time series, to a second", db.Name, s.Number)
		stages = append(stages, *s)
	}
	slices.SortStableFunc(stages, func(a, b stage) int { return cmp.Compare(a.Number, b.Number) })
	return stages
}

// extend adds a second of the time series to a derived stage.
func (s *stage) extend(row result.TimeseriesRow) {
	s.window.from = min(s.window.from, row.UnixSecond*int64(time.Second))
	s.window.to = max(s.window.to, (row.UnixSecond+1)*int64(time.Second))
	s.OK += row.Throughput
	s.Failed += row.Failed
	s.Indeterminate += row.Indeterminate
}

// joinStage decides between what the manifest says of a stage and what the
// time series counted, which is nil if it has no row. A stage that never began
// has no figures.
func joinStage(f *findings, name string, planned result.Stage, counted *stage) (stage, bool) {
	ended := planned.Start > 0 && planned.End >= planned.Start
	if ended {
		s := stage{Stage: planned, window: span{planned.Start, planned.End}}
		s.compare(f, name, counted)
		return s, true
	}
	if counted == nil {
		return stage{}, false
	}
	s := *counted
	s.Connections, s.Rate, s.Planned = planned.Connections, planned.Rate, planned.Planned
	s.Unsent = max(planned.Planned-s.Attempted(), 0)
	if planned.Start > 0 && planned.Start < s.window.to {
		s.window.from = planned.Start
	}
	f.warnf("%s: stage %d did not end: its window ends with the last second on disk, and what was in flight then is counted as unsent", name, s.Number)
	return s, true
}

// compare tells where the manifest and the time series disagree.
func (s *stage) compare(f *findings, name string, counted *stage) {
	if counted == nil {
		counted = &stage{}
	}
	for _, c := range []struct {
		what            string
		manifest, lines int64
	}{
		{"ok", s.OK, counted.OK},
		{"failed", s.Failed, counted.Failed},
		{"indeterminate", s.Indeterminate, counted.Indeterminate},
	} {
		if c.manifest != c.lines {
			f.warnf("%s: stage %d: the manifest counts %d %s requests, the time series %d", name, s.Number, c.manifest, c.what, c.lines)
		}
	}
	if sum := s.Attempted() + s.Unsent; sum != s.Planned {
		f.warnf("%s: stage %d: %d requests were planned, but ok, failed, indeterminate and unsent add up to %d", name, s.Number, s.Planned, sum)
	}
}

// windows returns the measured windows of the stages.
func windows(stages []stage) []span {
	spans := make([]span, len(stages))
	for i, s := range stages {
		spans[i] = s.window
	}
	return spans
}
