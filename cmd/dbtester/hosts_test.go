package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/dbtester/dbtester/result"
)

// hostsEnv makes the four hosts run write-100K; its value, if it is a path, is
// the Markdown file to write.
const hostsEnv = "DBTESTER_HOSTS"

// readEvery is the time between two readings of a link, in nanoseconds.
const readEvery = int64(250 * time.Millisecond)

// linkBytes is what one host's eth0 has carried, as iproute2 tells it.
type linkBytes struct {
	at       int64 // nanoseconds since the Unix epoch
	received float64
	sent     float64
}

// link asks for the counters of a host's own interface.
func (l *lab) link(host string) linkBytes {
	l.t.Helper()
	out, err := exec.CommandContext(l.t.Context(), "ip", "-n", l.namespace(host), "-s", "-j", "link", "show", "dev", "eth0").Output()
	l.must(err)
	var links []struct {
		Stats struct {
			Rx struct{ Bytes float64 }
			Tx struct{ Bytes float64 }
		} `json:"stats64"`
	}
	l.must(json.Unmarshal(out, &links))
	return linkBytes{time.Now().UnixNano(), links[0].Stats.Rx.Bytes, links[0].Stats.Tx.Bytes}
}

// watchLinks reads the counters of the agents' hosts until stop is called.
func (l *lab) watchLinks() (stop func() [labHosts][]linkBytes) {
	var readings [labHosts][]linkBytes
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Duration(readEvery))
		defer tick.Stop()
		for {
			for n := range labHosts {
				readings[n] = append(readings[n], l.link(strconv.Itoa(n+1)))
			}
			select {
			case <-end:
				return
			case <-tick.C:
			}
		}
	}()
	return func() [labHosts][]linkBytes {
		close(end)
		<-done
		return readings
	}
}

// when is what was read at a time, or would have been, between two readings.
func when(readings []linkBytes, at int64) linkBytes {
	after := slices.IndexFunc(readings, func(l linkBytes) bool { return l.at > at })
	if after < 1 {
		return readings[max(after, 0)]
	}
	a, b := readings[after-1], readings[after]
	share := float64(at-a.at) / float64(b.at-a.at)
	return linkBytes{at, a.received + share*(b.received-a.received), a.sent + share*(b.sent-a.sent)}
}

// TestFourHosts runs write-100K over mutual TLS on a controller and three
// agents that are hosts of their own: each member's network bytes are those of its
// own interface, and what the result adds up is what iproute2 counted.
func TestFourHosts(t *testing.T) {
	if os.Getenv(hostsEnv) == "" {
		t.Skipf("set %s; make lab does", hostsEnv)
	}
	databases := installed(t)
	l := newLab(t, 0)
	experiment, err := filepath.Abs("../../configs/write-100K.yaml")
	l.must(err)
	for n := range labHosts {
		l.agents = append(l.agents, l.startAgent(n+1, databases))
	}
	stop := l.watchLinks()
	agents := `agents=["10.0.0.2:3500","10.0.0.3:3500","10.0.0.4:3500"]`
	args := append([]string{"control", "-c", experiment, "--set", agents, "--out", filepath.Join(l.dir, "results")}, l.identify("controller-"+labController)...)
	control := l.start(controlHost, args...)
	if !control.endsWithin(15 * time.Minute) {
		t.Fatalf("control hangs; printed:\n%s", control.printed)
	}
	links := stop()
	if status := control.ProcessState.ExitCode(); status != exitDone {
		t.Fatalf("status %d, printed:\n%s", status, control.printed)
	}
	found, err := filepath.Glob(filepath.Join(l.dir, "results", "*-*Z"))
	if err != nil || len(found) != 1 {
		t.Fatalf("result folders %v, error %v", found, err)
	}
	m, err := result.ReadManifest(found[0])
	l.must(err)
	var table strings.Builder
	for _, d := range m.Databases {
		compareLinks(t, &table, found[0], d, links)
		compareSums(t, &table, found[0], d, links)
	}
	t.Logf("\n%s", table.String())
	if path := os.Getenv(hostsEnv); strings.Contains(path, string(filepath.Separator)) {
		l.must(os.WriteFile(path, []byte(hostsHead+table.String()), 0o644))
	}
}

// compareLinks writes a line for each member, and asserts that its figures are
// its own interface's.
func compareLinks(t *testing.T, table *strings.Builder, folder string, d result.Database, links [labHosts][]linkBytes) {
	t.Helper()
	networks := map[string]bool{}
	received := map[float64]bool{}
	for i, member := range d.Members {
		rows, err := result.ReadTable[result.SystemRow](filepath.Join(result.DatabaseDir(folder, d.Name), result.MemberMetricsFile(member.Index)))
		if err != nil || len(rows) < 3 {
			t.Fatalf("%s, %s: %d rows, error %v", d.Name, member.Name, len(rows), err)
		}
		first, last := around(rows, d.Stages)
		begin, end := when(links[i], first.UnixNanosecond), when(links[i], last.UnixNanosecond)
		rx, tx := float64(last.ReceiveBytes-first.ReceiveBytes), float64(last.TransmitBytes-first.TransmitBytes)
		linkRx, linkTx := end.received-begin.received, end.sent-begin.sent
		fmt.Fprintf(table, "| %s | %s | %s | %.1f | %.1f | %+.2f %% | %.1f | %.1f | %+.2f %% |\n", d.Name, member.Name, member.Interface,
			rx/1e6, linkRx/1e6, (rx/linkRx-1)*100, tx/1e6, linkTx/1e6, (tx/linkTx-1)*100)
		least, most := between(links[i], first.UnixNanosecond, last.UnixNanosecond)
		if !agrees(rx, least.received, most.received, 0) || !agrees(tx, least.sent, most.sent, 0) {
			t.Errorf("%s, %s: received %.0f and sent %.0f in the result, %.0f and %.0f on its link", d.Name, member.Name, rx, tx, linkRx, linkTx)
		}
		networks[member.Host.NetworkID], received[rx] = true, true
	}
	if len(networks) != labHosts || len(received) != labHosts {
		t.Errorf("%s: %d networks and %d sums for %d hosts: they share what is their own", d.Name, len(networks), len(received), labHosts)
	}
}

// around are the samples between which all of the load lies: control begins it
// after a sample, and does nothing after it until there was one.
func around(rows []result.SystemRow, stages []result.Stage) (first, last result.SystemRow) {
	first, last = rows[0], rows[len(rows)-1]
	for _, r := range rows {
		if r.UnixNanosecond <= stages[0].Start {
			first = r
		}
	}
	for _, r := range slices.Backward(rows) {
		if r.UnixNanosecond >= stages[len(stages)-1].End {
			last = r
		}
	}
	return first, last
}

// compareSums asserts that the table's sums over the members are those of the
// three interfaces in the measured window.
func compareSums(t *testing.T, table *strings.Builder, folder string, d result.Database, links [labHosts][]linkBytes) {
	t.Helper()
	var received, sent float64
	for _, readings := range links {
		begin, end := when(readings, d.Stages[0].Start), when(readings, d.Stages[len(d.Stages)-1].End)
		received, sent = received+end.received-begin.received, sent+end.sent-begin.sent
	}
	rx, tx := tableBytes(t, folder, result.RowServerReceive, d.Name), tableBytes(t, folder, result.RowServerTransmit, d.Name)
	fmt.Fprintf(table, "| %s | sum in the table | | %.0f | %.1f | %+.2f %% | %.0f | %.1f | %+.2f %% |\n", d.Name,
		rx/1e6, received/1e6, (rx/received-1)*100, tx/1e6, sent/1e6, (tx/sent-1)*100)
	// The table prints three digits, and two from 1 GB on.
	for _, f := range [][2]float64{{rx, received}, {tx, sent}} {
		rounding := 0.5e6
		if f[0] >= 1e9 {
			rounding = 50e6
		}
		if !agrees(f[0], f[1], f[1], rounding) {
			t.Errorf("%s: the table says %.0f bytes, the links %.0f", d.Name, f[0], f[1])
		}
	}
}

// between are the least and the most that a link can have carried from one time to
// another: what passed between two readings may have done so before or after.
func between(readings []linkBytes, from, to int64) (least, most linkBytes) {
	around := func(at int64) (before, after linkBytes) {
		i := slices.IndexFunc(readings, func(l linkBytes) bool { return l.at > at })
		if i < 0 {
			i = len(readings) - 1
		}
		return readings[max(i-1, 0)], readings[i]
	}
	beforeFrom, afterFrom := around(from)
	beforeTo, afterTo := around(to)
	least = linkBytes{received: beforeTo.received - afterFrom.received, sent: beforeTo.sent - afterFrom.sent}
	most = linkBytes{received: afterTo.received - beforeFrom.received, sent: afterTo.sent - beforeFrom.sent}
	return least, most
}

// agrees tells whether a figure is between two others, give or take a per cent and
// what rounding takes.
func agrees(figure, least, most, rounding float64) bool {
	return figure >= least*0.99-rounding && figure <= most*1.01+rounding
}

// tableBytes is one figure of the table.
func tableBytes(t *testing.T, folder, row, column string) float64 {
	t.Helper()
	file, err := os.Open(filepath.Join(folder, result.AggregatedCSVFile))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(records[0], column)
	for _, record := range records {
		if record[0] == row && at > 0 {
			n, err := humanize.ParseBytes(record[at])
			if err != nil {
				t.Fatal(err)
			}
			return float64(n)
		}
	}
	t.Fatalf("the table has no %s of %s: %v", row, column, records[0])
	return 0
}

// hostsHead stands above the table.
const hostsHead = `# Four hosts

` + "`make lab`" + ` wrote this page. It runs ` + "`configs/write-100K.yaml`" + ` over mutual TLS on four hosts that are network namespaces of
one machine (` + "`scripts/netns-lab.sh`" + `): a controller and three agents, each with a veth interface of its own. The bytes in
the result are those of each member's own interface, from the last sample before the load to the first after it; beside them
stands what ` + "`ip -s link`" + ` counted in the same time, and beside the table's sums what it counted in the measured window. They
must agree within 1 %, but for what passed between two readings of the link, 250 ms apart. MB are 10⁶ bytes.

| store | member | interface | received, MB | by ip | differs | sent, MB | by ip | differs |
|---|---|---|--:|--:|--:|--:|--:|--:|
`
