package analyze

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dbtester/dbtester/internal/hist"
	"github.com/dbtester/dbtester/result"
)

// A column is one database of one result folder: all that was read of it.
type column struct {
	findings
	name   string
	source *source
	db     *result.Database
	dir    string

	rows    []result.TimeseriesRow
	byKey   []result.ByKeyRow
	disk    []result.DiskSpaceRow
	summary *result.Summary // nil without one
	latency latencies
	client  samples
	members []member

	// watched: the time series tells whether the client was the limit.
	watched bool

	stages  []stage
	seconds []second // of the members
	own     []second // of the client
	notes   []string
}

// A member is one server process with what was sampled of it.
type member struct {
	result.Member
	clock   clock
	samples samples
	told    []told  // one per figure of the database
	asked   []int64 // when it was asked for them, on the controller's clock
}

// latencies are the merged intervals of the histogram log.
type latencies struct {
	service  *hist.Histogram
	response *hist.Histogram         // empty if the log has none
	stages   map[int]*hist.Histogram // service, by stage
}

// readColumn reads the folder of one database. What cannot be read is among
// the column's findings; the column holds the rest.
func readColumn(s *source, db *result.Database, dir string) *column {
	c := &column{name: db.Name, source: s, db: db, dir: dir}
	r := &reader{findings: &c.findings, cutShort: db.Status != result.Complete}
	file := func(name string) string { return filepath.Join(dir, name) }
	c.rows = readTable[result.TimeseriesRow](r, file(result.TimeseriesFile), perSecond)
	c.watched = hasColumn(file(result.TimeseriesFile), result.RowClientBound)
	c.byKey = readTable[result.ByKeyRow](r, file(result.ByKeyFile), ifComplete)
	c.disk = readTable[result.DiskSpaceRow](r, file(result.DiskSpaceFile), ifComplete)
	c.summary = r.readSummary(file(result.SummaryFile))
	c.latency = r.readLatencies(file(result.HistogramLogFile), c.rows)
	c.client = newSamples(readTable[result.SystemRow](r, file(result.ClientMetricsFile), perSecond), clockOf(result.Member{}))
	c.readMembers(r)
	c.stages = stagesOf(&c.findings, db, c.rows)
	c.join()
	return c
}

// readMembers reads the samples of each member of the manifest or, without
// any there, of each member that has a file.
func (c *column) readMembers(r *reader) {
	members := c.db.Members
	for n := 1; len(c.db.Members) == 0; n++ {
		if _, err := os.Stat(filepath.Join(c.dir, result.MemberMetricsFile(n))); errors.Is(err, fs.ErrNotExist) || err != nil {
			break
		}
		members = append(members, result.Member{Index: n})
	}
	if len(c.db.Members) == 0 && len(members) > 0 {
		c.warnf("%s: the manifest does not list the members: their clocks are taken to agree with the controller's, and a device or interface that they share is counted for each of them", c.name)
	}
	for _, m := range members {
		rows := readTable[result.SystemRow](r, filepath.Join(c.dir, result.MemberMetricsFile(m.Index)), perSecond)
		joined := member{Member: m, clock: clockOf(m)}
		joined.samples = newSamples(rows, joined.clock)
		joined.told, joined.asked = c.readTold(r, m.Index, joined.clock)
		c.members = append(c.members, joined)
	}
}

// join brings client and members onto the same seconds.
func (c *column) join() {
	all := make([]samples, len(c.members))
	for i := range c.members {
		all[i] = c.members[i].samples
	}
	c.seconds = secondsOf(all)
	c.own = secondsOf([]samples{c.client})
	c.notes = slices.Concat(machineNotes(c), c.boundNote(), c.clockNotes(), c.silenceNotes())
	c.sampleNotes()
	c.check()
}

// check tells where two files disagree about the same thing.
func (c *column) check() {
	timeline := int64(0)
	for _, row := range c.rows {
		timeline += row.Throughput
	}
	if logged := c.latency.service.Count(); logged != timeline {
		c.warnf("%s: the histogram log counts %d ok requests, the time series %d: the percentiles are those of the log", c.name, logged, timeline)
	}
	if n := missingSeconds(c.rows, c.stages); n > 0 {
		c.warnf("%s: %d seconds inside the load stages have no row: MIN-THROUGHPUT does not cover them", c.name, n)
	}
	if k := c.db.Keys; k != nil && k.Counted < k.Acknowledged {
		c.warnf("%s: the store holds %d keys, fewer than the %d acknowledged writes", c.name, k.Counted, k.Acknowledged)
	}
}

// missingSeconds counts the full seconds between the rows of each stage that have no row.
func missingSeconds(rows []result.TimeseriesRow, stages []stage) int64 {
	missing := int64(0)
	for _, s := range stages {
		first, last, n := int64(0), int64(0), int64(0)
		for _, row := range rows {
			if row.Stage != s.Number {
				continue
			}
			if n == 0 {
				first, last = row.UnixSecond, row.UnixSecond
			}
			first, last, n = min(first, row.UnixSecond), max(last, row.UnixSecond), n+1
		}
		if n > 0 {
			missing += max(last-first+1-n, 0)
		}
	}
	return missing
}

// readLatencies merges the intervals of the histogram log. The log does not
// name stages, but its service intervals stand in the order of the time
// series: of two in one second the first belongs to the earlier stage.
func (r *reader) readLatencies(path string, rows []result.TimeseriesRow) latencies {
	l := latencies{service: hist.New(), response: hist.New(), stages: map[int]*hist.Histogram{}}
	stagesIn := map[int64][]int{}
	for _, row := range rows {
		if row.Throughput > 0 {
			stagesIn[row.UnixSecond] = append(stagesIn[row.UnixSecond], row.Stage)
		}
	}
	r.readHistograms(path, func(in hist.Interval) {
		if in.Tag == hist.Response {
			l.response.Merge(in.Histogram)
			return
		}
		if in.Tag != hist.Service || in.Histogram.Count() == 0 {
			return
		}
		l.service.Merge(in.Histogram)
		unix := in.Start.Unix()
		if here := stagesIn[unix]; len(here) > 0 {
			if l.stages[here[0]] == nil {
				l.stages[here[0]] = hist.New()
			}
			l.stages[here[0]].Merge(in.Histogram)
			stagesIn[unix] = here[1:]
		}
	})
	return l
}
