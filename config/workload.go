package config

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// workload checks one workload, complete with its defaults.
func (c *checker) workload(path string, w Workload) {
	oneOf(c, path+".operation", w.Operation, operations())
	c.reads(path+".reads", w)
	c.length(path, w.Requests, 1, w.Duration)
	c.clients(path, w)
	c.between(path+".connections", int64(w.Connections), 0, MaxClients)
	c.rates(path, w)
	c.key(path+".key", w)
	c.between(path+".value.size", int64(w.Value.Size), 0, MaxValueSize)
	if s := w.Value.Compressible; !(s >= 0 && s <= 1) {
		c.add(path+".value.compressible", "want the share of a value's bytes that are zero, 0 to 1, not %v", s)
	}
	if !word.MatchString(w.Consistency) {
		c.add(path+".consistency", "want a word such as linearizable or stale, not %q", w.Consistency)
	}
	oneOf(c, path+".placement", w.Placement, placements())
	c.length(path+".warm_up", w.WarmUp.Requests, 0, w.WarmUp.Duration)
	if w.Timeout < MinTimeout || w.Timeout > MaxTimeout {
		c.add(path+".timeout", "want %v to %v, not %v", MinTimeout, MaxTimeout, w.Timeout)
	}
	if w.Operation == ReadOneshot && w.Connections != 0 {
		c.add(path+".connections", "want 0: %s opens a connection for each read", ReadOneshot)
	}
}

func operations() []Operation { return []Operation{Write, Read, ReadOneshot, Mixed} }
func orders() []Order         { return []Order{Sequential, Same, Uniform, Zipfian} }
func placements() []Placement { return []Placement{All, Leader} }
func arrivals() []Arrival     { return []Arrival{Constant, Poisson} }

// reads checks the share of reads.
func (c *checker) reads(path string, w Workload) {
	switch {
	case w.Operation == Mixed && w.Reads == 0:
		c.add(path, "missing; want the share of requests that read, such as 0.9")
	case w.Operation == Mixed && !(w.Reads > 0 && w.Reads < 1):
		c.add(path, "want more than 0 and less than 1, not %v; for reads or writes alone there are the operations %s and %s",
			w.Reads, Read, Write)
	case w.Operation != Mixed && w.Reads != 0 && slices.Contains(operations(), w.Operation):
		c.add(path, "want 0, or no such key, for a %s: only %s has a share of reads", w.Operation, Mixed)
	}
}

// length checks how long something goes on: that many requests or that long.
func (c *checker) length(path string, requests, least int64, duration time.Duration) {
	switch {
	case duration == 0:
		c.between(path+".requests", requests, least, MaxRequests)
	case requests != 0:
		c.add(path+".duration", "want either requests or a duration, not both")
	case duration < MinDuration || duration > MaxDuration:
		c.add(path+".duration", "want %v to %v, not %v", MinDuration, MaxDuration, duration)
	}
}

// clients checks the steps of the ladder.
func (c *checker) clients(path string, w Workload) {
	if len(w.Clients) == 0 {
		c.add(path+".clients", "want a number of clients, or a list of at least one")
		return
	}
	for i, n := range w.Clients {
		step := stepPath(path+".clients", i, len(w.Clients))
		c.between(step, int64(n), 1, MaxClients)
		if slices.Contains(w.Clients[:i], n) {
			c.add(step, "%d clients are a step already; a step is named by its clients", n)
		}
	}
	if most := slices.Max(w.Clients); w.Requests > 0 && w.Requests < int64(most) {
		c.add(path+".requests", "want at least %d, one for each client of the largest step, not %d", most, w.Requests)
	}
}

// rates checks the one rate or the ladder of them.
func (c *checker) rates(path string, w Workload) {
	at := path + ".rate"
	oneOf(c, path+".arrival", w.Arrival, arrivals())
	switch {
	case len(w.Rates) == 0:
		c.add(at, "want a number of requests per second, or a list of at least one")
	case len(w.Rates) > 1 && len(w.Clients) > 1:
		c.add(at, "want one rate, or one number of clients; a ladder has steps of the one or the other")
	case w.Arrival == Poisson && w.Rates[0] == 0:
		c.add(path+".arrival", "want a rate with it: in a closed loop nothing arrives, a client sends when it has its answer")
	}
	for i, rate := range w.Rates {
		step := stepPath(at, i, len(w.Rates))
		switch {
		case len(w.Rates) == 1 && !(rate >= 0 && rate <= MaxRate):
			c.add(step, "want 0 for a closed loop, or requests per second up to %.0f, not %v", MaxRate, rate)
		case len(w.Rates) > 1 && !(rate > 0 && rate <= MaxRate):
			c.add(step, "want requests per second, more than 0 and up to %.0f, not %v", MaxRate, rate)
		case slices.Contains(w.Rates[:i], rate):
			c.add(step, "%v requests per second are a step already; a step is named by its rate", rate)
		}
	}
}

// stepPath leads to a step of a ladder, which is not a list if it is alone.
func stepPath(path string, i, steps int) string {
	if steps == 1 {
		return path
	}
	return path + "[" + strconv.Itoa(i) + "]"
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
