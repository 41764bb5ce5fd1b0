package consul

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
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

// A fake is an agent of which a test decides what it answers.
type fake struct {
	*httptest.Server
	connections atomic.Int64

	mu       sync.Mutex
	requests []string
	answer   http.HandlerFunc
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := new(fake)
	f.answer = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "true") }
	f.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client has gone
		f.mu.Lock()
		f.requests = append(f.requests, r.Method+" "+r.URL.RequestURI())
		answer := f.answer
		f.mu.Unlock()
		answer(w, r)
	}))
	f.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			f.connections.Add(1)
		}
	}
	f.Start()
	t.Cleanup(f.Close)
	return f
}

func (f *fake) endpoint() string { return strings.TrimPrefix(f.URL, "http://") }

func (f *fake) set(answer http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

// takeRequests returns the requests since the last call.
func (f *fake) takeRequests() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	requests := strings.Join(f.requests, ", ")
	f.requests = nil
	return requests
}

func open(t *testing.T, d database.Driver, target database.Target) database.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c, err := d.Open(ctx, target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // a test may have closed it
	return c
}

// TestRequests checks what each call sends, and that it answers only the first
// open with a write.
func TestRequests(t *testing.T) {
	tests := []struct{ consistency, read string }{
		{"linearizable", "GET /v1/kv/%s?consistent="},
		{"consistent", "GET /v1/kv/%s?consistent="},
		{"default", "GET /v1/kv/%s"},
		{"stale", "GET /v1/kv/%s?stale="},
	}
	for _, tt := range tests {
		t.Run(tt.consistency, func(t *testing.T) {
			f, d := newFake(t), newTestDriver(t, ``)
			target := database.Target{Endpoints: []string{f.endpoint()}, Consistency: tt.consistency}
			want := func(what, want string) {
				t.Helper()
				if got := f.takeRequests(); got != want {
					t.Errorf("%s: got %q, want %q", what, got, want)
				}
			}
			open(t, d, target)
			want("first open", "DELETE /v1/kv/dbtester-ready")
			f.set(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, `[{"Key": "k", "Value": null}]`)
			})
			c := open(t, d, target)
			want("second open", fmt.Sprintf(tt.read, "dbtester-ready"))
			if value, err := c.Get(t.Context(), "k1", nil); err != nil || len(value) > 0 {
				t.Errorf("got %v, %v, want an empty value", value, err)
			}
			want("get", fmt.Sprintf(tt.read, "k1"))
			if err := c.Put(t.Context(), "k1", nil); err != nil {
				t.Error(err)
			}
			want("put", "PUT /v1/kv/k1")
		})
	}
}

// TestOneConnection checks that a client with one caller dials once, whatever
// the answers are, and one with many about as often as it has callers: net/http
// dials for a request that may then find an idle connection.
func TestOneConnection(t *testing.T) {
	f := newFake(t)
	c := open(t, newTestDriver(t, ``), database.Target{Endpoints: []string{f.endpoint()}, Consistency: "default"})
	answers := []http.HandlerFunc{
		func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "[]\n") },
		func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `[{"Value": "`+strings.Repeat("QUJD", 100_000)+"\"}]\n\n")
		},
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
		func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "No cluster leader", http.StatusInternalServerError)
		},
	}
	for range 5 {
		for _, answer := range answers {
			f.set(answer)
			_, _ = c.Get(t.Context(), "k", nil) // the error is not what is tested
			_ = c.Put(t.Context(), "k", []byte("value"))
		}
	}
	if got := f.connections.Load(); got != 1 {
		t.Errorf("got %d connections for one caller, want 1", got)
	}
	const callers, rounds = 100, 20
	var wg sync.WaitGroup
	f.set(answers[0])
	for range callers {
		wg.Go(func() {
			for range rounds {
				_, _ = c.Get(t.Context(), "k", nil)
			}
		})
	}
	wg.Wait()
	if got := f.connections.Load(); got > 2*callers {
		t.Errorf("got %d connections for %d callers and %d requests, want about one for each caller", got, callers, callers*rounds)
	}
}

// TestCallsThatFail checks that nothing is sent twice and nothing hangs.
func TestCallsThatFail(t *testing.T) {
	const timeout = 200 * time.Millisecond
	tests := []struct {
		name         string
		answer       http.HandlerFunc
		kind         string
		mayBeApplied bool
	}{
		{"no answer", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, database.KindDeadline, true},
		{"half an answer", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "4")
			_, _ = io.WriteString(w, "tr")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, database.KindDeadline, true},
		{"connection lost", func(w http.ResponseWriter, _ *http.Request) { hangUp(w) }, kindLost, true},
		{"no leader", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "No cluster leader", http.StatusInternalServerError)
		}, "no leader", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t)
			c := open(t, newTestDriver(t, ``), database.Target{Endpoints: []string{f.endpoint()}, Consistency: "default", Timeout: timeout})
			f.takeRequests()
			f.set(tt.answer)
			start := time.Now()
			err := c.Put(t.Context(), "k", []byte("value"))
			databasetest.WantSorted(t, err)
			var sorted *database.Error
			if errors.As(err, &sorted) && (sorted.Kind != tt.kind || sorted.MayBeApplied != tt.mayBeApplied) {
				t.Errorf("got %q, may be applied %v (%v), want %q, %v", sorted.Kind, sorted.MayBeApplied, err, tt.kind, tt.mayBeApplied)
			}
			if got := f.takeRequests(); got != "PUT /v1/kv/k" {
				t.Errorf("got requests %q, want one", got)
			}
			if took := time.Since(start); took > timeout+time.Second {
				t.Errorf("took %v, want %v or little more", took, timeout)
			}
		})
	}
}

func hangUp(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// TestRedialPause checks that the calls of a dead agent take turns with a pause.
func TestRedialPause(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	const pause = 200 * time.Millisecond
	d := newDialer(pause)
	start := time.Now()
	for range 3 {
		if _, err := d.DialContext(t.Context(), "tcp", address); err == nil {
			t.Fatal("got a connection where nobody listens")
		}
	}
	if took := time.Since(start); took < 2*pause || took > 2*pause+time.Second {
		t.Errorf("three dials took %v, want two pauses of %v", took, pause)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := d.DialContext(ctx, "tcp", address); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline to end the pause", err)
	}
}

func TestDeadEndpoint(t *testing.T) {
	databasetest.DeadEndpoint(t, newTestDriver(t, ``), "default")
}

func TestRefusals(t *testing.T) {
	f := newFake(t)
	c := open(t, newTestDriver(t, ``), database.Target{Endpoints: []string{f.endpoint()}, Consistency: "default"})
	f.takeRequests()
	tests := []struct {
		name, key string
		value     []byte
		kind      string
	}{
		{"empty key", "", nil, "invalid key"},
		{"leading slash", "/k", nil, "invalid key"},
		{"empty element", "a//b", nil, "invalid key"},
		{"dotted element", "a/../b", nil, "invalid key"},
		{"large value", "k", make([]byte, maxValueBytes+1), kindTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := c.Put(t.Context(), tt.key, tt.value)
			databasetest.WantSorted(t, err)
			var sorted *database.Error
			if errors.As(err, &sorted) && (sorted.Kind != tt.kind || sorted.MayBeApplied) || !errors.Is(err, database.ErrRefused) {
				t.Errorf("got %v, want the refusal %q", err, tt.kind)
			}
		})
	}
	if got := f.takeRequests(); got != "" {
		t.Errorf("the agent saw %q, want nothing", got)
	}
}

func TestCount(t *testing.T) {
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   int64
		fails  bool
	}{
		{"some", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `["k1", "k\"2", "k,3"]`) }, 3, false},
		{"none", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, 0, false},
		{"empty list", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `[]`) }, 0, false},
		{"no list", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `true`) }, 0, true},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `["k1", "k2"`) }, 0, true},
		{"no leader", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "No cluster leader", 500) }, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t)
			c := open(t, newTestDriver(t, ``), database.Target{Endpoints: []string{f.endpoint()}, Consistency: "stale"})
			f.takeRequests()
			f.set(tt.answer)
			got, err := c.(database.Counter).Count(t.Context(), "k")
			if (err != nil) != tt.fails || err == nil && got != tt.want {
				t.Errorf("got %d, %v, want %d, fails %v", got, err, tt.want, tt.fails)
			}
			if got := f.takeRequests(); got != "GET /v1/kv/k?keys&consistent" {
				t.Errorf("got requests %q, want one list", got)
			}
			if err != nil {
				databasetest.WantSorted(t, err)
			}
		})
	}
}

func FuzzCountStrings(f *testing.F) {
	for _, list := range []string{`[]`, `["k1","k2"]`, `["k\""]`, `["k1",`, `{}`, `[1]`, `["k"]]`} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		n, err := countStrings(strings.NewReader(list))
		var keys []string
		if json.Unmarshal([]byte(list), &keys) == nil && keys != nil && !strings.Contains(list, "null") && (err != nil || n != int64(len(keys))) {
			t.Errorf("%q: got %d, %v, want %d", list, n, err, len(keys))
		}
	})
}
