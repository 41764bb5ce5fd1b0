package analyze_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
	"fmt"

	"github.com/dbtester/dbtester/internal/hist"
	"github.com/dbtester/dbtester/result"
)

func TestDemo(t *testing.T) {
	root := os.Getenv("DEMO")
	if root == "" { t.Skip() }
	n := 3
	if os.Getenv("DEMON") != "" { fmt.Sscan(os.Getenv("DEMON"), &n) }
	dur := 12
	if os.Getenv("DEMODUR") != "" { fmt.Sscan(os.Getenv("DEMODUR"), &dur) }
	names := []string{"etcd-v3.6.16-go1.26", "zookeeper-3.9.4-java17", "consul-1.22.0-go1.25", "etcd-v3.5.21", "etcd-v3.4.36-go1.23", "memory", "etcd-v3.7-alpha"}
	var fs []fixture
	for i := range n { f := newFixture(names[i%7]+map[bool]string{true:"x"}[i>6]); f.machine = func(int) string {return "one"}; f.client="one"; fs = append(fs, f) }
	m := manifest(fs...)
	m.Title = "Write 1M keys, 256-byte key, 1KB value, clients 1 to 1,000"
	m.Description = "What the reader of the table should know.\nTwo lines."
	must(t, os.MkdirAll(root, 0o755))
	ladder := []int{1, 10, 50, 100, 300, 500, 700, 1000}
	if os.Getenv("DEMOONE") != "" { ladder = []int{1000} }
	for d := range m.Databases {
		r := rand.New(rand.NewPCG(uint64(d), 2))
		db := &m.Databases[d]
		dir := result.DatabaseDir(root, db.Name)
		must(t, os.MkdirAll(dir, 0o755))
		at := int64(epoch)*1e9 + 3e8
		var rows []result.TimeseriesRow
		db.Stages = nil
		file, err := os.Create(filepath.Join(dir, result.HistogramLogFile)); must(t, err)
		log, _ := hist.NewLogWriter(file, time.Unix(epoch, 0))
		total := int64(0)
		var keys []result.ByKeyRow
		for i, c := range ladder {
			s := result.Stage{Number: i+1, Clients: c, Connections: c, Start: at, End: at + int64(dur)*1e9 + r.Int64N(1e9)}
			for u := s.Start/1e9; u <= s.End/1e9; u++ {
				cap := float64(30000-6000*d)
				cover := float64(min((u+1)*1e9, s.End)-max(u*1e9, s.Start))/1e9
				rate := cap*(1-math.Exp(-float64(c)/120))*(0.85+0.2*r.Float64())
				if d==1 && u%23==0 { rate *= .1 }
				k := int64(rate*cover)
				lat := float64(c)/rate*1000*0.9+1
				h := hist.New()
				for range min(k, 400) { h.Record(time.Duration(lat*(0.4+1.2*r.Float64())*1e6)) }
				from := time.Unix(u,0)
				log.Write(hist.Service, from, from.Add(time.Second), h)
				rows = append(rows, result.TimeseriesRow{UnixSecond:u, Clients:c, Stage:i+1, Throughput:k, MinLatency: result.Number(lat*.3), AvgLatency: result.Number(lat), MaxLatency: result.Number(lat*(3+20*r.Float64())), FullSecond: u*1e9>=s.Start && (u+1)*1e9<=s.End, AvgResponseLatency: result.Number(lat), MaxResponseLatency: result.Number(lat*9)})
				s.OK += k; total += k
				keys = append(keys, result.ByKeyRow{Keys: total, MinLatency: result.Number(lat*.3), AvgLatency: result.Number(lat), MaxLatency: result.Number(lat*(3+20*r.Float64())), Count: k})
			}
			s.Planned = s.OK
			db.Stages = append(db.Stages, s); at = s.End + 4e7
		}
		must(t, file.Close())
		must(t, result.WriteTable(filepath.Join(dir, result.TimeseriesFile), rows))
		must(t, result.WriteTable(filepath.Join(dir, result.ByKeyFile), keys))
		must(t, result.WriteSummary(filepath.Join(dir, result.SummaryFile), result.Summary{}))
		var disk []result.DiskSpaceRow
		for n := 0; n <= 3; n++ {
			if n > 0 { disk = append(disk, result.DiskSpaceRow{Index: n, Bytes: 2e9}) }
			var sys []result.SystemRow
			var rx, sec, wr float64
			for u := int64(epoch)-3; u < at/1e9+3; u++ {
				if d == 0 && n == 2 && u > epoch+40 && u < epoch+50 { continue }
				if d == 2 && u > epoch+30 && u < epoch+38 { continue }
				load := math.Min(1, math.Max(0, float64(u-epoch)/float64(at/1e9-epoch)))
				jit := .8+.4*r.Float64()
				rx += load*5e7*jit; sec += load*1e5*jit*float64(d+1); wr += load*2000*jit
				sys = append(sys, result.SystemRow{UnixNanosecond: u*1e9+r.Int64N(2e6), UnixSecond: u, CPU: result.Number(load*400*jit*float64(1+d)/2+3), VMRSS: result.Number(5e7+load*1.2e9*float64(d+1)), VoluntaryCtxtDelta: result.Number(load*34000*jit), NonVoluntaryCtxtDelta: result.Number(load*900*jit),
					ReadsCompleted: 10, SectorsRead: 100, WritesCompleted: result.Number(wr), SectorsWritten: result.Number(sec), ReadsCompletedDelta: 0, WritesCompletedDelta: result.Number(load*2000*jit), SectorsWrittenDelta: result.Number(load*1e5*jit*float64(d+1)), WriteBytesDelta: result.Number(load*5e7*jit*float64(d+1)),
					Interface:"lo", Device: "vda", ReceiveBytes: result.Number(rx), TransmitBytes: result.Number(rx), ReceiveBytesDelta: result.Number(load*5e7*jit), TransmitBytesDelta: result.Number(load*4e7*jit)})
			}
			name := result.ClientMetricsFile
			if n > 0 { name = result.MemberMetricsFile(n) }
			must(t, result.WriteTable(filepath.Join(dir, name), sys))
		}
		must(t, result.WriteTable(filepath.Join(dir, result.DiskSpaceFile), disk))
		for i := range db.Members { db.Members[i].Interface="lo"; db.Members[i].Device="vda" }
	}
	must(t, m.Write(root))
	rep := run(t, "", root)
	fmt.Println(rep.Text, rep.Warnings)
}
