package analyze

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A look tells the lines of a chart apart in three ways, so that each alone is
// enough: colour, dash pattern and marker.
type look struct {
	line   draw.LineStyle
	bars   draw.LineStyle // of error points
	marker draw.GlyphStyle
}

// lookOf returns the look of line i, 0 for the first. The colours are those of
// Okabe and Ito, which the colour-blind tell apart, light and dark in turn so
// that they differ in grey; yellow is left out because it is lost on white.
func lookOf(i int) look {
	colors := []color.NRGBA{
		{0x00, 0x72, 0xB2, 0xFF}, // blue
		{0xE6, 0x9F, 0x00, 0xFF}, // orange
		{0x00, 0x00, 0x00, 0xFF}, // black
		{0x00, 0x9E, 0x73, 0xFF}, // bluish green
		{0xCC, 0x79, 0xA7, 0xFF}, // reddish purple
		{0xD5, 0x5E, 0x00, 0xFF}, // vermilion
		{0x56, 0xB4, 0xE9, 0xFF}, // sky blue
	}
	dashes := [][]vg.Length{nil, {7, 3}, {2, 2}, {9, 3, 2, 3}, {4, 2}}
	shapes := []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{},
	}
	c := colors[i%len(colors)]
	faint := c
	faint.A = 0x80
	return look{
		line:   draw.LineStyle{Color: c, Width: vg.Points(1.5), Dashes: dashes[i%len(dashes)]},
		bars:   draw.LineStyle{Color: faint, Width: vg.Points(1)},
		marker: draw.GlyphStyle{Color: c, Radius: vg.Points(3.2), Shape: shapes[i%len(shapes)]},
	}
}

// sample draws a marker in the middle of c, with a piece of line behind it.
func (l look) sample(c *draw.Canvas, line bool) {
	if y := c.Center().Y; line {
		c.StrokeLine2(l.line, c.Min.X, y, c.Max.X, y)
	}
	c.DrawGlyphNoClip(l.marker, c.Center())
}
