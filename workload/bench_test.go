package workload_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/dbtester/dbtester/load"
	"github.com/dbtester/dbtester/workload"
)

// shelf is a store that cannot grow, without a lock: every key has its place.
type shelf struct{ values [][]byte }

func (s *shelf) place(key string) *[]byte {
	var n int
	for i := len(key) - 8; i < len(key); i++ {
		n = 10*n + int(key[i]-'0')
	}
	return &s.values[n%len(s.values)]
}

func (s *shelf) Put(_ context.Context, key string, value []byte) error {
	place := s.place(key)
	*place = append((*place)[:0], value...)
	return nil
}

func (s *shelf) Get(_ context.Context, key string, into []byte) ([]byte, error) {
	return append(into, *s.place(key)...), nil
}

type discard struct{}

func (discard) Put(context.Context, string, []byte) error           { return nil }
func (discard) Get(context.Context, string, []byte) ([]byte, error) { return nil, nil }

func typical(changes ...func(*workload.Spec)) workload.Spec {
	return write(append([]func(*workload.Spec){sized(256, 1024)}, changes...)...)
}

func benchmarks() map[string]workload.Spec {
	const space = 1000 // values that fit the cache: the store is not what is measured
	all := map[string]workload.Spec{"write/sequential": typical(), "write/same": typical(keyed(workload.Same, 0))}
	for _, order := range []workload.Order{workload.Sequential, workload.Uniform, workload.Zipfian} {
		for _, operation := range []workload.Operation{workload.Write, workload.Read, workload.ReadOneshot, workload.Mixed} {
			name := fmt.Sprintf("%s/%s-space", operation, order)
			all[name] = typical(doing(operation), keyed(order, space), func(s *workload.Spec) { s.Reads = 0.9 })
		}
	}
	return all
}

// start returns the op of a client whose store is prepared. Writes are dropped.
func start(tb testing.TB, spec workload.Spec) load.Op {
	tb.Helper()
	w := mustNew(tb, spec)
	if spec.Operation == workload.Write {
		return w.Op(discard{}, nil)
	}
	kv := &shelf{values: make([][]byte, max(w.PrepareRequests(), 1))}
	mustPrepare(tb, w, kv)
	closeKV := func() error { return nil }
	op := w.Op(kv, func(context.Context) (workload.KV, func() error, error) { return kv, closeKV, nil })
	send(tb, op, upTo(100)...) // its memory is made with the first request
	return op
}

func BenchmarkOp(b *testing.B) {
	for name, spec := range benchmarks() {
		b.Run(name, func(b *testing.B) {
			op, ctx := start(b, spec), b.Context()
			b.ReportAllocs()
			seq := int64(0)
			for b.Loop() {
				if err := op(ctx, seq); err != nil {
					b.Fatal(err)
				}
				seq++
			}
		})
	}
}

// BenchmarkWriteParallel shows that clients do not touch each other's memory: on
// twice the cores it takes half the time.
func BenchmarkWriteParallel(b *testing.B) {
	w := mustNew(b, typical())
	b.ReportAllocs()
	b.ReportMetric(float64(runtime.GOMAXPROCS(0)), "cores")
	b.RunParallel(func(pb *testing.PB) {
		op, seq := w.Op(discard{}, nil), int64(0)
		for pb.Next() {
			_ = op(context.Background(), seq)
			seq++
		}
	})
}

func TestNoOperationAllocates(t *testing.T) {
	for name, spec := range benchmarks() {
		t.Run(name, func(t *testing.T) {
			op, ctx, seq := start(t, spec), t.Context(), int64(0)
			got := testing.AllocsPerRun(1000, func() {
				if err := op(ctx, seq); err != nil {
					t.Error(err)
				}
				seq++
			})
			if got != 0 {
				t.Errorf("%v allocations per request, want 0", got)
			}
		})
	}
}
