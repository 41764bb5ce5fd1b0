package analyze

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dbtester/dbtester/result"
)

const (
	// widestBound is the uncertainty of a clock above which rows may stand in
	// the wrong second often enough to say so.
	widestBound = 100 * time.Millisecond
	// fastestSlew is how fast a clock moves that is being adjusted and not set:
	// the 500 ppm of adjtimex(2).
	fastestSlew = 500e-6
)

// A clock puts the time stamps of a member's machine on the controller's clock.
type clock struct {
	// stretches are the measurements between two steps, in the order of time;
	// there is at least one, with at least one measurement.
	stretches []stretch
}

// A stretch is a time in which the clock was not set.
type stretch []result.ClockOffset

// clockOf takes what was measured of a member's clock; without measurements of
// their own times, the one offset holds throughout.
func clockOf(m result.Member) clock {
	measured := slices.Clone(m.Clocks)
	if len(measured) == 0 {
		measured = []result.ClockOffset{{Offset: m.ClockOffset, Bound: m.ClockBound}}
	}
	slices.SortStableFunc(measured, func(a, b result.ClockOffset) int { return cmp.Compare(a.At, b.At) })
	c := clock{stretches: []stretch{measured[:1]}}
	for i := 1; i < len(measured); i++ {
		if isStep(measured[i-1], measured[i]) {
			c.stretches = append(c.stretches, measured[i:i+1])
			continue
		}
		last := &c.stretches[len(c.stretches)-1]
		*last = append(slices.Clip(*last), measured[i])
	}
	return c
}

// isStep reports whether the clock was set between two measurements: it moved
// faster than one that is being adjusted.
func isStep(a, b result.ClockOffset) bool {
	return float64(moved(a, b)) > fastestSlew*float64(b.At-a.At)
}

// moved is how far the offset went for certain.
func moved(a, b result.ClockOffset) time.Duration {
	return max((b.Offset-a.Offset).Abs()-a.Bound-b.Bound, 0)
}

// controller returns the stamps, which are in the order they were taken, on
// the controller's clock.
//
// Where the clock was set the stamps themselves show it: the one that is as
// far off its time as the step is long, is the first on the clock as set. If
// none is, the next measurement is what counts.
func (c clock) controller(stamps []int64) []int64 {
	at := make([]int64, len(stamps))
	rest, usual := c.stretches, usualInterval(stamps)
	for i, stamp := range stamps {
		if len(rest) > 1 && i > 0 {
			from, to := rest[0][len(rest[0])-1], rest[1][0]
			step := to.Offset - from.Offset
			jump := time.Duration(stamp-stamps[i-1]) - usual
			seen := at[i-1] >= from.At-int64(usual) && (jump-step).Abs() < step.Abs()/2
			if seen || stamp-int64(rest[0].offset(stamp)) >= to.At {
				rest = rest[1:]
			}
		}
		at[i] = stamp - int64(rest[0].offset(stamp))
	}
	return at
}

// usualInterval is the median of the intervals between stamps.
func usualInterval(stamps []int64) time.Duration {
	if len(stamps) < 2 {
		return 0
	}
	intervals := make([]int64, len(stamps)-1)
	for i := range intervals {
		intervals[i] = stamps[i+1] - stamps[i]
	}
	slices.Sort(intervals)
	return time.Duration(intervals[len(intervals)/2])
}

// offset is how far the clock was ahead at one of its own stamps: what lies
// between two measurements if they differ by more than their bounds, and
// otherwise the one measurement with the smallest.
func (s stretch) offset(stamp int64) time.Duration {
	if !s.drifts() {
		return slices.MinFunc(s, func(a, b result.ClockOffset) int { return cmp.Compare(a.Bound, b.Bound) }).Offset
	}
	own := func(o result.ClockOffset) int64 { return o.At + int64(o.Offset) }
	for i := 1; i < len(s); i++ {
		from, to := own(s[i-1]), own(s[i])
		if stamp > to || to <= from {
			continue
		}
		share := float64(max(stamp-from, 0)) / float64(to-from)
		return s[i-1].Offset + time.Duration(share*float64(s[i].Offset-s[i-1].Offset))
	}
	return s[len(s)-1].Offset
}

// drifts reports whether no single offset fits all measurements.
func (s stretch) drifts() bool {
	low, high := s[0].Offset-s[0].Bound, s[0].Offset+s[0].Bound
	for _, o := range s {
		low, high = max(low, o.Offset-o.Bound), min(high, o.Offset+o.Bound)
	}
	return low > high
}

// clockNotes tells which clocks are not known well, which drifted and which
// were set.
func (c *column) clockNotes() []string {
	var notes, drifted []string
	for i := range c.members {
		m := &c.members[i]
		for _, o := range append([]result.ClockOffset{{Bound: m.ClockBound}}, m.Clocks...) {
			if o.Bound > widestBound {
				notes = append(notes, fmt.Sprintf("CLOCK: that of member %d is known to ± %v only: its rows may stand in the wrong second", m.Index, o.Bound.Round(time.Millisecond)))
				break
			}
		}
		for _, s := range m.clock.stretches {
			if s.drifts() {
				drifted = append(drifted, fmt.Sprintf("member %d by %+.3f ms in %.0f s", m.Index,
					milliseconds(s[len(s)-1].Offset-s[0].Offset), time.Duration(s[len(s)-1].At-s[0].At).Seconds()))
			}
		}
		notes = append(notes, m.stepNotes()...)
	}
	if len(drifted) > 0 {
		notes = append(notes, "CLOCK: drifting against the controller's beyond what the measurements leave open, "+
			strings.Join(drifted, ", ")+": rows are joined on the time between the measurements")
	}
	return notes
}

func (m *member) stepNotes() []string {
	var notes []string
	for k := 1; k < len(m.clock.stretches); k++ {
		before := m.clock.stretches[k-1]
		from, to := before[len(before)-1], m.clock.stretches[k][0]
		clockTime := func(o result.ClockOffset) string { return time.Unix(0, o.At).UTC().Format("15:04:05") }
		notes = append(notes, fmt.Sprintf("CLOCK: that of member %d was set by %+.3f s between %s and %s UTC: its rows in between may stand in the wrong second",
			m.Index, (to.Offset-from.Offset).Seconds(), clockTime(from), clockTime(to)))
	}
	return notes
}

// clockText tells how far the clock was ahead, at first and at last.
func clockText(m result.Member) string {
	text := fmt.Sprintf("%v ± %v", m.ClockOffset, m.ClockBound)
	if n := len(m.Clocks); n > 1 {
		last := m.Clocks[n-1]
		text += fmt.Sprintf(", at last %v ± %v (%d measurements)", last.Offset, last.Bound, n)
	}
	return text
}
