//go:build linux

package monitor

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dbtester/dbtester/result"
)

func TestRunOnSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		<-time.After(300 * time.Millisecond) // the bubble's clock begins on a second
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2900*time.Millisecond)
		defer cancel()
		var got []time.Duration
		err := newFixtureMonitor(t, "testdata/proc").Run(ctx, func(row result.SystemRow) error {
			got = append(got, time.Unix(0, row.UnixNanosecond).Sub(began))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		const ms = time.Millisecond
		want := []time.Duration{0, 700 * ms, 1700 * ms, 2700 * ms, 2900 * ms}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("samples (-want +got):\n%s", diff)
		}
	})
}

// TestRunAfterStall has a consumer that takes from second 1 to 3.5: the late
// sample is of second 3, none is made up for second 2, and none after it drifts.
func TestRunAfterStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5500*time.Millisecond)
		defer cancel()
		began := time.Now().Unix()
		var got []int64
		err := newFixtureMonitor(t, "testdata/proc").Run(ctx, func(row result.SystemRow) error {
			if got = append(got, row.UnixSecond-began); len(got) == 2 {
				<-time.After(2500 * time.Millisecond)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int64{0, 1, 3, 4, 5, 5}, got); diff != "" {
			t.Errorf("seconds (-want +got):\n%s", diff)
		}
	})
}

func TestRunStopsAtEmitError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		calls := 0
		err := newFixtureMonitor(t, "testdata/proc").Run(t.Context(), func(result.SystemRow) error {
			calls++
			return full
		})
		if !errors.Is(err, full) || calls != 1 {
			t.Errorf("Run = %v after %d rows, want the error of the first", err, calls)
		}
	})
}

// TestRunForAnHour has a consumer that takes from 0 to 60 ms: no sample of an
// hour is off its boundary; nor is one of ten minutes at 100 ms.
func TestRunForAnHour(t *testing.T) {
	for interval, length := range map[time.Duration]time.Duration{time.Second: time.Hour, 100 * time.Millisecond: 10 * time.Minute} {
		t.Run(interval.String(), func(t *testing.T) {
			m, err := New(Config{ProcRoot: t.TempDir(), PID: 1, Interval: interval}) // nothing to read
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), length)
				defer cancel()
				rows, off := 0, time.Duration(0)
				err := m.Run(ctx, func(row result.SystemRow) error {
					if ctx.Err() == nil { // the last one is when it is told to end
						off = max(off, time.Duration(row.UnixNanosecond%int64(interval)))
					}
					rows++
					<-time.After(time.Duration(rows%61) * time.Millisecond)
					return nil
				})
				if want := int(length / interval); err != nil || off != 0 || rows < want || rows > want+2 {
					t.Errorf("%d rows, the largest %v off its boundary, %v; want %d, 0", rows, off, err, want)
				}
			})
		})
	}
}
