package analyze

import (
	"fmt"
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
)

// notKnown stands in the table where a figure was not measured.
const notKnown = "n/a"

// A unit says what a figure counts and how the table prints it.
type unit struct {
	name  string // as in all-aggregated.csv; empty for text
	print func(float64) string
}

func seconds() unit {
	return unit{"seconds", func(v float64) string { return fmt.Sprintf("%.4f sec", v) }}
}

func requests() unit { return unit{"requests", comma} }
func keys() unit     { return unit{"keys", comma} }

func operations(name string) unit { return unit{name, comma} }

func perSecondUnit() unit {
	return unit{"req/sec", func(v float64) string { return comma(v) + " req/sec" }}
}

// latency prints milliseconds with the digits of the published tables.
func latency() unit {
	return unit{"ms", func(v float64) string { return fmt.Sprintf("%.4f ms", v) }}
}

func percentile() unit {
	return unit{"ms", func(v float64) string { return fmt.Sprintf("%.6f ms", v) }}
}

func percent() unit {
	return unit{"percent", func(v float64) string { return fmt.Sprintf("%.2f %%", v) }}
}

func bytesUnit() unit { return unit{"bytes", bytes1000} }

// comma prints a count with thousands separators.
func comma(v float64) string {
	if math.Abs(v) > math.MaxInt64/2 {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return humanize.Comma(int64(math.Round(v)))
}

// bytes1000 prints bytes with two digits below ten, in powers of 1000.
func bytes1000(v float64) string {
	if v < 0 || v > math.MaxInt64/2 {
		return strconv.FormatFloat(v, 'g', -1, 64) + " B"
	}
	return humanize.Bytes(uint64(math.Round(v)))
}

// show prints a figure for people.
func (u unit) show(v float64) string {
	if !known(v) {
		return notKnown
	}
	return u.print(v)
}

// known reports whether v is a figure.
func known(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// raw prints a figure for programs: the shortest decimal, or nothing.
func raw(v float64) string {
	if !known(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
