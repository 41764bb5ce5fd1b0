package zookeeper

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

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

func openFake(t *testing.T, f *fake, target database.Target) database.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	target.Endpoints = []string{f.address}
	if target.Consistency == "" {
		target.Consistency = sequential
	}
	c, err := newTestDriver(t, ``).Open(ctx, target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // a test may have closed it
	return c
}

// TestPutOperations checks what a put costs: one operation, save where keys that
// are there alternate with keys that are not.
func TestPutOperations(t *testing.T) {
	f := newFake(t)
	there := make(map[string]bool)
	f.set(nil, func(op int32, path string) reply {
		switch {
		case op == opCreate && there[path]:
			return reply{code: codeNodeExists}
		case op == opSet && !there[path]:
			return reply{code: codeNoNode}
		}
		there[path] = true
		return reply{}
	})
	c := openFake(t, f, database.Target{})
	for _, step := range []struct{ key, want string }{
		{"a", "create"},
		{"b", "create"},
		{"b", "create set"},
		{"b", "set"},
		{"a", "set"},
		{"c", "set create"},
		{"d", "create"},
	} {
		if err := c.Put(t.Context(), step.key, nil); err != nil {
			t.Fatalf("put %s: %v", step.key, err)
		}
		if got := f.takeKeys(); got != step.want {
			t.Errorf("put %s: got %q, want %q", step.key, got, step.want)
		}
	}
}

func TestGetOperations(t *testing.T) {
	tests := []struct{ consistency, want string }{
		{"sequential", "get"},
		{"stale", "get"},
		{"sync", "sync get"},
		{"linearizable", "sync get"},
	}
	for _, tt := range tests {
		t.Run(tt.consistency, func(t *testing.T) {
			f := newFake(t)
			c := openFake(t, f, database.Target{Consistency: tt.consistency})
			if _, err := c.Get(t.Context(), "a", nil); err != nil {
				t.Fatal(err)
			}
			if got := f.takeKeys(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestWipedData checks that a put makes the parents again if they are gone.
func TestWipedData(t *testing.T) {
	f := newFake(t)
	c := openFake(t, f, database.Target{})
	first := true
	f.set(nil, func(int32, string) reply {
		if first {
			first = false
			return reply{code: codeNoNode}
		}
		return reply{}
	})
	if err := c.Put(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	if got := f.takeKeys(); got != "create create" {
		t.Errorf("got %q, want the create again", got)
	}
}

func wantError(t *testing.T, err error, kind string, mayBeApplied bool) {
	t.Helper()
	databasetest.WantSorted(t, err)
	var sorted *database.Error
	if errors.As(err, &sorted) && (sorted.Kind != kind || sorted.MayBeApplied != mayBeApplied) {
		t.Errorf("got %q, may be applied %v (%v), want %q, %v", sorted.Kind, sorted.MayBeApplied, err, kind, mayBeApplied)
	}
}

func TestCallsThatFail(t *testing.T) {
	const timeout = 200 * time.Millisecond
	tests := []struct {
		name         string
		answer       reply
		kind         string
		mayBeApplied bool
	}{
		{"no answer", reply{silent: true}, database.KindDeadline, true},
		{"connection lost", reply{hangUp: true}, kindLost, true},
		{"session expired", reply{code: codeSessionExpired}, kindExpired, false},
		{"unknown code", reply{code: -4}, kindUnknown, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t)
			c := openFake(t, f, database.Target{Timeout: timeout})
			f.set(nil, func(int32, string) reply { return tt.answer })
			start := time.Now()
			wantError(t, c.Put(t.Context(), "a", nil), tt.kind, tt.mayBeApplied)
			if took := time.Since(start); took > timeout+time.Second {
				t.Errorf("took %v, want %v or little more", took, timeout)
			}
		})
	}
}

// TestLateAnswer checks that an answer after the deadline is not given to the
// next call, and that the caller has its memory back. Run with -race.
func TestLateAnswer(t *testing.T) {
	f := newFake(t)
	c := openFake(t, f, database.Target{})
	late := make(chan struct{})
	f.set(nil, func(_ int32, path string) reply {
		if strings.HasSuffix(path, "/slow") {
			<-late
			return reply{body: append([]byte{0, 0, 0, 4}, "late"+strings.Repeat("\x00", 80)...)}
		}
		return reply{body: append([]byte{0, 0, 0, 4}, "fast"+strings.Repeat("\x00", 80)...)}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := c.Get(ctx, "slow", nil)
	wantError(t, err, database.KindDeadline, true)
	value := []byte("mine")
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	wantError(t, c.Put(ctx, "queued", value), database.KindDeadline, true)
	copy(value, "XXXX")
	close(late)
	if got, err := c.Get(t.Context(), "quick", nil); err != nil || string(got) != "fast" {
		t.Errorf("got %q, %v, want the next call's own answer", got, err)
	}
}

// TestExpiry checks that a lost session is one failed call, though the library
// begins a new one unasked.
func TestExpiry(t *testing.T) {
	f := newFake(t)
	c := openFake(t, f, database.Target{})
	f.set(func(attempt int) greeting {
		if attempt == 1 {
			return noSession
		}
		return greetSession
	}, nil)
	f.hangUp()
	expired := 0
	deadline := time.Now().Add(10 * time.Second)
	for {
		err := c.Put(t.Context(), "a", nil)
		var sorted *database.Error
		switch {
		case errors.As(err, &sorted) && sorted.Kind == kindExpired:
			expired++
			if sorted.MayBeApplied {
				t.Error("an expiry is indeterminate, want a failure: nothing was sent")
			}
		case err != nil:
			databasetest.WantSorted(t, err)
		case expired == 1:
			return
		case time.Now().After(deadline):
			t.Fatalf("got %d expired calls, want one", expired)
		}
	}
}

// TestDeafServer checks that a server that takes connections and says nothing
// costs a call its deadline and no more.
func TestDeafServer(t *testing.T) {
	for _, greet := range []greeting{silence, hangUp} {
		f := newFake(t)
		f.set(func(int) greeting { return greet }, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := newTestDriver(t, ``).Open(ctx, database.Target{Endpoints: []string{f.address}, Consistency: sequential})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("took %v, want little more than the deadline", took)
		}
	}
}

// TestWatchdog checks that a handshake nobody answers is cut off.
func TestWatchdog(t *testing.T) {
	f := newFake(t)
	f.set(func(int) greeting { return silence }, nil)
	w := newWire()
	defer w.close()
	conn, err := w.dial("tcp", f.address, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	w.watch(20 * time.Millisecond)
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the read got data, want the connection closed")
	}
	if again, err := w.dial("tcp", f.address, time.Second); err != nil {
		t.Error(err)
	} else {
		w.watch(time.Hour)
		w.settle()
		w.close()
		if _, err := again.Read(make([]byte, 1)); err == nil {
			t.Error("the read got data, want the connection closed")
		}
	}
	if _, err := w.dial("tcp", f.address, time.Second); err == nil {
		t.Error("dialed after close")
	}
}

func TestDeadEndpoint(t *testing.T) {
	databasetest.DeadEndpoint(t, newTestDriver(t, ``), sequential)
}

func TestRefusals(t *testing.T) {
	f := newFake(t)
	c := openFake(t, f, database.Target{})
	tests := []struct {
		name, key string
		value     []byte
		kind      string
	}{
		{"empty key", "", nil, "empty key"},
		{"long key", strings.Repeat("k", maxKeyBytes+1), nil, "key too long"},
		{"large value", "k", make([]byte, defaultOptions().MaxValueBytes+1), "value too large"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := c.Put(t.Context(), tt.key, tt.value)
			wantError(t, err, tt.kind, false)
			if !errors.Is(err, database.ErrRefused) {
				t.Errorf("got %v, want ErrRefused", err)
			}
		})
	}
	if got := f.takeKeys(); got != "" {
		t.Errorf("the server saw %q, want nothing", got)
	}
}

// TestLargestPacket checks that the longest key, escaped, and the largest value
// fit into the buffers.
func TestLargestPacket(t *testing.T) {
	f := newFake(t)
	c := openFake(t, f, database.Target{})
	err := c.Put(t.Context(), strings.Repeat("/", maxKeyBytes), bytes.Repeat([]byte{1}, defaultOptions().MaxValueBytes))
	if err != nil {
		t.Error(err)
	}
}

func TestServersInOrder(t *testing.T) {
	s := newServers([]string{"a", "b"})
	if err := s.Init([]string{"b", "a"}); err != nil {
		t.Fatal(err)
	}
	var got []string
	next := func() {
		address, pause := s.Next()
		if pause {
			address += " after a pause"
		}
		got = append(got, address)
	}
	next() // a, in vain
	next() // b gives a session
	s.Connected()
	next() // b again, at once
	next()
	next()
	want := []string{"a", "b", "b", "a", "b after a pause"}
	if strings.Join(got, ", ") != strings.Join(want, ", ") || s.Len() != 2 {
		t.Errorf("got %q of %d, want %q", got, s.Len(), want)
	}
}

var _ zk.Logger = silent{}
