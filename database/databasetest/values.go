package databasetest

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"
	"unsafe"

	"github.com/dbtester/dbtester/database"
)

func (s suite) values(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	tests := []struct {
		name  string
		value []byte
	}{
		{"text", []byte("value")},
		{"empty", []byte{}},
		{"nil", nil},
		{"every byte", every},
		{"line ends and quotes", []byte("\"a\"\r\nb\n\x00")},
		{"large", bytes.Repeat(every, s.LargeValue/len(every))},
	}
	c := s.connect(t, s.Endpoints...)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			key := s.key()
			put(t, c, key, tt.value)
			if got := get(t, c, key); !bytes.Equal(got, tt.value) {
				t.Errorf("got %d bytes, want the %d that were put", len(got), len(tt.value))
			}
		})
	}
}

func (s suite) overwrite(t *testing.T) {
	c := s.connect(t, s.Endpoints...)
	key := s.key()
	for _, value := range []string{"first", "a longer second", "3"} {
		put(t, c, key, []byte(value))
		if got := string(get(t, c, key)); got != value {
			t.Errorf("got %q, want %q", got, value)
		}
	}
}

// callersMemory checks that neither side keeps the other's memory: the key and
// the value are overwritten as soon as a call has returned nil, as package
// workload does with the memory of each of its clients.
func (s suite) callersMemory(t *testing.T) {
	c := s.connect(t, s.Endpoints...)
	key, other := s.key(), s.key()
	place, value := []byte(key), []byte("first")
	shared := unsafe.String(&place[0], len(place)) // what a later request makes another key of
	put(t, c, shared, value)
	copy(place, other)
	copy(value, "XXXXX")
	first := get(t, c, key)
	if string(first) != "first" {
		t.Errorf("after the caller overwrote what it had put: got %q, want %q", first, "first")
	}
	if _, err := c.Get(t.Context(), other, nil); !errors.Is(err, database.ErrNotFound) {
		t.Errorf("the key that the caller wrote over it, which nobody put: got %v, want ErrNotFound", err)
	}
	copy(place, key)
	if got := get(t, c, shared); string(got) != "first" {
		t.Errorf("the key made again in the same memory: got %q, want %q", got, "first")
	}
	copy(place, other)
	put(t, c, key, []byte("other"))
	if string(first) != "first" {
		t.Errorf("what get returned became %q, want %q", first, "first")
	}
	if got := get(t, c, key); string(got) != "other" {
		t.Errorf("after the caller overwrote the key of a get: got %q, want %q", got, "other")
	}
}

func (s suite) missingKey(t *testing.T) {
	c := s.connect(t, s.Endpoints...)
	value, err := c.Get(t.Context(), s.key(), nil)
	if value != nil {
		t.Errorf("got value %q, want nil", value)
	}
	_ = wantKind(t, err, database.KindNotFound)
	if !errors.Is(err, database.ErrNotFound) {
		t.Errorf("got %v, want an error that is ErrNotFound", err)
	}
	// A key that only begins like one that is there is missing too.
	key := s.key()
	put(t, c, key+"0", []byte("longer"))
	if _, err := c.Get(t.Context(), key, nil); !errors.Is(err, database.ErrNotFound) {
		t.Errorf("prefix of a key: got %v, want ErrNotFound", err)
	}
}

// everyEndpoint writes over each endpoint and reads over the next.
func (s suite) everyEndpoint(t *testing.T) {
	clients := make([]database.Client, len(s.Endpoints))
	for i, endpoint := range s.Endpoints {
		clients[i] = s.connect(t, endpoint)
	}
	for i, c := range clients {
		key := s.key()
		put(t, c, key, []byte("value"))
		if got := get(t, clients[(i+1)%len(clients)], key); string(got) != "value" {
			t.Errorf("put over %s: got %q from the next endpoint, want %q", s.Endpoints[i], got, "value")
		}
	}
}

// concurrent shares one client between many goroutines, each with keys of its own.
func (s suite) concurrent(t *testing.T) {
	const workers, rounds = 32, 20
	c := s.connect(t, s.Endpoints...)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for i := range workers {
		key := s.key()
		wg.Go(func() {
			for round := range rounds {
				if err := writeAndRead(t, c, key, fmt.Appendf(nil, "%s %d", key, round)); err != nil {
					errs[i] = err
					return
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

func writeAndRead(t *testing.T, c database.Client, key string, value []byte) error {
	if err := c.Put(t.Context(), key, value); err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	got, err := c.Get(t.Context(), key, nil)
	if err != nil {
		return fmt.Errorf("get %s: %w", key, err)
	}
	if !bytes.Equal(got, value) {
		return fmt.Errorf("get %s: got %q, want %q", key, got, value)
	}
	return nil
}
