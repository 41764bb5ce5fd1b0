package workload_test

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dbtester/dbtester/load"
	"github.com/dbtester/dbtester/workload"
)

// store is the least a workload needs.
type store struct {
	keys   []string // in the order of the puts
	read   []string // in the order of the gets
	values map[string][]byte
}

func newStore() *store { return &store{values: map[string][]byte{}} }

func (s *store) Put(_ context.Context, key string, value []byte) error {
	key = strings.Clone(key)
	s.keys = append(s.keys, key)
	s.values[key] = bytes.Clone(value)
	return nil
}

func (s *store) Get(_ context.Context, key string, into []byte) ([]byte, error) {
	s.read = append(s.read, strings.Clone(key))
	value, ok := s.values[key]
	if !ok {
		return nil, errors.New("missing key")
	}
	return append(into, value...), nil
}

// write is a spec of writes; the changes make it another.
func write(changes ...func(*workload.Spec)) workload.Spec {
	s := workload.Spec{Operation: workload.Write, KeyOrder: workload.Sequential, KeySize: 16, ValueSize: 100, KeySkew: 0.99, Reads: 0.5}
	for _, change := range changes {
		change(&s)
	}
	return s
}

func doing(o workload.Operation) func(*workload.Spec) {
	return func(s *workload.Spec) { s.Operation = o }
}

func keyed(o workload.Order, space int64) func(*workload.Spec) {
	return func(s *workload.Spec) { s.KeyOrder, s.KeySpace = o, space }
}

func sized(key, value int) func(*workload.Spec) {
	return func(s *workload.Spec) { s.KeySize, s.ValueSize = key, value }
}

func mustNew(tb testing.TB, s workload.Spec) *workload.Workload {
	tb.Helper()
	w, err := workload.New(s)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

func mustPrepare(tb testing.TB, w *workload.Workload, kv workload.KV) {
	tb.Helper()
	if err := w.Prepare(tb.Context(), kv); err != nil {
		tb.Fatal(err)
	}
}

func send(tb testing.TB, op load.Op, seqs ...int64) {
	tb.Helper()
	for _, seq := range seqs {
		if err := op(tb.Context(), seq); err != nil {
			tb.Fatalf("request %d: %v", seq, err)
		}
	}
}

// upTo returns 0 to n-1.
func upTo(n int64) []int64 {
	all := make([]int64, n)
	for i := range all {
		all[i] = int64(i)
	}
	return all
}

func TestSequentialKeysAreThePaddedSequenceNumber(t *testing.T) {
	s := newStore()
	w := mustNew(t, write(sized(8, 16)))
	send(t, w.Op(s, nil), 0, 7, 9_900_099, 10, 123, 99)
	send(t, w.WarmUpOp(s, nil), 7)
	want := "[k0000000 k0000007 k9900099 k0000010 k0000123 k0000099 w0000007]"
	if got := fmt.Sprint(s.keys); got != want {
		t.Errorf("keys = %s, want %s", got, want)
	}
	if got := w.DistinctKeys(17); got != 17 {
		t.Errorf("DistinctKeys(17) = %d, want 17", got)
	}
	if w.PrepareRequests() != 0 {
		t.Errorf("%d keys are prepared, want none", w.PrepareRequests())
	}
}

func TestSequentialKeysGoAroundTheirSpace(t *testing.T) {
	s := newStore()
	w := mustNew(t, write(keyed(workload.Sequential, 3), sized(3, 16)))
	mustPrepare(t, w, s)
	send(t, w.Op(s, nil), upTo(7)...)
	want := "[k00 k01 k02 k00 k01 k02 k00 k01 k02 k00]"
	if got := fmt.Sprint(s.keys); got != want {
		t.Errorf("keys = %s, want %s", got, want)
	}
}

func TestSameKeyIsOneKeyWithManyValues(t *testing.T) {
	s := newStore()
	w := mustNew(t, write(keyed(workload.Same, 0), sized(256, 1024)))
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

// TestEveryStoreIsGivenTheSame has the second store's requests sent by two
// clients, in another order.
func TestEveryStoreIsGivenTheSame(t *testing.T) {
	for name, spec := range map[string]workload.Spec{
		"write sequential": write(),
		"write uniform":    write(keyed(workload.Uniform, 50)),
		"mixed zipfian":    write(doing(workload.Mixed), keyed(workload.Zipfian, 50)),
	} {
		t.Run(name, func(t *testing.T) {
			// run sends 1,000 requests and returns which keys were written with what.
			run := func(seed int64, clients int) (map[string]bool, *workload.Workload) {
				s, written := newStore(), map[string]bool{}
				spec.Seed = seed
				w := mustNew(t, spec)
				mustPrepare(t, w, s)
				s.keys = nil
				for client := range clients {
					op := w.Op(s, nil)
					for seq := int64(client); seq < 1000; seq += int64(clients) {
						before := len(s.keys)
						send(t, op, seq)
						for _, key := range s.keys[before:] {
							written[fmt.Sprintf("%d %s %x", seq, key, s.values[key])] = true
						}
					}
				}
				return written, w
			}
			one, _ := run(4, 1)
			two, _ := run(4, 2)
			other, _ := run(5, 1)
			if len(one) == 0 || !maps.Equal(one, two) {
				t.Errorf("%d and %d writes with one and two clients, not the same", len(one), len(two))
			}
			for w := range other {
				if one[w] {
					t.Errorf("both seeds write %s", w)
				}
			}
		})
	}
}

func TestValuesAreDistinct(t *testing.T) {
	for _, size := range []int{8, 20, 32, 1024, 9000} {
		s := newStore()
		w := mustNew(t, write(sized(16, size), keyed(workload.Same, 0), func(s *workload.Spec) { s.ValueCompressible = 1 }))
		seen := map[string]bool{}
		for _, op := range []load.Op{w.PrepareOp(s, nil), w.WarmUpOp(s, nil), w.Op(s, nil)} {
			for seq := range int64(300) {
				send(t, op, seq)
				value := s.values[s.keys[len(s.keys)-1]]
				if len(value) != size {
					t.Fatalf("a value has %d bytes, want %d", len(value), size)
				}
				seen[string(value)] = true
			}
		}
		if len(seen) != 900 {
			t.Errorf("%d different values of %d bytes in 900 requests", len(seen), size)
		}
	}
}

func TestValuesCompressAsStated(t *testing.T) {
	for _, size := range []int{64, 1024, 20_000} {
		for _, share := range []float64{0, 0.5, 0.9} {
			s := newStore()
			w := mustNew(t, write(sized(16, size), func(s *workload.Spec) { s.ValueCompressible = share }))
			n := max(20, 1<<17/size)
			send(t, w.Op(s, nil), upTo(int64(n))...)
			var all bytes.Buffer
			for _, key := range s.keys {
				all.Write(s.values[key])
			}
			got := 1 - float64(deflated(t, all.Bytes()))/float64(all.Len())
			want := min(share, float64(size-32)/float64(size)) // the first bytes never compress
			if got > want+0.005 || got < want-0.06 {
				t.Errorf("%d values of %d bytes, %v compressible: deflate saves %.3f of them", n, size, share, got)
			}
			zeros := bytes.Count(all.Bytes(), []byte{0})
			if got := float64(zeros) / float64(all.Len()); got < want || got > want+0.01 {
				t.Errorf("values of %d bytes, %v compressible: %.3f are zero", size, share, got)
			}
		}
	}
}

// TestNoPartOfAValueComesAgain looks for 8 bytes in a row that two values share,
// which is what a compressor would find that remembers all of them.
func TestNoPartOfAValueComesAgain(t *testing.T) {
	const n, size = 1500, 1024
	s := newStore()
	send(t, mustNew(t, write(sized(16, size))).Op(s, nil), upTo(n)...)
	seen, again := map[[8]byte]bool{}, 0
	for _, key := range s.keys {
		value := s.values[key]
		for i := 0; i < size; i += 8 {
			seen[[8]byte(value[i:])] = true
		}
	}
	for _, key := range s.keys {
		value := s.values[key]
		for i := 1; i+8 <= size; i++ {
			if i%8 != 0 && seen[[8]byte(value[i:])] {
				again++
			}
		}
	}
	if again+n*size/8-len(seen) > n*size/1000 {
		t.Errorf("%d of %d parts of values come again", again+n*size/8-len(seen), n*size)
	}
}

func deflated(t *testing.T, data []byte) int {
	t.Helper()
	var packed bytes.Buffer
	z, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = z.Write(data)
	_ = z.Close()
	return packed.Len()
}

func TestPreparationPutsEveryKeyOnce(t *testing.T) {
	for name, test := range map[string]struct {
		spec workload.Spec
		want int64
	}{
		"read same":        {write(doing(workload.Read), keyed(workload.Same, 0)), 1},
		"mixed same":       {write(doing(workload.Mixed), keyed(workload.Same, 0)), 1},
		"read sequential":  {write(doing(workload.Read), keyed(workload.Sequential, 100)), 100},
		"oneshot uniform":  {write(doing(workload.ReadOneshot), keyed(workload.Uniform, 100)), 100},
		"mixed zipfian":    {write(doing(workload.Mixed), keyed(workload.Zipfian, 100)), 100},
		"write zipfian":    {write(keyed(workload.Zipfian, 1)), 1},
		"write same":       {write(keyed(workload.Same, 0)), 0},
		"write sequential": {write(), 0},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := mustNew(t, test.spec), newStore()
			if got := w.PrepareRequests(); got != test.want {
				t.Fatalf("PrepareRequests() = %d, want %d", got, test.want)
			}
			ops := []load.Op{w.PrepareOp(s, nil), w.PrepareOp(s, nil)}
			for seq := range test.want {
				send(t, ops[seq%2], seq)
			}
			if got := int64(len(s.values)); got != test.want || int64(len(s.keys)) != test.want {
				t.Errorf("%d keys after %d puts, want %d", got, len(s.keys), test.want)
			}
			if test.want > 0 && w.DistinctKeys(12345) != test.want {
				t.Errorf("DistinctKeys(12345) = %d, want %d", w.DistinctKeys(12345), test.want)
			}
			prepared := len(s.values)
			open := func(context.Context) (workload.KV, func() error, error) { return s, func() error { return nil }, nil }
			send(t, w.WarmUpOp(s, open), upTo(500)...)
			if test.want > 0 {
				send(t, w.Op(s, open), upTo(500)...)
				if len(s.values) != prepared {
					t.Errorf("%d keys after the load, want the %d prepared", len(s.values), prepared)
				}
			}
			if n, first := w.WrongValues(); n != 0 || first != nil {
				t.Errorf("WrongValues() = %d, %v", n, first)
			}
		})
	}
}

func TestMixedReadsItsShare(t *testing.T) {
	s := newStore()
	w := mustNew(t, write(doing(workload.Mixed), keyed(workload.Uniform, 10), func(s *workload.Spec) { s.Reads = 0.9 }))
	mustPrepare(t, w, s)
	s.keys = nil
	const n = 100_000
	send(t, w.Op(s, nil), upTo(n)...)
	if got := float64(len(s.read)) / n; got < 0.897 || got > 0.903 || len(s.read)+len(s.keys) != n {
		t.Errorf("%d reads and %d writes of %d, want 0.9 to be reads", len(s.read), len(s.keys), n)
	}
	// What a request does has nothing to do with its key.
	counts := map[string]int{}
	for _, key := range s.keys {
		counts[key]++
	}
	for key, count := range counts {
		if count < 850 || count > 1150 {
			t.Errorf("key %s is written %d times, want about 1,000", key, count)
		}
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
			w := mustNew(t, write(doing(operation), keyed(workload.Same, 0), sized(256, 1024)))
			mustPrepare(t, w, s)
			op := w.Op(s, open)
			send(t, op, 0, 1, 2)
			if want := map[workload.Operation]int{workload.ReadOneshot: 3}[operation]; opened != want || closed != want {
				t.Errorf("%d connections opened and %d closed for 3 reads, want %d", opened, closed, want)
			}
			s.values[s.keys[0]][5]++
			err := op(t.Context(), 3)
			var kind load.Kinder
			if !errors.As(err, &kind) || kind.ErrorKind() != workload.KindWrongValue {
				t.Errorf("a changed value gave %v, want the kind %q", err, workload.KindWrongValue)
			}
			var unsure load.Indeterminater
			if !errors.As(err, &unsure) || unsure.Indeterminate() {
				t.Errorf("%v is indeterminate, want it failed", err)
			}
			if n, first := w.WrongValues(); n != 1 || !errors.Is(err, first) {
				t.Errorf("WrongValues() = %d, %v, want 1, %v", n, first, err)
			}
		})
	}
}

// guarded is a store for several clients.
type guarded struct {
	mu sync.Mutex
	*store
}

func (g *guarded) Put(ctx context.Context, key string, value []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.store.Put(ctx, key, value)
}

func (g *guarded) Get(ctx context.Context, key string, into []byte) ([]byte, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.store.Get(ctx, key, into)
}

// TestManyClientsReadWhatOthersWrite runs the whole of a load: preparation,
// warm-up and requests, each shared by eight clients.
func TestManyClientsReadWhatOthersWrite(t *testing.T) {
	const clients, requests = 8, 4000
	w := mustNew(t, write(doing(workload.Mixed), keyed(workload.Zipfian, 200), sized(12, 40)))
	kv := &guarded{store: newStore()}
	for _, phase := range []struct {
		requests int64
		op       func(workload.KV, workload.Opener) load.Op
	}{{w.PrepareRequests(), w.PrepareOp}, {requests, w.WarmUpOp}, {requests, w.Op}} {
		l := load.New(load.Options{Requests: phase.requests})
		var ops []load.Op
		for range clients {
			ops = append(ops, phase.op(kv, nil))
		}
		outcome, err := l.Run(t.Context(), load.Stage{Number: 1, Ops: ops, Requests: phase.requests})
		if err != nil || outcome.OK != phase.requests {
			t.Fatalf("%d of %d requests succeeded, %v, %v", outcome.OK, phase.requests, err, l.Errors())
		}
	}
	if n, first := w.WrongValues(); n > 0 || len(kv.values) != 200 {
		t.Errorf("%d wrong values, %v, %d keys", n, first, len(kv.values))
	}
}

func TestOneshotReadsReportAConnectionThatDoesNotOpen(t *testing.T) {
	refused := errors.New("connection refused")
	w := mustNew(t, write(doing(workload.ReadOneshot), keyed(workload.Same, 0)))
	op := w.Op(nil, func(context.Context) (workload.KV, func() error, error) { return nil, nil, refused })
	if err := op(t.Context(), 0); !errors.Is(err, refused) {
		t.Errorf("error = %v, want %v", err, refused)
	}
}

func TestPrepareTellsWhichKeyFailed(t *testing.T) {
	w := mustNew(t, write(doing(workload.Read), keyed(workload.Uniform, 3)))
	kv := &forgetful{store: newStore(), fail: func(call int) bool { return call == 2 }}
	err := w.Prepare(t.Context(), kv)
	if !errors.Is(err, errLost) || !strings.Contains(err.Error(), "put key 2 of the 3 ") {
		t.Errorf("Prepare = %v, want it to name key 2 of 3", err)
	}
}

func TestNewRefusesWhatItCannotServe(t *testing.T) {
	for want, spec := range map[string]workload.Spec{
		`unknown operation "scan"`:                 write(doing("scan")),
		`unknown key order "upset"`:                write(keyed("upset", 0)),
		"key size 1":                               write(sized(1, 0)),
		"key size 3; want at least 4":              write(sized(3, 0), keyed(workload.Uniform, 1000)),
		"value size -1":                            write(sized(8, -1)),
		"share of reads 0;":                        write(doing(workload.Mixed), func(s *workload.Spec) { s.Reads = 0 }),
		"share of reads 1;":                        write(doing(workload.Mixed), func(s *workload.Spec) { s.Reads = 1 }),
		"compressible share 1.5":                   write(func(s *workload.Spec) { s.ValueCompressible = 1.5 }),
		"no key space; uniform":                    write(keyed(workload.Uniform, 0)),
		"no key space; zipfian":                    write(keyed(workload.Zipfian, 0)),
		"key space -1":                             write(keyed(workload.Sequential, -1)),
		"key space 5; the order same has no space": write(keyed(workload.Same, 5)),
		"read of sequential keys without":          write(doing(workload.Read)),
		"mixed of sequential keys without":         write(doing(workload.Mixed)),
		"key skew 0;":                              write(keyed(workload.Zipfian, 5), func(s *workload.Spec) { s.KeySkew = 0 }),
		"key skew 11;":                             write(keyed(workload.Zipfian, 5), func(s *workload.Spec) { s.KeySkew = 11 }),
	} {
		if _, err := workload.New(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New(%+v) = %v, want an error with %q", spec, err, want)
		}
	}
}

// forgetful fails some of its calls, and holds on to what it was given by those.
type forgetful struct {
	*store
	calls int
	fail  func(call int) bool
	held  []held
}

type held struct {
	key, wasKey     string
	value, wasValue []byte
}

var errLost = errors.New("connection lost")

func (f *forgetful) Put(ctx context.Context, key string, value []byte) error {
	if f.calls++; f.fail(f.calls) {
		f.held = append(f.held, held{key, strings.Clone(key), value, bytes.Clone(value)})
		return errLost
	}
	return f.store.Put(ctx, key, value)
}

func (f *forgetful) Get(ctx context.Context, key string, into []byte) ([]byte, error) {
	if f.calls++; f.fail(f.calls) {
		f.held = append(f.held, held{key: key, wasKey: strings.Clone(key)})
		return nil, errLost
	}
	return f.store.Get(ctx, key, into)
}

// TestWhatAFailedCallWasGivenStaysAsItWas is the promise of KV: a request that
// was given up may still be on its way out.
func TestWhatAFailedCallWasGivenStaysAsItWas(t *testing.T) {
	w := mustNew(t, write(doing(workload.Mixed), keyed(workload.Uniform, 1000), sized(8, 64)))
	kv := &forgetful{store: newStore(), fail: func(call int) bool { return call > 1000 && call%3 > 0 }}
	mustPrepare(t, w, kv)
	op := w.Op(kv, nil)
	for seq := range int64(3000) {
		if err := op(t.Context(), seq); err != nil && !errors.Is(err, errLost) {
			t.Fatal(err)
		}
	}
	if len(kv.held) != 2000 {
		t.Fatalf("%d calls failed, want 2,000", len(kv.held))
	}
	for i, h := range kv.held {
		if h.key != h.wasKey || !bytes.Equal(h.value, h.wasValue) {
			t.Fatalf("failed call %d was given %q and another value, and now holds %q", i, h.wasKey, h.key)
		}
	}
	var keys []string
	for key := range kv.values {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if len(keys) != 1000 || keys[0] != "k0000000" || keys[999] != "k0000999" {
		t.Errorf("%d keys, %s to %s", len(keys), keys[0], keys[len(keys)-1])
	}
}
