package analyze

import (
	"strings"
	"testing"
	"time"

	"github.com/dbtester/dbtester/result"
)

// fast is by how much the clock under test is at first ahead.
const fast = 3400 * time.Millisecond

// A swinging clock is the agent's: what it shows at a time of the controller's.
type swinging func(at time.Duration) time.Duration

func (s swinging) measure(bound time.Duration, at ...time.Duration) []result.ClockOffset {
	var measured []result.ClockOffset
	for i, t := range at {
		// Within the bound, but never right.
		wrong := bound * time.Duration(i%3-1) / 2
		measured = append(measured, result.ClockOffset{At: int64(t), Offset: s(t) - t + wrong, Bound: bound})
	}
	return measured
}

func constant(at time.Duration) time.Duration { return at + fast }
func drifting(at time.Duration) time.Duration { return at + fast + at/2500 } // 400 ppm
func setForward(at time.Duration) time.Duration {
	if at >= 75*time.Second {
		return at + fast + 2*time.Second
	}
	return at + fast
}

func setBack(at time.Duration) time.Duration {
	if at >= 75*time.Second {
		return at
	}
	return at + fast
}

func TestClockPutsStampsOnTheControllersClock(t *testing.T) {
	const bound = 200 * time.Microsecond
	tests := []struct {
		name     string
		clock    swinging
		measured []time.Duration
		skip     func(second int) bool
		within   time.Duration
	}{
		{"constant", constant, []time.Duration{0, 30 * time.Second, 60 * time.Second, 90 * time.Second, 120 * time.Second}, nil, bound},
		{"measured once", constant, []time.Duration{0}, nil, bound},
		{"drifting", drifting, []time.Duration{0, 30 * time.Second, 60 * time.Second, 90 * time.Second, 120 * time.Second}, nil, bound},
		{"drifting, measured before and after", drifting, []time.Duration{0, 120 * time.Second}, nil, bound},
		{"set forward", setForward, []time.Duration{0, 30 * time.Second, 60 * time.Second, 90 * time.Second, 120 * time.Second}, nil, bound},
		{"set back", setBack, []time.Duration{0, 30 * time.Second, 60 * time.Second, 90 * time.Second, 120 * time.Second}, nil, bound},
		{
			"set while nothing was sampled", setForward,
			[]time.Duration{0, 30 * time.Second, 60 * time.Second, 90 * time.Second, 120 * time.Second},
			func(second int) bool { return second > 65 && second < 95 }, bound,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := clockOf(result.Member{Clocks: tt.clock.measure(bound, tt.measured...)})
			var stamps []int64
			var want []time.Duration
			for second := range 121 {
				if tt.skip == nil || !tt.skip(second) {
					want = append(want, time.Duration(second)*time.Second)
					stamps = append(stamps, int64(tt.clock(want[len(want)-1])))
				}
			}
			for i, got := range c.controller(stamps) {
				if wrong := (time.Duration(got) - want[i]).Abs(); wrong > tt.within {
					t.Fatalf("second %v stands at %v, wrong by %v", want[i], time.Duration(got), wrong)
				}
			}
		})
	}
}

func TestClockNotes(t *testing.T) {
	const bound = 200 * time.Microsecond
	at := []time.Duration{0, 60 * time.Second, 120 * time.Second}
	tests := []struct {
		name string
		m    result.Member
		want []string
	}{
		{"constant", result.Member{Index: 2, Clocks: swinging(constant).measure(bound, at...)}, nil},
		{"as in older results", result.Member{Index: 2, ClockOffset: fast, ClockBound: bound}, nil},
		{"wide", result.Member{Index: 2, ClockBound: 150 * time.Millisecond}, []string{"member 2 is known to ± 150ms only"}},
		{"wide later", result.Member{Index: 2, Clocks: swinging(constant).measure(101*time.Millisecond, at...)}, []string{"member 2 is known to ± 101ms only"}},
		{"drifting", result.Member{Index: 2, Clocks: swinging(drifting).measure(bound, at...)}, []string{"member 2 by +48.200 ms in 120 s"}},
		{"set forward", result.Member{Index: 2, Clocks: swinging(setForward).measure(bound, at...)}, []string{"member 2 was set by +2.000 s between 00:01:00 and 00:02:00 UTC"}},
		{"set back", result.Member{Index: 2, Clocks: swinging(setBack).measure(bound, at...)}, []string{"member 2 was set by -3.400 s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &column{members: []member{{Member: tt.m, clock: clockOf(tt.m)}}}
			got := c.clockNotes()
			if len(got) != len(tt.want) {
				t.Fatalf("notes %q, want %d", got, len(tt.want))
			}
			for i, want := range tt.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("note %q, want %q in it", got[i], want)
				}
			}
		})
	}
}
