package workload_test

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dbtester/dbtester/load"
	"github.com/dbtester/dbtester/workload"
)

// store is the least a workload needs.
type store struct {
	keys   []string
	values map[string][]byte
}

func newStore() *store { return &store{values: map[string][]byte{}} }

func (s *store) Put(_ context.Context, key string, value []byte) error {
	s.keys = append(s.keys, key)
	s.values[key] = bytes.Clone(value)
	return nil
}

func (s *store) Get(_ context.Context, key string) ([]byte, error) {
	value, ok := s.values[key]
	if !ok {
		return nil, errors.New("missing key")
	}
	return value, nil
}

func mustNew(tb testing.TB, s workload.Spec) *workload.Workload {
	tb.Helper()
	w, err := workload.New(s)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

func send(t *testing.T, op load.Op, seqs ...int64) {
	t.Helper()
	for _, seq := range seqs {
		if err := op(t.Context(), seq); err != nil {
			t.Fatalf("request %d: %v", seq, err)
		}
	}
}

func TestSequentialKeysAreThePaddedSequenceNumber(t *testing.T) {
	s := newStore()
	w := mustNew(t, workload.Spec{Operation: workload.Write, KeyOrder: workload.Sequential, KeySize: 8, ValueSize: 16})
	send(t, w.Op(s, nil), 0, 7, 9_900_099, 10, 123, 99)
	send(t, w.WarmUpOp(s, nil), 7)
	want := "[k0000000 k0000007 k9900099 k0000010 k0000123 k0000099 w0000007]"
	if got := fmt.Sprint(s.keys); got != want {
		t.Errorf("keys = %s, want %s", got, want)
	}
	if got := w.DistinctKeys(17); got != 17 {
		t.Errorf("DistinctKeys(17) = %d, want 17", got)
	}
}

func TestSameKeyIsOneKeyWithManyValues(t *testing.T) {
	s := newStore()
	w := mustNew(t, workload.Spec{Operation: workload.Write, KeyOrder: workload.Same, KeySize: 256, ValueSize: 1024})
	op := w.Op(s, nil)
	send(t, op, 1)
	first := s.values[s.keys[0]]
	send(t, op, 2)
	if len(s.values) != 1 || len(s.keys[0]) != 256 || w.DistinctKeys(5) != 1 || w.DistinctKeys(0) != 0 {
		t.Errorf("%d keys of %d bytes, want one of 256", len(s.values), len(s.keys[0]))
	}
	if bytes.Equal(first, s.values[s.keys[0]]) {
		t.Error("two writes of the same key carry the same value")
	}
}

func TestEveryStoreIsGivenTheSame(t *testing.T) {
	spec := workload.Spec{Operation: workload.Write, KeyOrder: workload.Sequential, KeySize: 16, ValueSize: 100, Seed: 4}
	a, b, other := newStore(), newStore(), newStore()
	send(t, mustNew(t, spec).Op(a, nil), 1, 2, 3)
	send(t, mustNew(t, spec).Op(b, nil), 1, 2, 3)
	spec.Seed = 5
	send(t, mustNew(t, spec).Op(other, nil), 1, 2, 3)
	for _, key := range a.keys {
		if !bytes.Equal(a.values[key], b.values[key]) {
			t.Errorf("the values of %s differ for the same seed", key)
		}
		if bytes.Equal(a.values[key], other.values[key]) {
			t.Errorf("the values of %s are equal for different seeds", key)
		}
	}
}

func TestValuesAreDistinctAndIncompressible(t *testing.T) {
	s := newStore()
	w := mustNew(t, workload.Spec{Operation: workload.Write, KeyOrder: workload.Sequential, KeySize: 16, ValueSize: 1024})
	op := w.Op(s, nil)
	seen := map[string]bool{}
	var all bytes.Buffer
	for seq := range int64(1000) {
		send(t, op, seq)
		value := s.values[s.keys[seq]]
		seen[string(value)] = true
		if seq < 100 {
			all.Write(value)
		}
	}
	if len(seen) != 1000 {
		t.Errorf("%d different values in 1,000 requests", len(seen))
	}
	var packed bytes.Buffer
	z, _ := flate.NewWriter(&packed, flate.BestCompression)
	_, _ = z.Write(all.Bytes())
	_ = z.Close()
	if packed.Len() < all.Len() {
		t.Errorf("%d bytes of values compress to %d", all.Len(), packed.Len())
	}
}

func TestReadsGetWhatPrepareHasPut(t *testing.T) {
	for _, operation := range []workload.Operation{workload.Read, workload.ReadOneshot} {
		t.Run(string(operation), func(t *testing.T) {
			s := newStore()
			opened, closed := 0, 0
			open := func(context.Context) (workload.KV, func() error, error) {
				opened++
				return s, func() error { closed++; return nil }, nil
			}
			w := mustNew(t, workload.Spec{Operation: operation, KeyOrder: workload.Same, KeySize: 256, ValueSize: 1024})
			if err := w.Prepare(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			op := w.Op(s, open)
			send(t, op, 0, 1, 2)
			if want := map[workload.Operation]int{workload.ReadOneshot: 3}[operation]; opened != want || closed != want {
				t.Errorf("%d connections opened and %d closed for 3 reads, want %d", opened, closed, want)
			}
			s.values[s.keys[0]][5]++
			err := op(t.Context(), 3)
			var kind load.Kinder
			if !errors.As(err, &kind) || kind.ErrorKind() != "wrong value" {
				t.Errorf("a changed value gave %v, want the kind %q", err, "wrong value")
			}
		})
	}
}

func TestOneshotReadsReportAConnectionThatDoesNotOpen(t *testing.T) {
	refused := errors.New("connection refused")
	w := mustNew(t, workload.Spec{Operation: workload.ReadOneshot, KeyOrder: workload.Same, KeySize: 8})
	op := w.Op(nil, func(context.Context) (workload.KV, func() error, error) { return nil, nil, refused })
	if err := op(t.Context(), 0); !errors.Is(err, refused) {
		t.Errorf("error = %v, want %v", err, refused)
	}
}

func TestNewRefusesWhatItCannotServe(t *testing.T) {
	good := workload.Spec{Operation: workload.Write, KeyOrder: workload.Sequential, KeySize: 8}
	for name, spoil := range map[string]func(*workload.Spec){
		`unknown operation "scan"`:  func(s *workload.Spec) { s.Operation = "scan" },
		`unknown key order "upset"`: func(s *workload.Spec) { s.KeyOrder = "upset" },
		"key size 1":                func(s *workload.Spec) { s.KeySize = 1 },
		"value size -1":             func(s *workload.Spec) { s.ValueSize = -1 },
	} {
		s := good
		spoil(&s)
		if _, err := workload.New(s); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("New(%+v) = %v, want an error with %q", s, err, name)
		}
	}
}

func BenchmarkWriteOp(b *testing.B) {
	b.ReportAllocs()
	w := mustNew(b, workload.Spec{Operation: workload.Write, KeyOrder: workload.Sequential, KeySize: 256, ValueSize: 1024})
	op := w.Op(discard{}, nil)
	for seq := range int64(b.N) {
		_ = op(b.Context(), seq)
	}
}

type discard struct{}

func (discard) Put(context.Context, string, []byte) error   { return nil }
func (discard) Get(context.Context, string) ([]byte, error) { return nil, nil }
