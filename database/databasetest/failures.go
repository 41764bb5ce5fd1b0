package databasetest

import (
	"context"
	"errors"
	"net"
	"regexp"
	"testing"
	"time"

	"github.com/dbtester/dbtester/database"
)

// slack is what a call may take beyond its deadline on a busy machine.
const slack = time.Second

// addressLike finds what must not be in a kind, or every port is a row.
var addressLike = regexp.MustCompile(`[0-9]{2}|[0-9]:|\.[0-9]|0x`)

// wantKind fails the test unless err is a sorted error of that kind.
func wantKind(t *testing.T, err error, kind string) *database.Error {
	t.Helper()
	var sorted *database.Error
	if !errors.As(err, &sorted) {
		t.Fatalf("got %T (%v), want a *database.Error", err, err)
	}
	if sorted.Kind != kind {
		t.Errorf("got kind %q (%v), want %q", sorted.Kind, err, kind)
	}
	return sorted
}

// WantSorted fails the test if err is not a sorted error, or its kind holds an
// address, a port or a key.
func WantSorted(t *testing.T, err error) {
	t.Helper()
	var sorted *database.Error
	switch {
	case !errors.As(err, &sorted):
		t.Errorf("got %T (%v), want a *database.Error", err, err)
	case sorted.Kind == "" || addressLike.MatchString(sorted.Kind):
		t.Errorf("kind %q is not a plain name", sorted.Kind)
	}
}

// bothCalls runs a put and a get with the context and gives each error to check.
func (s suite) bothCalls(ctx context.Context, t *testing.T, c database.Client, check func(*testing.T, error)) {
	t.Helper()
	key := s.key()
	t.Run("put", func(t *testing.T) { check(t, c.Put(ctx, key, []byte("value"))) })
	t.Run("get", func(t *testing.T) {
		_, err := c.Get(ctx, key, nil)
		check(t, err)
	})
}

func (s suite) canceled(t *testing.T) {
	c := s.connect(t, s.Endpoints...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	start := time.Now()
	s.bothCalls(ctx, t, c, func(t *testing.T, err error) {
		t.Helper()
		_ = wantKind(t, err, database.KindCanceled)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want an error that is context.Canceled", err)
		}
	})
	if took := time.Since(start); took > slack {
		t.Errorf("two canceled calls took %v, want them to return at once", took)
	}
	put(t, c, s.key(), []byte("the client still works"))
}

func (s suite) deadline(t *testing.T) {
	c := s.connect(t, s.Endpoints...)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Millisecond))
	defer cancel()
	s.bothCalls(ctx, t, c, func(t *testing.T, err error) {
		t.Helper()
		if sorted := wantKind(t, err, database.KindDeadline); !sorted.MayBeApplied {
			t.Error("got a failure, want it to be indeterminate")
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want an error that is context.DeadlineExceeded", err)
		}
	})
	put(t, c, s.key(), []byte("the client still works"))
}

func (s suite) closed(t *testing.T) {
	c := s.connect(t, s.Endpoints...)
	if err := c.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	check := func(t *testing.T, err error) {
		t.Helper()
		if sorted := wantKind(t, err, database.KindClosed); sorted.MayBeApplied {
			t.Error("got indeterminate, want a failure: nothing was sent")
		}
		if !errors.Is(err, database.ErrClosed) {
			t.Errorf("got %v, want an error that is ErrClosed", err)
		}
	}
	s.bothCalls(t.Context(), t, c, check)
	t.Run("close", func(t *testing.T) { check(t, c.Close()) })
	t.Run("count", func(t *testing.T) {
		counter, ok := c.(database.Counter)
		if !ok {
			t.Skip("this client cannot count")
		}
		_, err := counter.Count(t.Context(), "k")
		check(t, err)
	})
}

// open checks that Open refuses what it cannot do, and gives up with its context.
func (s suite) open(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name   string
		ctx    context.Context
		target database.Target
	}{
		{"no endpoints", t.Context(), database.Target{Consistency: s.Consistency}},
		{"unknown consistency", t.Context(), database.Target{Endpoints: s.Endpoints, Consistency: "eventually"}},
		{"canceled", ctx, database.Target{Endpoints: s.Endpoints, Consistency: s.Consistency}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			c, err := s.Driver.Open(tt.ctx, tt.target)
			if err == nil {
				_ = c.Close() // the test has failed already
				t.Fatal("got a client, want an error")
			}
			if took := time.Since(start); took > slack {
				t.Errorf("took %v, want it to return at once", took)
			}
		})
	}
}

// DeadEndpoint checks that a store nobody answers for is an error within the
// deadline, not a hang. The endpoint is the port of a listener just closed.
func DeadEndpoint(t *testing.T, d database.Driver, consistency string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	endpoint := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	const timeout = 300 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	start := time.Now()
	c, err := d.Open(ctx, database.Target{Endpoints: []string{endpoint}, Consistency: consistency})
	if err == nil {
		_ = c.Close() // the test has failed already
		t.Fatal("got a client of an endpoint where nobody listens")
	}
	if took := time.Since(start); took > timeout+slack {
		t.Errorf("open took %v, want %v or little more", took, timeout)
	}
}
