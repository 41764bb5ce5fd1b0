package analyze

import (
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/plot"
)

// ticks marks an axis at round steps and labels it for people.
type ticks struct {
	count  int // about so many
	format func(float64) string
}

// Ticks implements [plot.Ticker].
func (t ticks) Ticks(low, high float64) []plot.Tick {
	step := roundStep((high - low) / float64(t.count))
	var marks []plot.Tick
	for i := range 4 * t.count {
		v := (math.Ceil(low/step-1e-9) + float64(i)) * step
		if !(v <= high+step*1e-9) {
			break
		}
		marks = append(marks, plot.Tick{Value: v, Label: t.format(v)})
	}
	return marks
}

// roundStep returns the next of 1, 2 or 5 times a power of ten.
func roundStep(step float64) float64 {
	if !(step > 0) || math.IsInf(step, 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= step*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// logTicks marks an axis of powers: 0 is labelled 1, 1 is labelled 10. Between
// them it marks 2 and 5, with a label where there is room.
type logTicks struct {
	format func(float64) string
}

// Ticks implements [plot.Ticker].
func (t logTicks) Ticks(low, high float64) []plot.Tick {
	var marks []plot.Tick
	for e := math.Floor(low); e <= math.Ceil(high); e++ {
		for _, m := range []float64{1, 2, 5} {
			at := e + math.Log10(m)
			if at < low-1e-9 || at > high+1e-9 {
				continue
			}
			label := ""
			if m == 1 || high-low <= 2 {
				label = t.format(m * math.Pow(10, e))
			}
			marks = append(marks, plot.Tick{Value: at, Label: label})
		}
	}
	return marks
}

// prefixes are the SI prefixes from one thousand on.
func prefixes() []string { return []string{"", "k", "M", "G", "T", "P", "E"} }

// scaled prints v with the SI prefix that suits it.
func scaled(v float64, unit string) string {
	factor, prefix := 1.0, ""
	for _, prefix = range prefixes() {
		if math.Abs(v)/factor < 1000 {
			break
		}
		factor *= 1000
	}
	if v == 0 {
		return "0"
	}
	return strings.TrimRight(trimmed(v/factor)+" "+prefix+unit, " ")
}

// trimmed prints v with as many digits as it needs, at most four.
func trimmed(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// countLabel labels counts: "1.2 k", "3 M".
func countLabel(v float64) string { return scaled(v, "") }

// bytesLabel labels bytes: "200 MB".
func bytesLabel(v float64) string { return scaled(v, "B") }

// plainLabel labels figures without a prefix: "0.5", "1,200".
func plainLabel(v float64) string {
	if math.Abs(v) >= 1000 && math.Abs(v) < 1e12 {
		return humanize.Commaf(math.Round(v))
	}
	return trimmed(v)
}
