package memory

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/databasetest"
)

func newTestDriver(t *testing.T, options string) database.Driver {
	t.Helper()
	d, err := New(json.RawMessage(options))
	if err != nil {
		t.Fatalf("options %s: %v", options, err)
	}
	return d
}

func openTest(t *testing.T, d database.Driver) database.Client {
	t.Helper()
	c, err := d.Open(t.Context(), database.Target{Endpoints: []string{"127.0.0.1:1"}, Consistency: linearizable})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConformance(t *testing.T) {
	endpoints := []string{"127.0.0.1:2390", "127.0.0.2:2390", "127.0.0.3:2390"}
	for _, options := range []string{``, `{"latency": "10us"}`} {
		t.Run("options "+options, func(t *testing.T) {
			databasetest.Run(t, databasetest.Config{Driver: newTestDriver(t, options), Endpoints: endpoints})
		})
	}
}

func TestOptionsRefused(t *testing.T) {
	tests := []struct{ options, path string }{
		{`{"latency": "2"}`, "latency"},
		{`{"latency": "-2ms"}`, "latency"},
		{`{"latency": 2}`, "latency"},
		{`{"delay": "2ms"}`, "delay"},
		{`7`, ""},
	}
	for _, tt := range tests {
		_, err := New(json.RawMessage(tt.options))
		var option *database.OptionError
		if !errors.As(err, &option) || option.Path != tt.path {
			t.Errorf("%s: got %v, want an option error at %q", tt.options, err, tt.path)
		}
	}
}

func TestDriversShareNothing(t *testing.T) {
	a, b := newTestDriver(t, ``), newTestDriver(t, ``)
	if err := openTest(t, a).Put(t.Context(), "k1", []byte("value")); err != nil {
		t.Fatal(err)
	}
	if got, err := openTest(t, a).Get(t.Context(), "k1", nil); err != nil || string(got) != "value" {
		t.Errorf("another client of the driver: got %q, %v, want %q", got, err, "value")
	}
	if _, err := openTest(t, b).Get(t.Context(), "k1", nil); !errors.Is(err, database.ErrNotFound) {
		t.Errorf("another driver: got %v, want ErrNotFound", err)
	}
}

func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openTest(t, newTestDriver(t, `{"latency": "2ms"}`))
		start := time.Now()
		if err := c.Put(t.Context(), "k1", nil); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(start); got != 2*time.Millisecond {
			t.Errorf("put took %v, want 2ms", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := c.Get(ctx, "k1", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("deadline below the latency: got %v, want context.DeadlineExceeded", err)
		}
		if got := time.Since(start); got != 3*time.Millisecond {
			t.Errorf("both took %v, want 3ms", got)
		}
	})
}

// TestTimeout has a latency above the client's own bound.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openTest(t, newTestDriver(t, `{"latency": "1h"}`))
		start := time.Now()
		err := c.Put(t.Context(), "k1", nil)
		var sorted *database.Error
		if !errors.As(err, &sorted) || sorted.Kind != database.KindDeadline || !sorted.MayBeApplied {
			t.Errorf("got %v, want an indeterminate %q", err, database.KindDeadline)
		}
		if got := time.Since(start); got != database.DefaultTimeout {
			t.Errorf("put took %v, want %v", got, database.DefaultTimeout)
		}
	})
}

// TestNoAllocations keeps the harness's own cost visible in a dry run.
func TestNoAllocations(t *testing.T) {
	c := openTest(t, newTestDriver(t, ``))
	ctx, value := t.Context(), make([]byte, 1024)
	if err := c.Put(ctx, "k1", value); err != nil {
		t.Fatal(err)
	}
	var into []byte
	got := testing.AllocsPerRun(1000, func() {
		if err := c.Put(ctx, "k1", value); err != nil {
			t.Error(err)
		}
		read, err := c.Get(ctx, "k1", into[:0])
		if err != nil {
			t.Error(err)
		}
		into = read
	})
	if got != 0 {
		t.Errorf("put and get of an existing key: got %v allocations, want 0", got)
	}
}

func TestPlanRefuses(t *testing.T) {
	d := newTestDriver(t, ``)
	member := func(change func(*database.Member)) database.Member {
		m := database.Member{
			Index: 1, Cluster: []database.Peer{{Name: "member-1", Host: "127.0.0.1"}}, DataDir: "/data",
			Installation: database.Installation{Name: database.Embedded, Command: []string{"/bin/dbtester"}},
		}
		change(&m)
		return m
	}
	if _, err := d.Plan(member(func(*database.Member) {})); err != nil {
		t.Errorf("embedded: %v", err)
	}
	_, err := d.Plan(member(func(m *database.Member) {
		m.Installation = database.Installation{Name: "memory-1", Dir: "/databases/memory-1"}
	}))
	if !errors.Is(err, database.ErrRefused) {
		t.Errorf("a folder: got %v, want ErrRefused", err)
	}
	for name, change := range map[string]func(*database.Member){
		"index":          func(m *database.Member) { m.Index = 2 },
		"host":           func(m *database.Member) { m.Cluster[0].Host = "localhost" },
		"data directory": func(m *database.Member) { m.DataDir = "data" },
	} {
		if _, err := d.Plan(member(change)); err == nil {
			t.Errorf("wrong %s: got no error", name)
		}
	}
}

// BenchmarkPut is the floor of a dry run.
func BenchmarkPut(b *testing.B) {
	d, err := New(nil)
	if err != nil {
		b.Fatal(err)
	}
	c, err := d.Open(b.Context(), database.Target{Endpoints: []string{"127.0.0.1:1"}, Consistency: linearizable})
	if err != nil {
		b.Fatal(err)
	}
	ctx, value := b.Context(), make([]byte, 1024)
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Put(ctx, "k1", value); err != nil {
			b.Fatal(err)
		}
	}
}
