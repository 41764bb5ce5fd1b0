package databasetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/dbtester/dbtester/database"
)

func (s suite) guarantee(t *testing.T) {
	g, err := s.Driver.Guarantee(s.Consistency)
	if err != nil {
		t.Fatal(err)
	}
	if g.Reads == "" || g.Durable == "" {
		t.Errorf("got %+v, want both told", g)
	}
	if _, err = s.Driver.Guarantee("eventually"); err == nil {
		t.Fatal("unknown consistency: got no error")
	}
	if !strings.Contains(err.Error(), s.Consistency) {
		t.Errorf("unknown consistency: %q does not list %q", err, s.Consistency)
	}
}

func (s suite) count(t *testing.T) {
	c := s.connect(t, s.Endpoints...)
	counter, ok := c.(database.Counter)
	if !ok {
		t.Skip("this client cannot count")
	}
	prefix := s.key()
	const keys = 7
	for i := range keys {
		wantCount(t, counter, prefix, int64(i))
		put(t, c, prefix+string(rune('0'+i)), []byte("value"))
	}
	put(t, c, prefix+"0", []byte("written twice, counted once"))
	put(t, c, s.key(), []byte("not of this prefix"))
	wantCount(t, counter, prefix, keys)
	wantCount(t, counter, prefix+"3", 1)
	all, err := counter.Count(t.Context(), "")
	if err != nil || all < keys+1 {
		t.Errorf("count of everything: got %d, %v, want at least %d", all, err, keys+1)
	}
}

func wantCount(t *testing.T, c database.Counter, prefix string, want int64) {
	t.Helper()
	got, err := c.Count(t.Context(), prefix)
	if err != nil || got != want {
		t.Errorf("count %s: got %d, %v, want %d", prefix, got, err, want)
	}
}

// leader checks that exactly one endpoint leads, also for a client that was
// given all endpoints, whose answer is for the first.
func (s suite) leader(t *testing.T) {
	var leaders []string
	for i, endpoint := range s.Endpoints {
		alone, err := isLeader(t, s.connect(t, endpoint))
		if errors.Is(err, database.ErrRefused) {
			t.Skip("this client cannot find the leader")
		} else if err != nil {
			t.Fatalf("%s: %v", endpoint, err)
		}
		if alone {
			leaders = append(leaders, endpoint)
		}
		rest := append([]string{endpoint}, s.Endpoints[:i]...)
		first, err := isLeader(t, s.connect(t, append(rest, s.Endpoints[i+1:]...)...))
		if err != nil || first != alone {
			t.Errorf("%s as the first of all endpoints: got %v, %v, want %v as alone", endpoint, first, err, alone)
		}
	}
	if len(leaders) != 1 {
		t.Errorf("got leaders %v among %v, want exactly one", leaders, s.Endpoints)
	}
}

func isLeader(t *testing.T, c database.Client) (bool, error) {
	t.Helper()
	prober, ok := c.(database.LeaderProber)
	if !ok {
		return false, database.ErrRefused
	}
	return prober.IsLeader(t.Context())
}

func (s suite) version(t *testing.T) {
	versioner, ok := s.connect(t, s.Endpoints...).(database.Versioner)
	if !ok {
		t.Skip("this client cannot tell the version")
	}
	version, err := versioner.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(version, ".") || strings.ContainsAny(version, " v/") {
		t.Errorf(`got %q, want a bare version such as "3.6.16"`, version)
	}
}
