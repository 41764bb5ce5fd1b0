package analyze

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/dbtester/dbtester/result"
)

// longestInterval is how far apart two rows of every second may be and still
// speak for the seconds between them. Beyond it those seconds are a gap. Of
// samples that are further apart by plan it is gapFactor of their intervals.
const (
	longestInterval = 2500 * time.Millisecond
	gapFactor       = 2.5
)

// stepSeen is the least difference between the wall clock's and the monotonic
// interval of a sample that is a step of the clock.
const stepSeen = 20 * time.Millisecond

// samples are the system metrics of one process, on the controller's clock, at
// most one a second.
type samples struct {
	rows []result.SystemRow
	at   []int64 // when rows[i] was taken, nanoseconds since the Unix epoch
	// longest distance of two samples with no gap between them, in nanoseconds.
	longest float64
}

// newSamples puts rows, which are in the order they were taken, in the order of
// time on the controller's clock.
func newSamples(rows []result.SystemRow, c clock) samples {
	rows = slices.Clone(rows)
	if len(c.stretches) == 1 {
		unstep(rows)
	}
	stamps := make([]int64, len(rows))
	for i := range rows {
		stamps[i] = rows[i].UnixNanosecond
	}
	at := c.controller(stamps)
	order := inOrder(at)
	s := samples{rows: make([]result.SystemRow, len(rows)), at: make([]int64, len(rows))}
	for to, from := range order {
		s.rows[to], s.at[to] = rows[from], at[from]
	}
	s = s.bySecond()
	s.longest = max(float64(longestInterval), gapFactor*float64(usualInterval(s.at)))
	return s
}

// inOrder returns the places of the times in their order.
func inOrder(at []int64) []int {
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	return order
}

// unstep takes steps of the sampling machine's clock out that no measurement of
// it has seen: each sample stands as far behind the one before as it was. Rows of
// old files do not tell their interval and stay.
func unstep(rows []result.SystemRow) {
	shift, before := int64(0), int64(0)
	for i := range rows {
		wall := rows[i].UnixNanosecond
		if interval := rows[i].Interval; i > 0 && interval > 0 {
			step := wall - before - int64(float64(interval)*float64(time.Second))
			if time.Duration(step).Abs() >= stepSeen {
				shift += step
			}
		}
		before = wall
		rows[i].UnixNanosecond = wall - shift
		rows[i].UnixSecond = floorSecond(wall - shift)
	}
}

// covering returns the sample whose interval holds the instant t and that
// interval's length in seconds; nil where there is a gap. A sample speaks for
// the time since the sample before it.
func (s samples) covering(t int64) (row *result.SystemRow, length float64) {
	i := sort.Search(len(s.at), func(i int) bool { return s.at[i] >= t })
	if i == len(s.at) || i == 0 {
		return nil, 0
	}
	gap := float64(s.at[i]) - float64(s.at[i-1])
	if gap <= 0 || gap > s.longest {
		return nil, 0
	}
	return &s.rows[i], gap / float64(time.Second)
}

// middles calls fn with every second whose middle a sample covers.
func (s samples) middles(fn func(unix int64)) {
	for i := 1; i < len(s.at); i++ {
		if gap := float64(s.at[i]) - float64(s.at[i-1]); gap <= 0 || gap > s.longest {
			continue
		}
		for unix := floorSecond(s.at[i-1]); unix <= floorSecond(s.at[i]); unix++ {
			if t := middle(unix); s.at[i-1] < t && t <= s.at[i] {
				fn(unix)
			}
		}
	}
}

// middle is the instant in the middle of a second.
func middle(unix int64) int64 { return unix*int64(time.Second) + int64(time.Second)/2 }

// floorSecond returns the second in which t lies.
func floorSecond(t int64) int64 {
	unix := t / int64(time.Second)
	if t%int64(time.Second) < 0 {
		unix--
	}
	return unix
}
