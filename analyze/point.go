package analyze

import (
	"math"
	"slices"
)

// A point of a chart. A y that is not a number is a gap: the line stops before
// it and begins again behind it.
type point struct {
	x, y      float64
	low, high float64 // error points; NaN without
	weight    float64 // requests behind y, for merging
}

func (p point) gap() bool { return !known(p.y) }

// linePoint is a point without error points.
func linePoint(x, y float64) point {
	return point{x: x, y: y, low: unknown(), high: unknown(), weight: 1}
}

// finite makes figures too large to draw a gap.
func (p point) finite() point {
	const tooLarge = 1e300
	for _, v := range []*float64{&p.y, &p.low, &p.high} {
		if math.Abs(*v) > tooLarge {
			*v = unknown()
		}
	}
	return p
}

// A series is the line of one database.
type series struct {
	name   string
	points []point
}

// empty reports whether the series has nothing to draw.
func (s series) empty() bool {
	return !slices.ContainsFunc(s.points, func(p point) bool { return !p.gap() })
}

// thin keeps at most limit points of a line, so that a drawing stays small. Of
// each stretch the lowest and the highest point stay, and a gap stays a gap:
// every point that is drawn was measured.
func thin(points []point, limit int) []point {
	if len(points) <= limit {
		return points
	}
	stretches := max(limit/3, 1)
	var kept []point
	for i := range stretches {
		from, to := i*len(points)/stretches, (i+1)*len(points)/stretches
		kept = append(kept, landmarks(points[from:to])...)
	}
	return kept
}

// landmarks returns the lowest, the highest and the first missing point, in
// their order.
func landmarks(points []point) []point {
	low, high, gap := -1, -1, -1
	for i, p := range points {
		switch {
		case p.gap():
			if gap < 0 {
				gap = i
			}
		case low < 0:
			low, high = i, i
		default:
			if p.y < points[low].y {
				low = i
			}
			if p.y > points[high].y {
				high = i
			}
		}
	}
	var kept []point
	order := []int{low, high, gap}
	slices.Sort(order)
	for _, i := range slices.Compact(order) {
		if i >= 0 {
			kept = append(kept, points[i])
		}
	}
	return kept
}

// merge joins points until at most limit are left, those of equal stretches of
// the x axis together: the mean is that of all requests behind them, the error
// points span theirs. The points are in the order of x, and none is below 0.
func merge(points []point, limit int) []point {
	if len(points) <= limit {
		return points
	}
	width := points[len(points)-1].x / float64(limit)
	stretch := func(p point) float64 { return min(math.Floor(p.x/width), float64(limit-1)) }
	var merged []point
	for from := 0; from < len(points); {
		to := from + 1
		for to < len(points) && stretch(points[to]) == stretch(points[from]) {
			to++
		}
		merged = append(merged, mergeAll(points[from:to]))
		from = to
	}
	return merged
}

func mergeAll(points []point) point {
	sum := linePoint(points[len(points)-1].x, unknown())
	sum.weight = 0
	total := 0.0
	for _, p := range points {
		if p.gap() {
			continue
		}
		total += p.y * p.weight
		sum.weight += p.weight
		sum.low = least(sum.low, p.low)
		sum.high = most(sum.high, p.high)
	}
	if sum.weight > 0 {
		sum.y = total / sum.weight
	}
	return sum
}

// least is the smaller of the known ones.
func least(a, b float64) float64 {
	if math.IsNaN(a) || b < a {
		return b
	}
	return a
}

// most is the larger of the known ones.
func most(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}
