package analyze

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// boundShare is the share of seconds above which a series counts as bound by
// the client: its figures then tell of the harness or its machine too.
const boundShare = 0.01

// bound returns the seconds in which the client was the limit, how many
// seconds there were, and how often each cause was named.
func (c *column) bound() (at []int64, all int, causes map[string]int) {
	causes = map[string]int{}
	for _, row := range c.rows {
		all++
		if row.ClientBound == "" {
			continue
		}
		at = append(at, row.UnixSecond)
		for cause := range strings.SplitSeq(row.ClientBound, ", ") {
			// "machine CPU 98 %" counts as "machine CPU".
			words := strings.Fields(cause)
			for len(words) > 1 && strings.ContainsAny(words[len(words)-1], "0123456789%") {
				words = words[:len(words)-1]
			}
			causes[strings.Join(words, " ")]++
		}
	}
	return at, all, causes
}

// clientBound is what the table says: "no", or the share of seconds.
func (c *column) clientBound() (shown, plain string) {
	at, all, _ := c.bound()
	if all == 0 || !c.watched {
		return notKnown, ""
	}
	share := float64(len(at)) / float64(all)
	if share <= boundShare {
		return "no", raw(share * 100)
	}
	return fmt.Sprintf("%.0f %% of seconds", share*100), raw(share * 100)
}

// isClientBound reports whether the client was the limit in more than 1 % of
// the seconds of a column.
func (c *column) isClientBound() bool {
	at, all, _ := c.bound()
	return float64(len(at)) > boundShare*float64(all)
}

// boundNote tells the causes, most frequent first.
func (c *column) boundNote() []string {
	if !c.isClientBound() {
		return nil
	}
	at, all, causes := c.bound()
	names := make([]string, 0, len(causes))
	for name := range causes {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(causes[b], causes[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%d)", name, causes[name])
	}
	return []string{fmt.Sprintf("CLIENT-BOUND: in %d of %d seconds the harness or its machine was the limit, not the store alone: %s",
		len(at), all, strings.Join(names, ", "))}
}

// covered is the share of the clients' time that the latencies cover, by
// Little's law: average service time × throughput ÷ clients. What is missing
// was spent in the harness, or in requests that failed.
func (c *column) covered() float64 {
	if c.db.RequestRate > 0 {
		return unknown()
	}
	var busy, time float64
	for _, row := range c.rows {
		if row.AvgLatency.Known() {
			busy += float64(row.AvgLatency) / 1000 * float64(row.Throughput)
		}
	}
	for _, s := range c.stages {
		time += float64(s.Clients) * float64(s.window.to-s.window.from) / 1e9
	}
	if time == 0 {
		return unknown()
	}
	return busy / time * 100
}

// late is how many ok requests of an open loop were sent late.
func (c *column) late() float64 {
	sum := int64(0)
	for _, row := range c.rows {
		sum += row.Late
	}
	return float64(sum)
}

// boundMarks draws the seconds in which the client was the limit as a bar on
// the x axis.
type boundMarks struct{ seconds []float64 }

const boundHeight = 4 // points

func boundColor() color.Color { return color.NRGBA{0xD5, 0x5E, 0x00, 0xFF} }

// Plot implements [plot.Plotter].
func (m boundMarks) Plot(c draw.Canvas, p *plot.Plot) {
	toX, _ := p.Transforms(&c)
	c.SetColor(boundColor())
	for from := 0; from < len(m.seconds); {
		to := from + 1
		for to < len(m.seconds) && m.seconds[to] <= m.seconds[to-1]+1 {
			to++
		}
		left := max(toX(m.seconds[from]-0.5), c.Min.X)
		right := min(toX(m.seconds[to-1]+0.5), c.Max.X)
		var bar vg.Path
		bar.Move(vg.Point{X: left, Y: c.Min.Y})
		bar.Line(vg.Point{X: right, Y: c.Min.Y})
		bar.Line(vg.Point{X: right, Y: c.Min.Y + boundHeight})
		bar.Line(vg.Point{X: left, Y: c.Min.Y + boundHeight})
		bar.Close()
		c.Fill(bar)
		from = to
	}
}

// boundSeconds are the marked seconds of all columns since their loads began.
func boundSeconds(columns []*column) []float64 {
	var all []float64
	for _, c := range columns {
		if !c.isClientBound() {
			continue
		}
		at, _, _ := c.bound()
		for _, unix := range at {
			all = append(all, float64(unix-c.began()))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
