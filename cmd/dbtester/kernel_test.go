package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dbtester/dbtester/result"
)

// A kernelReading is what the kernel said of the machine at one moment.
type kernelReading struct {
	at       int64 // Unix nanoseconds, before the files were read
	counters map[string]float64
}

// readKernel reads the counters of all devices and interfaces.
func readKernel(t *testing.T) kernelReading {
	t.Helper()
	k := kernelReading{at: time.Now().UnixNano(), counters: map[string]float64{}}
	note := func(name, text string) {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		k.counters[name] = v
	}
	for _, line := range lines(t, "/proc/diskstats") {
		f := strings.Fields(line)
		note(f[2]+" writes", f[7])
		note(f[2]+" sectors written", f[9])
	}
	for _, line := range lines(t, "/proc/net/dev")[2:] {
		name, rest, _ := strings.Cut(line, ":")
		f := strings.Fields(rest)
		note(strings.TrimSpace(name)+" received", f[0])
		note(strings.TrimSpace(name)+" sent", f[8])
	}
	return k
}

func lines(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n")
}

// watchKernel reads the counters again and again until stop is called.
func watchKernel(t *testing.T) (stop func() []kernelReading) {
	t.Helper()
	var readings []kernelReading
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			readings = append(readings, readKernel(t))
			select {
			case <-end:
				return
			case <-tick.C:
			}
		}
	}()
	return func() []kernelReading {
		close(end)
		<-done
		return readings
	}
}

// Every sample lies between what the kernel said just before and just after;
// CPU and memory add up to what getrusage says of the member's whole life.
func TestSamplesAgreeWithTheKernel(t *testing.T) {
	c := dbtester(t, "control", "--local", "-c", "test.yaml", "--set", "workload.requests=30000", "--set", "workload.clients=20")
	stop := watchKernel(t)
	status := c.status()
	readings := stop()
	if status != exitDone {
		t.Fatalf("status %d, printed:\n%s", status, c.stderr)
	}
	dir := c.resultDir()
	m, err := result.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range m.Databases[0].Members {
		rows, err := result.ReadTable[result.SystemRow](filepath.Join(dir, "etcd", result.MemberMetricsFile(member.Index)))
		if err != nil || len(rows) < 3 {
			t.Fatalf("%d rows, error %v", len(rows), err)
		}
		compareMachine(t, member.Name, rows, readings)
		compareProcess(t, member, rows)
	}
}

// compareMachine wants every sample to lie between what the kernel said a second
// before and a second after, and nearly all between 20 ms before and after: on a
// machine without a free processor a sampler may have to wait between the clock
// and the file.
func compareMachine(t *testing.T, member string, rows []result.SystemRow, readings []kernelReading) {
	t.Helper()
	late := 0
	for _, row := range rows {
		if len(disagreements(row, readings, time.Second)) > 0 {
			t.Errorf("%s at %d: %s", member, row.UnixSecond, strings.Join(disagreements(row, readings, time.Second), "; "))
		}
		if found := disagreements(row, readings, 20*time.Millisecond); len(found) > 0 {
			t.Logf("%s at %d: %s", member, row.UnixSecond, strings.Join(found, "; "))
			late++
		}
	}
	if late > 1+len(rows)/4 {
		t.Errorf("%s: %d of %d samples are not of their moment", member, late, len(rows))
	}
}

// disagreements names the counters of a row that the kernel did not have within
// the slack of the row's time.
func disagreements(row result.SystemRow, readings []kernelReading, slack time.Duration) []string {
	after := slices.IndexFunc(readings, func(k kernelReading) bool { return k.at > row.UnixNanosecond+int64(slack) })
	if after < 0 {
		after = len(readings) - 1
	}
	before := after
	for before > 0 && readings[before].at > row.UnixNanosecond-int64(slack) {
		before--
	}
	var found []string
	for name, got := range map[string]result.Number{
		row.Device + " writes": row.WritesCompleted, row.Device + " sectors written": row.SectorsWritten,
		row.Interface + " received": row.ReceiveBytes, row.Interface + " sent": row.TransmitBytes,
	} {
		low, high := readings[before].counters[name], readings[after].counters[name]
		if !(float64(got) >= low && float64(got) <= high) {
			found = append(found, fmt.Sprintf("%s = %v, the kernel says %v to %v", name, got, low, high))
		}
	}
	return found
}

func compareProcess(t *testing.T, member result.Member, rows []result.SystemRow) {
	t.Helper()
	var last, percents, rss float64
	for i, row := range rows {
		if row.CPUSeconds.Known() {
			last = float64(row.CPUSeconds)
		}
		if i > 0 && row.CPU.Known() {
			percents += float64(row.CPU) / 100 * float64(row.UnixNanosecond-rows[i-1].UnixNanosecond) / 1e9
		}
		if row.VMRSS.Known() {
			rss = max(rss, float64(row.VMRSS))
		}
	}
	first := float64(rows[0].CPUSeconds)
	if math.Abs(first+percents-last) > 0.05*last {
		t.Errorf("%s: CPU percentages add up to %.2f s, the counter says %.2f s", member.Name, first+percents, last)
	}
	// After its last sample a member still stops, a leader hands over first.
	const stopping = 0.3 // seconds
	if last > 1.01*member.CPUSeconds || last < 0.95*member.CPUSeconds-stopping {
		t.Errorf("%s: sampled %.2f s of CPU, getrusage says %.2f s", member.Name, last, member.CPUSeconds)
	}
	// getrusage tells the peak, which may fall between two samples.
	if peak := float64(member.MaxRSS); rss > peak*1.05 || rss < peak*0.85 {
		t.Errorf("%s: largest sampled memory %.0f, getrusage says %.0f", member.Name, rss, peak)
	}
}
