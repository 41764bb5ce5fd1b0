package analyze

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// markersPerLine is about how many points of a line carry a marker.
const markersPerLine = 8

// A trace draws one series as a line that stops at gaps.
type trace struct {
	series
	look
	offset int // spreads the markers of several lines over the x axis
}

// Plot implements [plot.Plotter].
func (t trace) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	var path vg.Path
	var marks []vg.Point
	run := 0 // points since the last gap
	for i, pt := range t.points {
		if pt.gap() {
			run = 0
			continue
		}
		at := vg.Point{X: toX(pt.x), Y: toY(max(pt.y, p.Y.Min))}
		alone := run == 0 && (i+1 == len(t.points) || t.points[i+1].gap())
		switch {
		case alone:
			// A line of no length is invisible.
			path.Move(vg.Point{X: at.X - 1.2, Y: at.Y})
			path.Line(vg.Point{X: at.X + 1.2, Y: at.Y})
		case run == 0:
			path.Move(at)
		default:
			path.Line(at)
		}
		run++
		if t.marked(i) {
			marks = append(marks, at)
		}
	}
	if len(path) > 0 {
		c.SetLineStyle(t.line)
		c.Stroke(path)
	}
	for _, at := range marks {
		c.DrawGlyphNoClip(t.marker, at)
	}
}

// marked reports whether point i carries a marker: all do on a short line.
func (t trace) marked(i int) bool {
	every := len(t.points) / markersPerLine
	return every < 2 || i%every == (t.offset*every/3)%every
}

// An errorTrace draws one series as points with a bar from the lowest to the
// highest value.
type errorTrace struct {
	series
	look
	log bool // the y axis counts powers of ten
}

// Plot implements [plot.Plotter].
func (t errorTrace) Plot(c draw.Canvas, p *plot.Plot) {
	const halfCap = 1.8
	toX, toY := p.Transforms(&c)
	if t.log {
		toY = powersOfTen(p.Y.Min, toY)
	}
	var bars vg.Path
	for _, pt := range t.points {
		if pt.gap() || !known(pt.low) || !known(pt.high) {
			continue
		}
		x, low, high := toX(pt.x), toY(pt.low), toY(pt.high)
		bars.Move(vg.Point{X: x, Y: low})
		bars.Line(vg.Point{X: x, Y: high})
		for _, y := range []vg.Length{low, high} {
			bars.Move(vg.Point{X: x - halfCap, Y: y})
			bars.Line(vg.Point{X: x + halfCap, Y: y})
		}
	}
	if len(bars) > 0 {
		c.SetLineStyle(t.bars)
		c.Stroke(bars)
	}
	for _, pt := range t.points {
		if !pt.gap() {
			c.DrawGlyphNoClip(t.marker, vg.Point{X: toX(pt.x), Y: toY(pt.y)})
		}
	}
}

// powersOfTen puts values on an axis of powers. There is no place for zero on
// it, which lies at the lower end instead.
func powersOfTen(lowest float64, to func(float64) vg.Length) func(float64) vg.Length {
	return func(v float64) vg.Length { return to(max(math.Log10(v), lowest)) }
}

// A legend names the lines in rows above the data, never over them.
type legend struct {
	names  []string
	style  draw.TextStyle
	points bool // the chart has no lines
}

// Sizes of a legend entry, in points.
const (
	legendSample = 28
	legendSpace  = 6
	legendGap    = 22
	legendRow    = 17
)

// place calls fn with the offset of each entry from the top left corner and
// returns the height of all rows.
func (l legend) place(width vg.Length, fn func(i int, x, y vg.Length)) vg.Length {
	x, y := vg.Length(0), vg.Length(0)
	for i, name := range l.names {
		w := legendSample + legendSpace + l.style.Width(name)
		if x > 0 && x+w > width {
			x, y = 0, y+legendRow
		}
		fn(i, x, y)
		x += w + legendGap
	}
	return y + legendRow
}

// draw draws the legend from the top left corner of c down.
func (l legend) draw(c draw.Canvas) {
	l.place(c.Max.X-c.Min.X, func(i int, x, y vg.Length) {
		left, top := c.Min.X+x, c.Max.Y-y
		sample := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: left, Y: top - legendRow},
			Max: vg.Point{X: left + legendSample, Y: top},
		}}
		lookOf(i).sample(&sample, !l.points)
		c.FillText(l.style, vg.Point{X: left + legendSample + legendSpace, Y: top - legendRow/2}, l.names[i])
	})
}
