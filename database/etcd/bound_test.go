package etcd

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestCallsShareABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = 16 * time.Second
		b := newBounds(timeout)
		first := b.begin(t.Context())
		time.Sleep(time.Second - 1)
		if second := b.begin(t.Context()); second != first {
			t.Error("two calls within a part have not the same bound")
		}
		time.Sleep(time.Nanosecond)
		third := b.begin(t.Context())
		if third == first {
			t.Error("a call of the next part has the same bound")
		}
		b.done(first)
		if first.Err() != nil {
			t.Error("a bound ended although a call was under way")
		}
		b.done(first)
		if !errors.Is(first.Err(), context.Canceled) || first.passed() {
			t.Errorf("after the last call: %v, passed %v, want it free", first.Err(), first.passed())
		}
		began := time.Now()
		<-third.Done()
		if got := time.Since(began); got != timeout+timeout/boundSteps {
			t.Errorf("the bound passed after %v, want %v", got, timeout+timeout/boundSteps)
		}
		if !third.passed() {
			t.Error("a bound that passed does not say so")
		}
		b.done(third)
		b.close()
	})
}

func TestABoundEndsWithTheCaller(t *testing.T) {
	b := newBounds(time.Minute)
	defer b.close()
	one, cancel := context.WithCancel(t.Context())
	first, second := b.begin(one), b.begin(t.Context())
	cancel()
	<-first.Done()
	if first.passed() || second.Err() != nil {
		t.Errorf("first passed: %v, second: %v; want the first canceled alone", first.passed(), second.Err())
	}
	b.done(first)
	b.done(second)
}

// TestNoCallIsEndedByAnother replaces bounds as fast as it can, with two callers in turn, which must end
// none that a call is under way in.
func TestNoCallIsEndedByAnother(t *testing.T) {
	b := newBounds(time.Minute)
	defer b.close()
	contexts := [2]context.Context{t.Context(), context.WithoutCancel(t.Context())}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 5000 {
				c := b.begin(contexts[(i+n)%2])
				if err := c.Err(); err != nil {
					t.Errorf("a call begins with %v", err)
					return
				}
				b.done(c)
			}
		})
	}
	wg.Wait()
}
