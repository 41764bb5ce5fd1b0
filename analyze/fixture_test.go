package analyze_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/dbtester/dbtester/internal/hist"
	"github.com/dbtester/dbtester/result"
)

// epoch is the second in which the synthetic load begins.
const epoch = 1_700_000_000

// A fixture is a synthetic run whose figures are known by arithmetic.
//
// The load runs from 0.25 s after the epoch. In second i it answers
// perSecond(i) requests: all of them in 2 ms, but for one in 1 ms and one in
// 11 ms. Each process is sampled a tenth of a second after each full second on
// the controller's clock, from 3 s before the load to 3 s behind it, and all its
// counters rise evenly while the load runs and stand still otherwise.
type fixture struct {
	name     string
	status   result.Status
	reason   string
	length   float64 // seconds of load per stage
	clients  []int   // per stage
	rate     float64
	response bool // record response times of their own
	machine  func(member int) string
	network  func(member int) string
	client   string // the controller's machine
	offset   func(member int) time.Duration
	drift    float64 // of every member's clock, per second since the epoch
	told     bool    // the members tell figures of their own
	failed   int64   // in the second second of each stage
	unknown  int64   // indeterminate, likewise
	skip     func(member, second int) bool
	running  bool // leave out what is written after the load
}

func newFixture(name string) fixture {
	return fixture{
		name: name, status: result.Complete, length: 10.25, clients: []int{100},
		machine: func(member int) string { return fmt.Sprint("machine-", member) },
		network: func(int) string { return "" },
		client:  "machine-client",
		offset:  func(int) time.Duration { return 0 },
		skip:    func(int, int) bool { return false },
	}
}

// perSecond is the number of ok requests in second i of the load: few in the
// first, which is only partly load.
func perSecond(i int) int64 {
	if i == 0 {
		return 40
	}
	return int64(1000 + 100*(i%5))
}

// manifest is that of an experiment with the fixtures as its databases.
func manifest(fixtures ...fixture) *result.Manifest {
	m := &result.Manifest{
		FormatVersion: result.FormatVersion, Tool: "test", Experiment: "synthetic", Title: "Write 12K keys, 256-byte key, 1KB value",
		Started: time.Unix(epoch-10, 0), Status: result.Complete, Seed: 1, Configuration: json.RawMessage(`{"title":"x"}`),
		Controller: result.Host{
			MachineID: fixtures[0].client, CPUs: 8, MemoryBytes: 32e9, OS: "Debian 12", Kernel: "6.1.0", OpenFiles: 120000, CPUModel: "Test CPU",
		},
	}
	for _, f := range fixtures {
		db := result.Database{
			Name: f.name, Kind: "etcd", Installation: "embedded", Version: "3.6.0", Operation: "write", RequestRate: f.rate,
			Workload: json.RawMessage(`{}`), Status: f.status, Reason: f.reason,
			Guarantee: result.Guarantee{Consistency: "linearizable", Reads: "linearizable", Durable: "after fsync on a majority", Fsync: true, Placement: "all"},
			Settings:  []result.Setting{{Name: "snapshot-count", Value: "100000", Set: true, Reason: "differs between versions"}},
		}
		for n := 1; n <= 3; n++ {
			db.Members = append(db.Members, result.Member{
				Index: n, Name: fmt.Sprint("m", n), Endpoint: fmt.Sprintf("10.0.0.%d:2379", n), Device: "sda", Interface: "eth0",
				Host:        result.Host{MachineID: f.machine(n), NetworkID: f.network(n), CPUs: 8, MemoryBytes: 32e9, OS: "Debian 12", Kernel: "6.1.0"},
				ClockOffset: f.offset(n), ClockBound: time.Millisecond, Clocks: f.clocks(n),
			})
		}
		if f.told {
			db.Figures = toldFigures()
		}
		if !f.running {
			db.Stages = f.stages()
			db.Keys = &result.KeyCount{Counted: f.ok(), Acknowledged: f.ok(), Possible: f.ok()}
		}
		if f.status != result.Complete {
			m.Status, m.Reason = f.status, f.reason
		}
		m.Databases = append(m.Databases, db)
	}
	return m
}

// ahead is how far the clock of a member is ahead at a time of the controller's.
func (f fixture) ahead(member int, at time.Time) time.Duration {
	return f.offset(member) + time.Duration(f.drift*float64(at.UnixNano()-epoch*int64(time.Second)))
}

// clocks are measured before and after the load if the clocks drift.
func (f fixture) clocks(member int) []result.ClockOffset {
	if f.drift == 0 {
		return nil
	}
	var measured []result.ClockOffset
	for _, second := range []int64{-5, 20} {
		at := time.Unix(epoch+second, 0)
		measured = append(measured, result.ClockOffset{At: at.UnixNano(), Offset: f.ahead(member, at), Bound: 200 * time.Microsecond})
	}
	return measured
}

// edges are the nanoseconds in which stage i begins and ends.
func (f fixture) edges(i int) (start, end int64) {
	length := int64(f.length * float64(time.Second))
	start = epoch*int64(time.Second) + int64(250*time.Millisecond) + int64(i)*length
	return start, start + length
}

func (f fixture) rows() []result.TimeseriesRow {
	var rows []result.TimeseriesRow
	for i, clients := range f.clients {
		start, end := f.edges(i)
		for unix := start / 1e9; unix <= (end-1)/1e9; unix++ {
			n := perSecond(int(unix - epoch))
			row := result.TimeseriesRow{
				UnixSecond: unix, Clients: clients, Stage: i + 1, Throughput: n,
				MinLatency: 1, MaxLatency: 11, AvgLatency: result.Number((1 + 11 + 2*float64(n-2)) / float64(n)),
				FullSecond: unix*1e9 >= start && (unix+1)*1e9 <= end,
			}
			row.AvgResponseLatency, row.MaxResponseLatency = row.AvgLatency, row.MaxLatency
			if f.response {
				row.AvgResponseLatency, row.MaxResponseLatency = 50, 60
			}
			if unix == start/1e9+1 {
				row.Failed, row.Indeterminate = f.failed, f.unknown
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func (f fixture) ok() int64 {
	sum := int64(0)
	for _, row := range f.rows() {
		sum += row.Throughput
	}
	return sum
}

func (f fixture) stages() []result.Stage {
	var stages []result.Stage
	for i, clients := range f.clients {
		s := result.Stage{Number: i + 1, Clients: clients, Connections: clients / 10, Rate: f.rate, Unsent: 7}
		s.Start, s.End = f.edges(i)
		for _, row := range f.rows() {
			if row.Stage == s.Number {
				s.OK += row.Throughput
				s.Failed += row.Failed
				s.Indeterminate += row.Indeterminate
			}
		}
		s.Planned = s.Attempted() + s.Unsent
		stages = append(stages, s)
	}
	return stages
}

// seconds is how many seconds the load touches.
func (f fixture) seconds() int {
	_, end := f.edges(len(f.clients) - 1)
	return int((end-1)/1e9-epoch) + 1
}

// Per second of load each member's counters rise by these.
const (
	rxRate, txRate           = 3_000_000, 2_000_000
	readRate, sectorReadRate = 2, 16
	writeRate, sectorsRate   = 50, 4_000
	clientRxRate             = 1_000_000
	clientTxRate             = 4_000_000
	voluntaryRate            = 700
)

// sampled are the rows of member n, 0 for the client. Its CPU is 100·n percent
// while the load runs, and 50 more in second 4; resident memory rises by 1 MB each
// second from 10·n MB on.
func (f fixture) sampled(n int) []result.SystemRow {
	rx, tx := float64(rxRate), float64(txRate)
	if n == 0 {
		rx, tx = clientRxRate, clientTxRate
	}
	var rows []result.SystemRow
	for i := -3; i <= f.seconds()+3; i++ {
		if f.skip(n, i) {
			continue
		}
		at := time.Unix(epoch+int64(i), int64(100*time.Millisecond))
		if n > 0 {
			at = at.Add(f.ahead(n, at))
		}
		loaded := result.Number(min(max(i, 0), f.seconds())) // seconds of load until now
		delta := result.Number(0)
		if i > 0 && i <= f.seconds() {
			delta = 1
		}
		row := result.SystemRow{
			UnixNanosecond: at.UnixNano(), UnixSecond: at.Unix(), PID: 100 + n, Program: "etcd", State: "S",
			CPU: result.Number(100*n) * delta, CPUSeconds: result.Number(n) * loaded, VMRSS: result.Number(10e6*n) + 1e6*loaded,
			VMSize: 1e9, FD: 10, Threads: 8, VoluntaryCtxt: voluntaryRate * loaded, VoluntaryCtxtDelta: voluntaryRate * delta,
			Device: "sda", ReadsCompleted: 500 + readRate*loaded, SectorsRead: 900 + sectorReadRate*loaded,
			WritesCompleted: 70 + writeRate*loaded, SectorsWritten: 3 + sectorsRate*loaded,
			ReadsCompletedDelta: readRate * delta, SectorsReadDelta: sectorReadRate * delta, WritesCompletedDelta: writeRate * delta,
			SectorsWrittenDelta: sectorsRate * delta, ReadBytesDelta: 512 * sectorReadRate * delta, WriteBytesDelta: 512 * sectorsRate * delta,
			Interface: "eth0", ReceiveBytes: 1e6 + result.Number(rx)*loaded, TransmitBytes: 2e6 + result.Number(tx)*loaded,
			ReceiveBytesDelta: result.Number(rx) * delta, TransmitBytesDelta: result.Number(tx) * delta,
		}
		withoutAdded(&row)
		if n == 0 {
			row.CPU = 250 * delta
		}
		if i == 5 { // the sample that covers second 4
			row.CPU += 50
		}
		rows = append(rows, row)
	}
	return rows
}

// withoutAdded makes the figures gaps that the published results have not got.
func withoutAdded(row *result.SystemRow) {
	fields := reflect.ValueOf(row).Elem()
	for i := range fields.NumField() {
		if fields.Type().Field(i).Tag.Get("added") != "" && fields.Field(i).CanFloat() {
			fields.Field(i).SetFloat(math.NaN())
		}
	}
}

// write puts the experiment into dir.
func write(t *testing.T, dir string, fixtures ...fixture) string {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o755))
	must(t, manifest(fixtures...).Write(dir))
	for _, f := range fixtures {
		f.write(t, result.DatabaseDir(dir, f.name))
	}
	return dir
}

func (f fixture) write(t *testing.T, dir string) {
	t.Helper()
	file := func(name string) string { return filepath.Join(dir, name) }
	must(t, os.MkdirAll(dir, 0o755))
	must(t, result.WriteTable(file(result.TimeseriesFile), f.rows()))
	f.writeHistograms(t, file(result.HistogramLogFile))
	must(t, result.WriteTable(file(result.ClientMetricsFile), f.sampled(0)))
	for n := 1; n <= 3; n++ {
		must(t, result.WriteTable(file(result.MemberMetricsFile(n)), f.sampled(n)))
		if f.told {
			f.writeTold(t, file(result.MemberFiguresFile(n)), n)
		}
	}
	if f.running {
		return
	}
	var disk []result.DiskSpaceRow
	for n := 1; n <= 3; n++ {
		disk = append(disk, result.DiskSpaceRow{Index: n, Endpoint: fmt.Sprintf("10.0.0.%d:2379", n), Usage: "x", Bytes: int64(n) * 100e6})
	}
	must(t, result.WriteTable(file(result.DiskSpaceFile), disk))
	var byKey []result.ByKeyRow
	for i := range int64(100) {
		byKey = append(byKey, result.ByKeyRow{Keys: (i + 1) * f.ok() / 100, MinLatency: 1, AvgLatency: 2 + result.Number(i%7), MaxLatency: 11 + result.Number(i), Count: f.ok() / 100})
	}
	must(t, result.WriteTable(file(result.ByKeyFile), byKey))
	summary := result.Summary{OK: f.ok(), Failed: f.failed, Indeterminate: f.unknown}
	if f.failed > 0 {
		summary.Errors = append(summary.Errors, result.ErrorCount{Message: "too many requests", Count: f.failed})
	}
	if f.unknown > 0 {
		summary.Errors = append(summary.Errors, result.ErrorCount{Message: "deadline exceeded", Indeterminate: true, Count: f.unknown})
	}
	must(t, result.WriteSummary(file(result.SummaryFile), summary))
}

func (f fixture) writeHistograms(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	must(t, err)
	log, err := hist.NewLogWriter(file, time.Unix(epoch, 0))
	must(t, err)
	for _, row := range f.rows() {
		h, late := hist.New(), hist.New()
		for i := range row.Throughput {
			d := 2 * time.Millisecond
			switch i {
			case 0:
				d = time.Millisecond
			case 1:
				d = 11 * time.Millisecond
			}
			h.Record(d)
			late.Record(50 * time.Millisecond)
		}
		from := time.Unix(row.UnixSecond, 0)
		must(t, log.Write(hist.Service, from, from.Add(time.Second), h))
		if f.response {
			must(t, log.Write(hist.Response, from, from.Add(time.Second), late))
		}
	}
	must(t, file.Close())
}

// aggregated reads all-aggregated.csv: row name → database → figure.
func aggregated(t *testing.T, dir string) map[string]map[string]string {
	t.Helper()
	records := records(t, filepath.Join(dir, result.AggregatedCSVFile))
	rows := map[string]map[string]string{}
	for _, record := range records[1:] {
		rows[record[0]] = map[string]string{}
		for i, v := range record[2:] {
			rows[record[0]][records[0][i+2]] = v
		}
	}
	return rows
}

func records(t *testing.T, path string) [][]string {
	t.Helper()
	file, err := os.Open(path)
	must(t, err)
	defer file.Close()
	all, err := csv.NewReader(file).ReadAll()
	must(t, err)
	return all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
