package analyze

import (
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/dbtester/dbtester/result"
)

// bySecond joins the samples of each second into one, so that the figures of
// a run do not depend on how often it was sampled: "per second" stays per second
// and a maximum stays one over seconds. Samples a second or more apart stay.
//
// The first stays alone: its figures are where everything begins.
func (s samples) bySecond() samples {
	usual := int64(usualInterval(s.at))
	if usual <= 0 || usual > int64(900*time.Millisecond) {
		return s
	}
	// A sample is taken at its boundary or a little later: the one at the
	// end of a second belongs to that second.
	secondOf := func(i int) int64 { return floorSecond(s.rows[i].UnixNanosecond - usual/2) }
	fields := rowFields()
	joined := samples{rows: s.rows[:1:1], at: s.at[:1:1]}
	for from := 1; from < len(s.rows); {
		to := from + 1
		for to < len(s.rows) && secondOf(to) == secondOf(from) {
			to++
		}
		joined.rows = append(joined.rows, joinRows(s.rows[from:to], lengths(s.at[from-1:to]), fields))
		joined.at = append(joined.at, s.at[to-1])
		from = to
	}
	return joined
}

// lengths are the distances between neighbours.
func lengths(at []int64) []float64 {
	all := make([]float64, len(at)-1)
	for i := range all {
		all[i] = float64(at[i+1] - at[i])
	}
	return all
}

// deltaSuffix ends the names of columns that are differences to the row before.
const deltaSuffix = "-DELTA"

// rowFieldSet are the positions of fields by how they are joined.
type rowFieldSet struct{ deltas, rates []int }

// rowFields sorts the fields of a row. Those of neither kind are as of the last
// row of a second.
func rowFields() rowFieldSet {
	var set rowFieldSet
	var row result.SystemRow
	rates := []*result.Number{
		&row.CPU, &row.MachineCPU, &row.MaxCoreCPU, &row.StealCPU, &row.IOWaitCPU, &row.DiskUtilisation, &row.DiskQueueLength,
	}
	fields := reflect.ValueOf(&row).Elem()
	for i := range fields.NumField() {
		field, isNumber := reflect.TypeAssert[*result.Number](fields.Field(i).Addr())
		if !isNumber {
			continue
		}
		if strings.HasSuffix(fields.Type().Field(i).Tag.Get("csv"), deltaSuffix) {
			set.deltas = append(set.deltas, i)
		}
		for _, rate := range rates {
			if field == rate {
				set.rates = append(set.rates, i)
			}
		}
	}
	return set
}

// enoughKnown is the share of a second over which a rate must be known for the
// second to have one: a late sample leaves a short interval without.
const enoughKnown = 0.8

// meanRate weights what is known of a rate by the lengths.
func meanRate(rows []result.SystemRow, lengths []float64, position int) float64 {
	sum, told, whole := 0.0, 0.0, 0.0
	for i, length := range lengths {
		whole += length
		if rate := reflect.ValueOf(&rows[i]).Elem().Field(position).Float(); known(rate) {
			sum, told = sum+rate*length, told+length
		}
	}
	if told <= 0 || told < enoughKnown*whole {
		return unknown()
	}
	return math.Round(sum/told*1e9) / 1e9 // as exact as the clock
}

// joinRows makes one row of those of a second, each of which holds for a length
// of time: differences are added up, rates weighted by the lengths.
func joinRows(rows []result.SystemRow, lengths []float64, fields rowFieldSet) result.SystemRow {
	joined := rows[len(rows)-1]
	to := reflect.ValueOf(&joined).Elem()
	for _, position := range fields.deltas {
		sum := 0.0
		for i := range rows {
			sum += reflect.ValueOf(&rows[i]).Elem().Field(position).Float()
		}
		to.Field(position).SetFloat(sum)
	}
	for _, position := range fields.rates {
		to.Field(position).SetFloat(meanRate(rows, lengths, position))
	}
	joined.Interval, joined.DiskAwait = 0, result.Gap()
	var notes []string
	for _, row := range rows {
		joined.Interval += row.Interval
		if row.Note != "" {
			notes = append(notes, row.Note)
		}
	}
	if n := joined.ReadsCompletedDelta + joined.WritesCompletedDelta; n > 0 {
		joined.DiskAwait = (joined.DiskReadTimeDelta + joined.DiskWriteTimeDelta) / n
	}
	joined.Note = strings.Join(notes, "; ")
	return joined
}
