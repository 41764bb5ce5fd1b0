package databasetest

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/dbtester/dbtester/database"
)

// figuresTimeout bounds the wait until every figure was told: etcd measures the
// round trips between its members every few seconds only.
const figuresTimeout = 45 * time.Second

// Figures checks that the members of a running cluster tell what the driver
// lists, which must be a [database.Introspector]: each figure is told by some
// member in the end, and what is told fits its kind.
func Figures(t *testing.T, d database.Driver, endpoints ...string) {
	t.Helper()
	introspector, ok := d.(database.Introspector)
	if !ok {
		t.Fatalf("%T lists no figures", d)
	}
	figures := introspector.Figures()
	checkFigures(t, figures)
	var inspections []database.Inspection
	for _, endpoint := range endpoints {
		i, err := introspector.Inspect(endpoint)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := i.Close(); err != nil {
				t.Error(err)
			}
		}()
		inspections = append(inspections, i)
	}
	told := make([]bool, len(figures))
	for deadline := time.Now().Add(figuresTimeout); ; {
		for _, i := range inspections {
			askFigures(t, i, figures, told)
		}
		if !slices.Contains(told, false) {
			return
		}
		if time.Now().After(deadline) {
			break
		}
		select {
		case <-t.Context().Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	for i, f := range figures {
		if !told[i] {
			t.Errorf("no member has told %s within %v", f.Name, figuresTimeout)
		}
	}
}

// checkFigures refuses names that two figures share, and unknown kinds.
func checkFigures(t *testing.T, figures []database.Figure) {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range figures {
		if f.Name == "" || seen[f.Name] {
			t.Errorf("figure %q: want a name of its own for each", f.Name)
		}
		seen[f.Name] = true
		switch f.Kind {
		case database.GaugeFigure, database.CounterFigure, database.SummaryFigure, database.HistogramFigure:
		default:
			t.Errorf("figure %s: unknown kind %q", f.Name, f.Kind)
		}
	}
}

// askFigures asks once and notes what was told.
func askFigures(t *testing.T, i database.Inspection, figures []database.Figure, told []bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	readings, err := i.Ask(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(readings) != len(figures) {
		t.Fatalf("%d readings of %d figures", len(readings), len(figures))
	}
	for k, f := range figures {
		r := readings[k]
		switch f.Kind {
		case database.HistogramFigure:
			n := len(r.Buckets)
			if n > 0 && (!math.IsInf(r.Buckets[n-1].Edge, 1) || r.Buckets[n-1].Count != r.Count) {
				t.Errorf("%s: the last bucket %+v does not hold all %v events", f.Name, r.Buckets[n-1], r.Count)
			}
			told[k] = told[k] || n > 0
		case database.SummaryFigure:
			told[k] = told[k] || !math.IsNaN(r.Count) && !math.IsNaN(r.Sum)
		default:
			told[k] = told[k] || !math.IsNaN(r.Value)
		}
	}
}
