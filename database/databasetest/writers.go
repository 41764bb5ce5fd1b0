package databasetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dbtester/dbtester/database"
)

// writers write a key each time, count what becomes of it, and check each error.
type writers struct {
	prefix                          string
	timeout                         time.Duration
	attempted, acknowledged, failed atomic.Int64

	mu    sync.Mutex
	kinds map[string]int
}

func newWriters(timeout time.Duration) *writers {
	return &writers{prefix: fmt.Sprintf("k%d-", time.Now().UnixNano()), timeout: timeout, kinds: make(map[string]int)}
}

// run writes until ctx ends.
func (w *writers) run(ctx context.Context, t *testing.T, c database.Client) {
	t.Helper()
	for ctx.Err() == nil {
		key := fmt.Sprintf("%s%010d", w.prefix, w.attempted.Add(1))
		start := time.Now()
		// Not ctx: the end of the test must not look like an error of the store.
		err := c.Put(context.WithoutCancel(ctx), key, []byte("value"))
		if took := time.Since(start); took > w.timeout+slack {
			t.Errorf("put took %v, want %v or little more", took, w.timeout)
		}
		if err == nil {
			w.acknowledged.Add(1)
			continue
		}
		WantSorted(t, err)
		w.count(err)
		w.failed.Add(1)
	}
}

func (w *writers) count(err error) {
	var sorted *database.Error
	if !errors.As(err, &sorted) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kinds[sorted.Kind]++
}

// waitWrites returns when so many more writes are acknowledged.
func (w *writers) waitWrites(t *testing.T, when string, more int64) {
	t.Helper()
	before := w.acknowledged.Load()
	waitFor(t, "writes "+when, func() bool { return w.acknowledged.Load() > before+more })
}

// wantCounted fails the test unless the store holds every key that was
// acknowledged and none that was not attempted.
func (w *writers) wantCounted(t *testing.T, c database.Client) {
	t.Helper()
	counter, ok := c.(database.Counter)
	if !ok {
		t.Fatalf("%T cannot count keys", c)
	}
	keys, err := counter.Count(t.Context(), w.prefix)
	acknowledged, attempted := w.acknowledged.Load(), w.attempted.Load()
	if err != nil || keys < acknowledged || keys > attempted {
		t.Errorf("got %d keys, %v, want between the %d acknowledged and the %d attempted", keys, err, acknowledged, attempted)
	}
	t.Logf("%d of %d writes acknowledged, %d keys counted, errors by kind: %v", acknowledged, attempted, keys, w.kinds)
}

// waitFor polls the condition and fails the test if it does not come true in a minute.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	const most = time.Minute
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(most)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("no %s in %v", what, most)
		}
	}
}
