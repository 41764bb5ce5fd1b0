package control

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dbtester/dbtester/internal/hist"
	"github.com/dbtester/dbtester/load"
	"github.com/dbtester/dbtester/result"
)

// slow takes a millisecond for each request, so that a load spans seconds.
func slow(_ context.Context, seq int64) error {
	<-time.After(time.Millisecond)
	if seq%100 == 7 {
		return context.DeadlineExceeded
	}
	return nil
}

func TestARecordingWritesEverySecondAndTheEnd(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		rec, err := newRecording(dir, "x", 3500, newProgress(nil, false), func() string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		l := load.New(load.Options{Requests: 3500, Sink: rec})
		got, err := l.Run(t.Context(), load.Stage{Number: 1, Ops: []load.Op{slow}, Requests: 3500})
		if err != nil {
			t.Fatal(err)
		}
		stages := []result.Stage{{Number: 1, Start: got.Start.UnixNano(), End: got.End.UnixNano(), Planned: 3500, OK: got.OK, Indeterminate: got.Indeterminate}}
		if err := rec.finish(l, stages); err != nil {
			t.Fatal(err)
		}
	})
	rows, err := result.ReadTable[result.TimeseriesRow](filepath.Join(dir, result.TimeseriesFile))
	var ok, unsure int64
	for _, r := range rows {
		ok, unsure = ok+r.Throughput, unsure+r.Indeterminate
	}
	if err != nil || ok != 3465 || unsure != 35 {
		t.Errorf("the time series sums to %d ok and %d indeterminate, error %v; want 3,465 and 35", ok, unsure, err)
	}
	sum, err := result.ReadSummary(filepath.Join(dir, result.SummaryFile))
	if err != nil || sum.OK != ok || sum.Attempted != 3500 || len(sum.Errors) != 1 || sum.Errors[0].Count != 35 || !sum.Errors[0].Indeterminate {
		t.Errorf("summary %+v, error %v", sum, err)
	}
	log, err := os.Open(filepath.Join(dir, result.HistogramLogFile))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	total := hist.New()
	if err := hist.ReadLog(log, func(i hist.Interval) { total.Merge(i.Histogram) }); err != nil || total.Count() != ok {
		t.Errorf("the log holds %d latencies, error %v; want %d", total.Count(), err, ok)
	}
	var counted int64
	byKey, err := result.ReadTable[result.ByKeyRow](filepath.Join(dir, result.ByKeyFile))
	for _, r := range byKey {
		counted += r.Count
	}
	if err != nil || counted != ok || len(byKey) != 1000 {
		t.Errorf("%d by-key rows hold %d requests, error %v", len(byKey), counted, err)
	}
	all, err := result.ReadTable[result.DistributionRow](filepath.Join(dir, result.DistributionFile))
	counted = 0
	for _, r := range all {
		counted += r.Count
	}
	if err != nil || counted != ok {
		t.Errorf("the distribution holds %d requests, error %v", counted, err)
	}
}

// laterFull is a disk that is full from the moment one is given.
type laterFull struct{ disk *os.File }

func (w *laterFull) Write(p []byte) (int, error) {
	if w.disk == nil {
		return len(p), nil
	}
	return w.disk.Write(p)
}

func TestAFullDiskEndsTheLoadAndIsTold(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this machine has no /dev/full")
	}
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		rec, err := newRecording(dir, "x", 1e6, newProgress(nil, false), func() string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		var later laterFull
		if rec.log, err = hist.NewLogWriter(&later, time.Now()); err != nil {
			t.Fatal(err)
		}
		later.disk = full
		l := load.New(load.Options{Requests: 1e6, Sink: rec})
		got, err := l.Run(t.Context(), load.Stage{Number: 1, Ops: []load.Op{slow}, Requests: 1e6})
		if !errors.Is(err, syscall.ENOSPC) || got.Unsent == 0 {
			t.Errorf("outcome %+v, error %v; want %v and requests left unsent", got, err, syscall.ENOSPC)
		}
		_ = rec.finish(l, nil)
	})
}

func TestAResultFolderIsNeverWrittenTwice(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results", "x")
	f, err := makeFolder(dir, &result.Manifest{}, "key")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.close() }()
	if _, err := makeFolder(dir, &result.Manifest{}, "key"); err == nil {
		t.Error("a result folder that is already there was taken")
	}
	if _, err := lockFolder(dir); err == nil || !strings.Contains(err.Error(), "another dbtester control") {
		t.Errorf("lock of a folder that is being written to: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), newPrefix+"*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
