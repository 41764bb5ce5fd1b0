package control

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dbtester/dbtester/internal/monitor"
)

func TestABoundSecondSaysWhy(t *testing.T) {
	start := monitor.Usage{At: time.Unix(1000, 0)}
	for name, test := range map[string]struct {
		now    monitor.Usage
		delays []time.Duration
		want   string
	}{
		"nothing":    {monitor.Usage{Process: time.Second, Busy: time.Second, Idle: time.Second}, nil, ""},
		"controller": {monitor.Usage{Process: 1800 * time.Millisecond}, nil, "controller CPU 90 %"},
		"machine":    {monitor.Usage{Busy: 1960 * time.Millisecond, Idle: 40 * time.Millisecond}, nil, "machine CPU 98 %"},
		"network":    {monitor.Usage{Received: 95_000}, nil, "network 95 %"},
		"pauses":     {monitor.Usage{GCPause: 30 * time.Millisecond}, nil, "garbage collection 30ms"},
		"one delay":  {monitor.Usage{}, delays(99, 1), ""},
		"delays":     {monitor.Usage{}, delays(90, 10), "scheduling delay 15ms"},
	} {
		t.Run(name, func(t *testing.T) {
			next := start
			b := &boundWatch{speed: 100_000, cpus: 2, read: func() (monitor.Usage, error) { return next, nil }}
			b.second()
			next = test.now
			next.At = start.At.Add(time.Second)
			for _, d := range test.delays {
				b.late(d)
			}
			if got := b.second(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// delays returns prompt pulses and ones that came 15 ms late.
func delays(prompt, late int) []time.Duration {
	var all []time.Duration
	for range prompt {
		all = append(all, 0)
	}
	for range late {
		all = append(all, 15*time.Millisecond)
	}
	return all
}

func TestSecondsHandedOverTogetherShareTheirReason(t *testing.T) {
	now := monitor.Usage{At: time.Unix(1000, 0)}
	b := &boundWatch{cpus: 1, read: func() (monitor.Usage, error) { return now, nil }}
	b.second()
	now.At, now.Process = now.At.Add(3*time.Second), 3*time.Second
	first := b.second()
	now.At = now.At.Add(time.Millisecond)
	if again := b.second(); again != first || !strings.Contains(first, "controller CPU") {
		t.Errorf("reasons %q and %q, want both the same", first, again)
	}
}

func TestAPulseOnAnIdleMachineIsNotLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &boundWatch{}
		go b.pulse(t.Context())
		<-time.After(time.Second + time.Millisecond)
		if d := b.takeDelay(); d != 0 {
			t.Errorf("delay %v on virtual time, want none", d)
		}
	})
}
