package analyze

import (
	"maps"
	"math"
	"slices"

	"github.com/dbtester/dbtester/result"
)

// A second joins what all members sampled in one second of the controller's clock.
type second struct {
	unix    int64
	members []observation // one per member; its row is nil in a gap
}

// An observation is one member's sample of a second.
type observation struct {
	row    *result.SystemRow
	length float64 // seconds since the sample before
}

// A measure reads one figure from an observation; NaN if it is not known.
type measure func(observation) float64

// gauge measures a field as it stands.
func gauge(field func(*result.SystemRow) result.Number) measure {
	return func(o observation) float64 {
		if o.row == nil {
			return math.NaN()
		}
		return float64(field(o.row))
	}
}

// rate measures a delta per second, so that a late sample does not look like a burst.
func rate(delta func(*result.SystemRow) result.Number) measure {
	return func(o observation) float64 {
		if o.row == nil {
			return math.NaN()
		}
		return float64(delta(o.row)) / o.length
	}
}

// secondsOf joins the samples of several processes by second.
func secondsOf(members []samples) []second {
	units := map[int64]struct{}{}
	for _, m := range members {
		m.middles(func(unix int64) { units[unix] = struct{}{} })
	}
	seconds := make([]second, 0, len(units))
	for _, unix := range slices.Sorted(maps.Keys(units)) {
		s := second{unix: unix, members: make([]observation, len(members))}
		for i, m := range members {
			s.members[i].row, s.members[i].length = m.covering(middle(unix))
		}
		seconds = append(seconds, s)
	}
	return seconds
}

// measured returns the seconds whose middle lies in a window; for a window too
// short to hold one, the seconds it touches.
func measured(seconds []second, windows []span) []second {
	pick := func(in func(second, span) bool) []second {
		return slices.DeleteFunc(slices.Clone(seconds), func(s second) bool {
			return !slices.ContainsFunc(windows, func(w span) bool { return in(s, w) })
		})
	}
	inside := pick(func(s second, w span) bool { return w.contains(middle(s.unix)) })
	if len(inside) > 0 {
		return inside
	}
	return pick(func(s second, w span) bool { return floorSecond(w.from) <= s.unix && s.unix <= floorSecond(w.to) })
}

// spread is the mean, the least and the most of what the members show in one
// second; NaN if none is known.
type spread struct{ mean, low, high float64 }

// over spreads a measure over the members at the given positions.
func (s second) over(m measure, positions []int) spread {
	var values []float64
	for _, i := range positions {
		if v := m(s.members[i]); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return spread{math.NaN(), math.NaN(), math.NaN()}
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return spread{sum / float64(len(values)), slices.Min(values), slices.Max(values)}
}

// largestMean returns the largest over seconds of the mean over members, and
// how many seconds lack some, but not all, of the members.
func largestMean(seconds []second, m measure, positions []int) (largest float64, partly int) {
	largest = math.NaN()
	for _, s := range seconds {
		if v := s.over(m, positions).mean; math.IsNaN(largest) || v > largest {
			largest = v
		}
		known := 0
		for _, i := range positions {
			if !math.IsNaN(m(s.members[i])) {
				known++
			}
		}
		if known > 0 && known < len(positions) {
			partly++
		}
	}
	return largest, partly
}
