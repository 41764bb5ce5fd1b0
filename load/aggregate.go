package load

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/dbtester/dbtester/internal/hist"
)

const maxBuckets = 1000

// An aggregate sums up what the recorders of a load hand over, by second and
// by sequence number. Recorders come some samples at a time, so its mutex
// is off the path of a request.
type aggregate struct {
	mu       sync.Mutex
	clock    clock
	open     bool // an open loop: response time differs from service time
	seconds  map[int64]*interval
	spare    []*interval
	byKey    []keyBucket
	requests int64
	errors   map[errorRow]int64

	lastEnd     time.Duration
	lastSuccess time.Duration
}

// An interval is one second, or the sum of many.
type interval struct {
	service               *hist.Histogram
	response              *hist.Histogram // nil until an open loop's first request
	failed, indeterminate int64
	late                  int64
}

type keyBucket struct {
	count    int64
	sum      float64
	min, max time.Duration
}

func newAggregate(requests int64, c clock) *aggregate {
	return &aggregate{
		clock:    c,
		seconds:  map[int64]*interval{},
		byKey:    make([]keyBucket, min(requests, maxBuckets)),
		requests: requests,
		errors:   map[errorRow]int64{},
	}
}

func newInterval() *interval {
	return &interval{service: hist.New()}
}

// responses returns the histogram of an open loop's response times.
func (in *interval) responses() *hist.Histogram {
	if in.response == nil {
		in.response = hist.New()
	}
	return in.response
}

// setOpen tells that the samples to come have a response time of their own.
func (a *aggregate) setOpen(open bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = open
}

// add takes samples of one recorder, in two runs because its ring wraps around.
func (a *aggregate) add(runs ...[]sample) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, run := range runs {
		for i := range run {
			a.addOne(&run[i])
		}
	}
}

func (a *aggregate) addOne(s *sample) {
	in := a.second(s.end)
	in.service.Record(s.service)
	if a.open {
		in.responses().Record(s.response)
		if s.response-s.service > LateAfter {
			in.late++
		}
	}
	a.lastEnd = max(a.lastEnd, s.end)
	a.lastSuccess = max(a.lastSuccess, s.end)
	if s.seq < 0 || s.seq >= a.requests {
		return
	}
	b := &a.byKey[a.bucketOf(s.seq)]
	if b.count == 0 || s.service < b.min {
		b.min = s.service
	}
	b.max = max(b.max, s.service)
	b.count++
	b.sum += float64(s.service)
}

// fail counts a request that ended with an error.
func (a *aggregate) fail(end time.Duration, row errorRow) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.errors[row]++
	a.lastEnd = max(a.lastEnd, end)
	if in := a.second(end); row.indeterminate {
		in.indeterminate++
	} else {
		in.failed++
	}
}

// second returns the interval of the wall-clock second in which end lies.
func (a *aggregate) second(end time.Duration) *interval {
	unix := a.clock.unix(end)
	in := a.seconds[unix]
	if in == nil {
		if n := len(a.spare); n > 0 {
			in, a.spare = a.spare[n-1], a.spare[:n-1]
		} else {
			in = newInterval()
		}
		a.seconds[unix] = in
	}
	return in
}

// take removes the interval of a second; it is nil if nothing ended in it.
// The caller hands it back with release.
func (a *aggregate) take(unix int64) *interval {
	a.mu.Lock()
	defer a.mu.Unlock()
	in := a.seconds[unix]
	delete(a.seconds, unix)
	return in
}

func (a *aggregate) release(in *interval) {
	in.service.Reset()
	if in.response != nil {
		in.response.Reset()
	}
	in.failed, in.indeterminate, in.late = 0, 0, 0
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spare = append(a.spare, in)
}

func (a *aggregate) bucketOf(seq int64) int64 {
	return seq * int64(len(a.byKey)) / a.requests
}

// buckets returns the by-key rows.
func (a *aggregate) buckets() []Bucket {
	a.mu.Lock()
	defer a.mu.Unlock()
	rows := make([]Bucket, len(a.byKey))
	for i, b := range a.byKey {
		last := (int64(i+1)*a.requests + int64(len(a.byKey)) - 1) / int64(len(a.byKey))
		rows[i] = Bucket{Last: min(last, a.requests), Count: b.count, Min: b.min, Max: b.max}
		if b.count > 0 {
			rows[i].Mean = time.Duration(b.sum / float64(b.count))
		}
	}
	return rows
}

// errorCounts returns the error rows, most frequent first.
func (a *aggregate) errorCounts() []ErrorCount {
	a.mu.Lock()
	defer a.mu.Unlock()
	rows := make([]ErrorCount, 0, len(a.errors))
	for row := range maps.Keys(a.errors) {
		rows = append(rows, ErrorCount{Kind: row.kind, Indeterminate: row.indeterminate, Count: a.errors[row]})
	}
	slices.SortFunc(rows, func(x, y ErrorCount) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Kind, y.Kind))
	})
	return rows
}

// last returns when the last request ended and when the last one succeeded.
func (a *aggregate) last() (end, success time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lastEnd, a.lastSuccess
}
