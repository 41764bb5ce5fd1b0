package config

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// workload checks one workload, complete with its defaults.
func (c *checker) workload(path string, w Workload) {
	oneOf(c, path+".operation", w.Operation, operations())
	c.between(path+".requests", w.Requests, 1, MaxRequests)
	c.clients(path, w)
	c.between(path+".connections", int64(w.Connections), 0, MaxClients)
	if w.Rate < 0 || w.Rate > MaxRate || math.IsNaN(w.Rate) {
		c.add(path+".rate", "want 0 for a closed loop, or requests per second up to %.0f, not %v", MaxRate, w.Rate)
	}
	c.key(path, w)
	c.between(path+".value.size", int64(w.Value.Size), 0, MaxValueSize)
	if !word.MatchString(w.Consistency) {
		c.add(path+".consistency", "want a word such as linearizable or stale, not %q", w.Consistency)
	}
	oneOf(c, path+".placement", w.Placement, placements())
	c.between(path+".warm_up.requests", w.WarmUp.Requests, 0, MaxRequests)
	if w.Timeout < MinTimeout || w.Timeout > MaxTimeout {
		c.add(path+".timeout", "want %v to %v, not %v", MinTimeout, MaxTimeout, w.Timeout)
	}
	if w.Operation == ReadOneshot && w.Connections != 0 {
		c.add(path+".connections", "want 0: %s opens a connection for each read", ReadOneshot)
	}
}

func operations() []Operation { return []Operation{Write, Read, ReadOneshot} }
func orders() []Order         { return []Order{Sequential, Same} }
func placements() []Placement { return []Placement{All, Leader} }

// clients checks the steps of the ladder.
func (c *checker) clients(path string, w Workload) {
	if len(w.Clients) == 0 {
		c.add(path+".clients", "want a number of clients, or a list of at least one")
		return
	}
	for i, n := range w.Clients {
		step := path + ".clients"
		if len(w.Clients) > 1 {
			step += "[" + strconv.Itoa(i) + "]"
		}
		c.between(step, int64(n), 1, MaxClients)
		if slices.Contains(w.Clients[:i], n) {
			c.add(step, "%d clients are a step already; a step is named by its clients", n)
		}
	}
	if most := slices.Max(w.Clients); w.Requests > 0 && w.Requests < int64(most) {
		c.add(path+".requests", "want at least %d, one for each client of the largest step, not %d", most, w.Requests)
	}
}

// keyPrefix is the letter in front of every key's number.
const keyPrefix = 1

// key checks that the keys can be told from one another.
func (c *checker) key(path string, w Workload) {
	oneOf(c, path+".key.order", w.Key.Order, orders())
	c.between(path+".key.size", int64(w.Key.Size), minKeySize, MaxKeySize)
	if w.Key.Order == Sequential && w.Key.Size >= minKeySize {
		keys := max(w.Requests, w.WarmUp.Requests, 1)
		if size := keyPrefix + len(strconv.FormatInt(keys-1, 10)); w.Key.Size < size {
			c.add(path+".key.size", "want at least %d, a letter and the digits of %d different keys, not %d", size, keys, w.Key.Size)
		}
	}
	reads := w.Operation == Read || w.Operation == ReadOneshot
	if reads && w.Key.Order == Sequential {
		c.add(path+".key.order", "want %s for a %s: one key is put first, then read", Same, w.Operation)
	}
}

func (c *checker) between(path string, got, low, high int64) {
	if got < low || got > high {
		c.add(path, "want %d to %d, not %d", low, high, got)
	}
}

// oneOf checks that the word is one of the known.
func oneOf[T ~string](c *checker, path string, got T, known []T) {
	if slices.Contains(known, got) {
		return
	}
	words := make([]string, len(known))
	for i, k := range known {
		words[i] = string(k)
	}
	want := "want one of " + strings.Join(words, ", ")
	if got == "" {
		c.add(path, "missing; %s", want)
	} else if meant, ok := nearest(string(got), words); ok {
		c.add(path, "%s, not %q; did you mean %q?", want, got, meant)
	} else {
		c.add(path, "%s, not %q", want, got)
	}
}
