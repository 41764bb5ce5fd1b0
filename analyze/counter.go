package analyze

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/dbtester/dbtester/result"
)

// slack is how far from a window's edge the next sample of every second may be
// without a word: one sampling interval and half another.
const slack = 1500 * time.Millisecond

// reading is one value of a counter that only rises.
type reading struct {
	at    int64 // nanoseconds on the controller's clock
	value float64
}

// counter is what was read of one counter, in the order of time.
type counter []reading

// increase is how much a counter rose over the measured windows.
type increase struct {
	total float64
	known bool
	// reset: the counter went backwards, and that step is left out.
	reset bool
	// missed: a window begins before the first or ends after the last reading
	// by this much.
	missed time.Duration
	// slack is how much may be missed without a word.
	slack time.Duration
}

// counterOf takes the known readings of a counter from the samples. Where only
// deltas were recorded they are added up instead.
func counterOf(s samples, value, delta func(*result.SystemRow) result.Number) counter {
	var c counter
	last, lift := -1, 0.0
	for i := range s.rows {
		v := value(&s.rows[i])
		if !v.Known() {
			continue
		}
		// Where the delta is known although the value fell, the counter wrapped.
		if last >= 0 && last == i-1 && delta != nil {
			if before, d := value(&s.rows[last]), delta(&s.rows[i]); v < before && d.Known() {
				lift += float64(before + d - v)
			}
		}
		last = i
		c = append(c, reading{s.at[i], float64(v) + lift})
	}
	if len(c) > 1 || delta == nil {
		return c
	}
	c = nil
	sum := 0.0
	for i := range s.rows {
		d := delta(&s.rows[i])
		if !d.Known() && i > 0 {
			continue
		}
		if d.Known() {
			sum += float64(d)
		}
		c = append(c, reading{s.at[i], sum})
	}
	return c
}

// over returns the increase over the windows, each from the last reading at or
// before its start to the first at or after its end. An interval that two
// windows share counts once.
func (c counter) over(windows []span) increase {
	sum := increase{slack: slack}
	if len(c) < 2 {
		return sum
	}
	at := make([]int64, len(c))
	for i := range c {
		at[i] = c[i].at
	}
	sum.slack = max(slack, usualInterval(at)*3/2)
	windows = slices.Clone(windows)
	slices.SortFunc(windows, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	done := 0
	for _, w := range windows {
		first, last := c.bracket(w)
		sum.missed = max(sum.missed, ahead(c[first].at, w.from), ahead(w.to, c[last].at))
		for i := max(first, done) + 1; i <= last; i++ {
			sum.known = true
			if step := c[i].value - c[i-1].value; step >= 0 {
				sum.total += step
			} else {
				sum.reset = true
			}
		}
		done = max(done, last)
	}
	return sum
}

// bracket returns the last reading at or before the window and the first at or
// after it, or the first and last there are.
func (c counter) bracket(w span) (first, last int) {
	first = sort.Search(len(c), func(i int) bool { return c[i].at > w.from }) - 1
	last = sort.Search(len(c), func(i int) bool { return c[i].at >= w.to })
	return max(first, 0), min(last, len(c)-1)
}

// ahead is how much later a is than b, if at all.
func ahead(a, b int64) time.Duration {
	if a <= b {
		return 0
	}
	return time.Duration(min(float64(a)-float64(b), float64(time.Hour)))
}

// within returns the increase over one window whose edges lie between two
// readings: the part of the interval inside the window counts in proportion.
// So neighbouring stages share the second in which one ends and the other begins.
func (c counter) within(w span) (total float64, known bool) {
	for i := 1; i < len(c); i++ {
		length := float64(c[i].at) - float64(c[i-1].at)
		inside := min(float64(c[i].at), float64(w.to)) - max(float64(c[i-1].at), float64(w.from))
		step := c[i].value - c[i-1].value
		if length <= 0 || inside <= 0 || step < 0 {
			continue
		}
		total += step * inside / length
		known = true
	}
	return total, known
}
