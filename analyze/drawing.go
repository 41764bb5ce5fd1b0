package analyze

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Size and margin of a drawing, in points.
const (
	drawingWidth  = 640
	drawingHeight = 370
	margin        = 12
	titleHeight   = 24
)

func textStyle(size vg.Length) draw.TextStyle {
	return draw.TextStyle{
		Color:   color.NRGBA{0x22, 0x22, 0x22, 0xFF},
		Font:    font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		YAlign:  text.YCenter,
		Handler: plot.DefaultTextHandler,
	}
}

// draw returns the chart as SVG.
func (ch chart) draw(lines []series) ([]byte, error) {
	canvas := vgsvg.New(drawingWidth, drawingHeight)
	all := draw.New(canvas)
	all.SetColor(color.White)
	all.Fill(all.Path())
	inner := draw.Crop(all, margin, -margin, margin, -margin)

	title := textStyle(15)
	inner.FillText(title, vg.Point{X: inner.Min.X, Y: inner.Max.Y - titleHeight/2}, ch.title)
	if len(ch.bound) > 0 {
		note := textStyle(11)
		note.XAlign = text.XRight
		note.Color = boundColor()
		inner.FillText(note, vg.Point{X: inner.Max.X, Y: inner.Max.Y - titleHeight/2}, "marked below: client-bound seconds")
	}
	names := legend{style: textStyle(12), points: ch.errors}
	for _, line := range lines {
		names.names = append(names.names, line.name)
	}
	below := draw.Crop(inner, 0, 0, 0, -titleHeight)
	names.draw(below)
	used := names.place(below.Max.X-below.Min.X, func(int, vg.Length, vg.Length) {})
	ch.plot(lines).Draw(draw.Crop(below, 0, 0, 0, -used-8))

	var buf bytes.Buffer
	if _, err := canvas.WriteTo(&buf); err != nil {
		return nil, fmt.Errorf("draw chart %s: %w", ch.name, err)
	}
	return portable(buf.Bytes(), ch.title), nil
}

// portable names fonts that every machine has one of, and describes the
// drawing to those who cannot see it.
func portable(svg []byte, title string) []byte {
	svg = bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"), []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
	return bytes.Replace(svg, []byte("<svg "), []byte(`<svg role="img" aria-label="`+html.EscapeString(title)+`" `), 1)
}

// plot builds the part of the drawing with the axes.
func (ch chart) plot(lines []series) *plot.Plot {
	p := plot.New()
	grid := plotter.NewGrid()
	grid.Vertical.Color = nil
	grid.Horizontal = draw.LineStyle{Color: color.NRGBA{0xDD, 0xDD, 0xDD, 0xFF}, Width: 0.5}
	p.Add(grid)
	nothing := true
	for i, line := range lines {
		nothing = nothing && line.empty()
		if ch.errors {
			p.Add(errorTrace{series: line, look: lookOf(i), log: ch.log})
		} else {
			p.Add(trace{series: line, look: lookOf(i), offset: i})
		}
	}
	if nothing {
		p.Add(emptyNote{})
	}
	if len(ch.bound) > 0 {
		p.Add(boundMarks{ch.bound})
	}
	styleAxis(&p.X, ch.x.label)
	styleAxis(&p.Y, ch.y.label)
	p.X.Min, p.X.Max = xRange(lines)
	p.X.Tick.Marker = ticks{count: 8, format: ch.x.format}
	p.Y.Min, p.Y.Max = ch.yRange(lines)
	p.Y.Tick.Marker = ticks{count: 6, format: ch.y.format}
	if ch.log {
		// The axis itself stays linear, in powers of ten: the library places
		// the label of a logarithmic one outside the drawing.
		p.Y.Min, p.Y.Max = math.Log10(p.Y.Min), math.Log10(p.Y.Max)
		p.Y.Tick.Marker = logTicks{format: ch.y.format}
	}
	return p
}

func styleAxis(a *plot.Axis, label string) {
	grey := color.NRGBA{0x66, 0x66, 0x66, 0xFF}
	a.Label.Text = label
	a.Label.TextStyle.Font = textStyle(12).Font
	a.Label.TextStyle.Color = color.NRGBA{0x22, 0x22, 0x22, 0xFF}
	a.Label.Padding = 6
	a.Tick.Label.Font = textStyle(11).Font
	a.Tick.Label.Color = color.NRGBA{0x22, 0x22, 0x22, 0xFF}
	a.Tick.Length = 4
	a.Tick.Color = grey
	a.Color = grey
	a.Padding = 0
}

// xRange begins at 0 and ends with the last point.
func xRange(lines []series) (low, high float64) {
	for _, line := range lines {
		for _, p := range line.points {
			high = max(high, p.x)
		}
	}
	if high == 0 {
		high = 1
	}
	return 0, high
}

// yRange holds all that is drawn: from 0, or between two powers of ten.
func (ch chart) yRange(lines []series) (low, high float64) {
	low = math.Inf(1)
	for _, line := range lines {
		for _, p := range line.points {
			for _, v := range ch.drawn(p) {
				if known(v) && v > 0 {
					low, high = min(low, v), max(high, v)
				}
			}
		}
	}
	switch {
	case high == 0 && ch.log:
		return 0.1, 10
	case high == 0:
		return 0, 1
	case ch.log:
		low = math.Pow(10, math.Floor(math.Log10(low)))
		return max(low, high/1e12), math.Pow(10, math.Ceil(math.Log10(high*1.01)))
	}
	step := roundStep(high / 6)
	return 0, math.Ceil(high*1.02/step) * step
}

// drawn are the values of a point that the chart shows.
func (ch chart) drawn(p point) []float64 {
	if ch.errors {
		return []float64{p.y, p.low, p.high}
	}
	return []float64{p.y}
}

// emptyNote says in the middle of a chart that there is nothing to draw.
type emptyNote struct{}

// Plot implements [plot.Plotter].
func (emptyNote) Plot(c draw.Canvas, _ *plot.Plot) {
	style := textStyle(13)
	style.XAlign = text.XCenter
	c.FillText(style, c.Center(), "no data")
}
