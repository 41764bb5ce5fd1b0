package config

import (
	"encoding/json"
	"time"
)

// MarshalJSON writes the workload as the file does: durations such as "5s", a
// single rate as a number, and of requests and duration the one that is set.
func (w Workload) MarshalJSON() ([]byte, error) {
	type plain Workload
	rate := any(w.Rates)
	if len(w.Rates) == 1 {
		rate = w.Rates[0]
	}
	return json.Marshal(struct {
		plain
		Requests int64  `json:"requests,omitempty"`
		Duration string `json:"duration,omitempty"`
		Rate     any    `json:"rate"`
		Timeout  string `json:"timeout"`
	}{plain(w), w.Requests, durationText(w.Duration), rate, w.Timeout.String()})
}

// MarshalJSON writes the one of requests and duration that is set. Requests are
// written also if neither is: a database's warm-up of nothing is not the
// experiment's.
func (w WarmUp) MarshalJSON() ([]byte, error) {
	if w.Duration != 0 {
		return json.Marshal(struct {
			Duration string `json:"duration"`
		}{w.Duration.String()})
	}
	return json.Marshal(struct {
		Requests int64 `json:"requests"`
	}{w.Requests})
}

// durationText is empty for 0.
func durationText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// settle sets what follows from other values once all are read: a duration leaves
// no default number of requests.
func (e *Experiment) settle() {
	e.Workload.settle(e.tree.get("workload"))
	for i, database := range e.tree.get("databases").list() {
		if i < len(e.Databases) {
			e.Databases[i].Workload.settle(database.get("workload"))
		}
	}
}

func (w *Workload) settle(n *node) {
	if w.Duration != 0 && n.get("requests") == nil {
		w.Requests = 0
	}
	w.Rate = 0
	if len(w.Rates) > 0 {
		w.Rate = w.Rates[0]
	}
}

// A Step is one step of the ladder.
type Step struct {
	Clients int
	Rate    float64 // requests per second over all clients; 0 is a closed loop
	// Requests is the step's part of the requests; 0 if Duration is set.
	Requests int64
	Duration time.Duration // how long requests are sent; 0 if Requests is set
}

// Steps returns the steps of the ladder, of clients or of rates. The requests are
// divided over them; the first ones take what does not divide.
func (w Workload) Steps() []Step {
	rates := w.Rates
	if len(rates) == 0 {
		rates = []float64{w.Rate}
	}
	var steps []Step
	for _, clients := range w.Clients {
		for _, rate := range rates {
			steps = append(steps, Step{Clients: clients, Rate: rate, Duration: w.Duration})
		}
	}
	if w.Duration > 0 {
		return steps
	}
	n := int64(len(steps))
	for i := range steps {
		steps[i].Requests = w.Requests / n
		if int64(i) < w.Requests%n {
			steps[i].Requests++
		}
	}
	return steps
}
