//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/dbtester/dbtester/workload"
)

// TestMain makes the test binary the command where the command starts itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == verbLoad {
		main()
		return
	}
	os.Exit(m.Run())
}

// BenchmarkCeiling is what the harness takes of a request, and the most requests
// it can make: two clocks, the histograms, key and value, and the memory driver's
// map behind a lock. A write to no store shows what load and workload take by
// themselves.
func BenchmarkCeiling(b *testing.B) {
	for _, operation := range []workload.Operation{workload.Read, workload.Write} {
		benchmarkClients(b, string(operation), func(b *testing.B, clients int) *harness {
			b.Helper()
			h, err := newHarness(b.Context(), operation, clients)
			if err != nil {
				b.Fatal(err)
			}
			return h
		})
	}
	benchmarkClients(b, "no-store", func(b *testing.B, clients int) *harness {
		b.Helper()
		h, err := newHarness(b.Context(), workload.Write, clients)
		if err != nil {
			b.Fatal(err)
		}
		for i := range h.ops {
			h.ops[i] = h.workload.Op(noStore{}, nil)
		}
		return h
	})
}

// benchmarkClients runs the harness with more and more clients.
func benchmarkClients(b *testing.B, name string, start func(b *testing.B, clients int) *harness) {
	b.Helper()
	for _, clients := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("%s/%d-clients", name, clients), func(b *testing.B) {
			h := start(b, clients)
			b.ReportAllocs()
			b.ResetTimer()
			if _, err := h.load(b.Context(), int64(b.N)); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
		})
	}
}

// noStore drops what is put.
type noStore struct{}

func (noStore) Put(context.Context, string, []byte) error           { return nil }
func (noStore) Get(context.Context, string, []byte) ([]byte, error) { return nil, nil }

func TestLoadPrintsItsFootprint(t *testing.T) {
	for _, operation := range []workload.Operation{workload.Read, workload.Write, workload.Mixed} {
		var out bytes.Buffer
		if err := run(t.Context(), []string{verbLoad, "-operation=" + string(operation), "-requests=5000", "-clients=10"}, &out, io.Discard); err != nil {
			t.Fatal(err)
		}
		var f footprint
		if err := json.Unmarshal(out.Bytes(), &f); err != nil {
			t.Fatalf("%v in %s", err, &out)
		}
		if f.Requests != 5000 || f.Seconds <= 0 || f.Resident < 1e6 || f.Peak < f.Resident {
			t.Errorf("%s: got %+v, want 5,000 requests and what they took", operation, f)
		}
	}
}

func TestGrowthIsTold(t *testing.T) {
	tests := []struct {
		name    string
		allowed string
		want    error
	}{
		{"allowed", "1000", nil},
		{"not allowed", "-1", errGrowth}, // no two loads differ by less than nothing
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, stderr bytes.Buffer
			err := run(t.Context(), []string{"-requests=1000,20000", "-clients=10", "-allowed=" + tt.allowed}, &out, &stderr)
			if !errors.Is(err, tt.want) {
				t.Errorf("got error %v, want %v; standard error:\n%s", err, tt.want, &stderr)
			}
			for _, want := range []string{"| 1,000 | ", "| 20,000 | ", "Resident memory differs by "} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("printed no %q:\n%s", want, &out)
				}
			}
		})
	}
}

func TestSpread(t *testing.T) {
	if got := spread([]footprint{{Resident: 50}, {Resident: 57}, {Resident: 48}}); got != 9 {
		t.Errorf("got %d, want 9", got)
	}
}

func TestArgumentsRefused(t *testing.T) {
	for _, args := range [][]string{
		{"laod"},
		{"word", "-requests=1"},
		{"-requests="},
		{"-requests=1000,"},
		{"-requests=0"},
		{"-requests=1e6"},
		{"-nonsense"},
		{verbLoad, "-requests=0"},
		{verbLoad, "-clients=0"},
		{verbLoad, "-operation=delete"},
		{verbLoad, "extra"},
	} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q: got no error", args)
		}
	}
}
