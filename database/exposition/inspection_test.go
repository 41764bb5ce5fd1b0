package exposition

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestAsk(t *testing.T) {
	dialed := map[string]bool{}
	member := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dialed[r.RemoteAddr] = true
		if r.URL.Path != "/figures" || r.Header.Get("Accept-Encoding") != "" {
			http.Error(w, "not this", http.StatusTeapot)
			return
		}
		_, _ = io.WriteString(w, "pending 7\n")
	}))
	defer member.Close()
	endpoint := strings.TrimPrefix(member.URL, "http://")
	i, err := Inspect(endpoint, "/figures", testFigures())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		got, err := i.Ask(t.Context())
		if err != nil || got[0].Value != 7 {
			t.Fatalf("got %v, %v", got, err)
		}
	}
	if len(dialed) != 1 {
		t.Errorf("three asks took %d connections, want 1", len(dialed))
	}
	if err := i.Close(); err != nil {
		t.Error(err)
	}

	i, err = Inspect(endpoint, "/other", testFigures())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := i.Ask(t.Context()); err == nil || !strings.Contains(err.Error(), "418") {
		t.Errorf("got %v, %v, want the status", got, err)
	}
}

// TestAskIsBounded asks a member that never answers.
func TestAskIsBounded(t *testing.T) {
	release := make(chan struct{})
	member := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer member.Close()
	defer close(release)
	i, err := Inspect(strings.TrimPrefix(member.URL, "http://"), "/", testFigures())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := i.Ask(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
}

func TestInspectRefuses(t *testing.T) {
	if _, err := Inspect("127.0.0.1", "/metrics", nil); err == nil {
		t.Error("an endpoint without port: got no error")
	}
}
