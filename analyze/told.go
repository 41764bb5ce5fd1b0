package analyze

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"sort"

	"github.com/dbtester/dbtester/internal/hist"
	"github.com/dbtester/dbtester/result"
)

// told is what one member told of one of its own figures, on the controller's
// clock. An ask that came to nothing is not in it.
type told struct {
	result.Figure
	at     []int64
	values []result.FigureValue
}

// readTold reads the figures of a member, one told per figure of the database,
// and when it was asked for them.
func (c *column) readTold(r *reader, index int, clock clock) (all []told, asked []int64) {
	if len(c.db.Figures) == 0 {
		return nil, nil
	}
	rows := readFigures(r, filepath.Join(c.dir, result.MemberFiguresFile(index)), c.db.Figures)
	stamps := make([]int64, len(rows))
	for i := range rows {
		stamps[i] = rows[i].UnixNanosecond
	}
	at := clock.controller(stamps)
	all = make([]told, len(c.db.Figures))
	for f := range all {
		all[f].Figure = c.db.Figures[f]
		for _, i := range inOrder(at) {
			if v := rows[i].Values[f]; v.Value.Known() || v.Count.Known() {
				all[f].at, all[f].values = append(all[f].at, at[i]), append(all[f].values, v)
			}
		}
	}
	return all, at
}

// manySilent is the share of asks without an answer above which a note tells
// of them.
const manySilent = 0.05

// silenceNotes tells which members often told nothing of themselves while the
// load ran: just then a store that is held up has no time to answer.
func (c *column) silenceNotes() []string {
	var notes []string
	for i := range c.members {
		m := &c.members[i]
		asked, answered := c.countInWindows(m.asked), 0
		for _, t := range m.told {
			answered = max(answered, c.countInWindows(t.at))
		}
		if silent := asked - answered; float64(silent) > manySilent*float64(asked) {
			notes = append(notes, fmt.Sprintf("member %d told nothing of itself at %d of %d asks while the load ran: the figures of the store are those of the rest",
				m.Index, silent, asked))
		}
	}
	return notes
}

// countInWindows counts the times within a measured window.
func (c *column) countInWindows(times []int64) int {
	n := 0
	for _, at := range times {
		if slices.ContainsFunc(c.stages, func(s stage) bool { return s.window.contains(at) }) {
			n++
		}
	}
	return n
}

// readFigures returns the rows of a file of figures, up to the first line that
// cannot be read.
func readFigures(r *reader, path string, figures []result.Figure) []result.FigureRow {
	data, half, err := wholeLines(path)
	if err != nil {
		r.missing(path, err, perSecond)
		return nil
	}
	if half != nil {
		r.judge(half, r.cutShort)
	}
	rows, err := result.ParseFigures(bytes.NewReader(data), path, figures)
	if err != nil {
		r.judge(fmt.Errorf("%w: the rest of the file is left out", err), r.cutShort)
	}
	return rows
}

// meaning returns what the members told under that name, member by member;
// several figures of one store may share it.
func (c *column) meaning(name string) [][]told {
	var members [][]told
	for i := range c.members {
		var figures []told
		for _, t := range c.members[i].told {
			if t.Meaning == name {
				figures = append(figures, t)
			}
		}
		members = append(members, figures)
	}
	return members
}

// tells reports whether some column has a figure of that meaning and one of
// those kinds, or of any kind if none is given.
func tells(columns []*column, meaning string, kinds ...result.FigureKind) bool {
	return slices.ContainsFunc(columns, func(c *column) bool {
		return slices.ContainsFunc(c.db.Figures, func(f result.Figure) bool {
			return f.Meaning == meaning && (len(kinds) == 0 || slices.Contains(kinds, f.Kind))
		})
	})
}

// counter takes one field as a counter.
func (t told) counter(field func(result.FigureValue) result.Number) counter {
	var c counter
	for i, v := range t.values {
		if n := field(v); n.Known() {
			c = append(c, reading{t.at[i], float64(n)})
		}
	}
	return c
}

// milliseconds is what one unit of a time is in milliseconds.
func (t told) milliseconds() float64 {
	switch t.Unit {
	case "s":
		return 1e3
	case "ns":
		return 1e-6
	default:
		return 1
	}
}

// buckets are those of one answer.
func buckets(v result.FigureValue) hist.Buckets {
	var b hist.Buckets
	for _, bucket := range v.Buckets {
		b.Edges, b.Counts = append(b.Edges, bucket.Edge), append(b.Counts, bucket.Count)
	}
	return b
}

// events are those of a histogram between the answers from and to. A step over
// which the member began to count anew is left out.
func (t told) events(from, to int) hist.Buckets {
	var sum hist.Buckets
	for i := from + 1; i <= to; i++ {
		if d, ok := buckets(t.values[i]).Since(buckets(t.values[i-1])); ok {
			sum, _ = sum.Merge(d)
		}
	}
	return sum
}

// over returns the events of the windows, each from the last answer at or
// before its start to the first at or after its end; see [counter.over].
func (t told) over(windows []span) hist.Buckets {
	var sum hist.Buckets
	if len(t.at) < 2 {
		return sum
	}
	c := t.counter(func(v result.FigureValue) result.Number { return v.Count })
	windows = slices.Clone(windows)
	slices.SortFunc(windows, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	done := 0
	for _, w := range windows {
		first, last := c.bracket(w)
		sum, _ = sum.Merge(t.events(max(first, done), last))
		done = max(done, last)
	}
	return sum
}

// covering returns the answers around the instant, and false where there is a
// gap.
func (t told) covering(at int64) (before, after int, ok bool) {
	i := sort.Search(len(t.at), func(i int) bool { return t.at[i] >= at })
	if i == 0 || i == len(t.at) || t.at[i]-t.at[i-1] > int64(longestInterval) {
		return 0, 0, false
	}
	return i - 1, i, true
}
