package analyze

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dbtester/dbtester/result"
)

const second1 = int64(time.Second)

func TestIncreaseOfACounter(t *testing.T) {
	even := func(values ...float64) counter {
		var c counter
		for i, v := range values {
			c = append(c, reading{int64(i) * second1, v})
		}
		return c
	}
	at := func(seconds float64) int64 { return int64(seconds * float64(second1)) }
	for _, test := range []struct {
		name    string
		c       counter
		windows []span
		want    increase
	}{
		{"brackets the window", even(0, 1, 3, 7, 15), []span{{at(1.5), at(2.5)}}, increase{total: 6, known: true}},
		{"edges on readings", even(0, 1, 3, 7, 15), []span{{at(1), at(3)}}, increase{total: 6, known: true}},
		{"stages share a reading once", even(0, 1, 3, 7, 15), []span{{at(0.5), at(1.5)}, {at(1.5), at(3.5)}}, increase{total: 15, known: true}},
		{"a pause between stages", even(0, 1, 3, 7, 15, 31), []span{{at(0), at(1)}, {at(3), at(4)}}, increase{total: 9, known: true}},
		{"stages out of order", even(0, 1, 3, 7), []span{{at(1), at(2)}, {at(0), at(1)}}, increase{total: 3, known: true}},
		{"backwards", even(10, 14, 2, 5), []span{{at(0), at(3)}}, increase{total: 7, known: true, reset: true}},
		{"ends too early", even(0, 1, 3), []span{{at(0), at(5)}}, increase{total: 3, known: true, missed: 3 * time.Second}},
		{"begins too late", even(5, 6), []span{{at(-2), at(1)}}, increase{total: 1, known: true, missed: 2 * time.Second}},
		{"one reading", even(5), []span{{0, at(1)}}, increase{}},
		{"no window", even(1, 2), nil, increase{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.c.over(test.windows)
			got.slack = 0 // of one second here
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(increase{})); diff != "" {
				t.Errorf("over (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStagesShareTheSecondBetweenThem(t *testing.T) {
	c := counter{{0, 0}, {second1, 100}, {2 * second1, 300}}
	first, _ := c.within(span{0, second1 + second1/4})
	second, _ := c.within(span{second1 + second1/4, 2 * second1})
	if first != 150 || second != 150 {
		t.Errorf("within = %v and %v, want 150 each", first, second)
	}
}

func TestCounterFallsBackToDeltas(t *testing.T) {
	s := newSamples([]result.SystemRow{
		{UnixNanosecond: 0, ReceiveBytes: result.Gap(), ReceiveBytesDelta: result.Gap()},
		{UnixNanosecond: second1, ReceiveBytes: result.Gap(), ReceiveBytesDelta: 5},
		{UnixNanosecond: 2 * second1, ReceiveBytes: result.Gap(), ReceiveBytesDelta: 7},
	}, clockOf(result.Member{}))
	k := receiveCounter()
	if got := counterOf(s, k.value, k.delta).over([]span{{0, 2 * second1}}); got.total != 12 || !got.known {
		t.Errorf("increase = %+v, want 12", got)
	}
}

func TestSamplesCoverSecondsDespiteJitter(t *testing.T) {
	// Ticks a little before and behind each full second: by the time stamp alone
	// second 2 would have two samples and second 3 none.
	var rows []result.SystemRow
	for i, ms := range []int64{1000, 1999, 3001, 3999, 5002} {
		rows = append(rows, result.SystemRow{UnixNanosecond: ms * int64(time.Millisecond), CPU: result.Number(i)})
	}
	var got []string
	for _, s := range secondsOf([]samples{newSamples(rows, clockOf(result.Member{}))}) {
		got = append(got, fmt.Sprint(s.unix, ":", s.over(cpu(), []int{0}).mean))
	}
	if diff := cmp.Diff([]string{"1:1", "2:2", "3:3", "4:4"}, got); diff != "" {
		t.Errorf("seconds (-want +got):\n%s", diff)
	}
}

func TestThinKeepsPeaksAndGaps(t *testing.T) {
	var points []point
	for i := range 100_000 {
		y := 5.0
		switch {
		case i == 40_123:
			y = 900
		case i == 70_456:
			y = 0.1
		case i >= 50_000 && i < 51_000:
			y = math.NaN()
		}
		points = append(points, linePoint(float64(i), y))
	}
	kept := thin(points, 900)
	if len(kept) > 900 {
		t.Errorf("%d points kept, want at most 900", len(kept))
	}
	peak, trough, gap, last := false, false, false, -1.0
	for _, p := range kept {
		peak, trough, gap = peak || p.y == 900, trough || p.y == 0.1, gap || p.gap()
		if p.x <= last {
			t.Fatalf("x falls from %v to %v", last, p.x)
		}
		last = p.x
	}
	if !peak || !trough || !gap {
		t.Errorf("peak, trough and gap kept: %v %v %v, want all", peak, trough, gap)
	}
}

func TestMergeWeighsMeansAndSpansExtremes(t *testing.T) {
	points := []point{
		{x: 1, y: 10, low: 1, high: 50, weight: 3},
		{x: 2, y: 30, low: 2, high: 40, weight: 1},
		{x: 3, y: math.NaN(), low: math.NaN(), high: math.NaN()},
		{x: 4, y: 7, low: 7, high: 7, weight: 1},
	}
	want := []point{{x: 1, y: 10, low: 1, high: 50, weight: 3}, {x: 4, y: 18.5, low: 2, high: 40, weight: 2}}
	if diff := cmp.Diff(want, merge(points, 2), cmp.AllowUnexported(point{})); diff != "" {
		t.Errorf("merge (-want +got):\n%s", diff)
	}
	all := mergeAll(points)
	if want := (point{x: 4, y: (10*3 + 30 + 7) / 5.0, low: 1, high: 50, weight: 5}); all != want {
		t.Errorf("mergeAll = %+v, want %+v", all, want)
	}
}

func TestTicksAreRoundAndLabelled(t *testing.T) {
	for _, test := range []struct {
		low, high float64
		format    func(float64) string
		want      string
	}{
		{0, 40_000, countLabel, "0|10 k|20 k|30 k|40 k"},
		{0, 1_234_567, countLabel, "0|500 k|1 M"},
		{0, 5e9, bytesLabel, "0|1 GB|2 GB|3 GB|4 GB|5 GB"},
		{0, 0.3, plainLabel, "0|0.1|0.2|0.3"},
		{0, 5000, plainLabel, "0|1,000|2,000|3,000|4,000|5,000"},
		{0, math.Inf(1), plainLabel, ""},
	} {
		var labels []string
		for _, tick := range (ticks{count: 5, format: test.format}).Ticks(test.low, test.high) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, "|"); test.want != "" && got != test.want {
			t.Errorf("ticks of %v to %v = %s, want %s", test.low, test.high, got, test.want)
		}
	}
	var labels []string
	for _, tick := range (logTicks{plainLabel}).Ticks(0, 2) {
		labels = append(labels, tick.Label)
	}
	if got, want := strings.Join(labels, "|"), "1|2|5|10|20|50|100"; got != want {
		t.Errorf("ticks of powers 0 to 2 = %s, want %s", got, want)
	}
}

func TestFiguresPrintLikeThePublishedOnes(t *testing.T) {
	for _, test := range []struct {
		unit unit
		v    float64
		want string
	}{
		{seconds(), 18.15624, "18.1562 sec"},
		{requests(), 3e6, "3,000,000"},
		{perSecondUnit(), 176853.7, "176,854 req/sec"},
		{latency(), 0.43879, "0.4388 ms"},
		{percentile(), 1.66136, "1.661360 ms"},
		{bytesUnit(), 4.91e9, "4.9 GB"},
		{bytesUnit(), 252.4e6, "252 MB"},
		{bytesUnit(), 17.1e9, "17 GB"},
		{bytesUnit(), 0, "0 B"},
		{percent(), 941, "941.00 %"},
		{percent(), 1456, "1456.00 %"},
		{operations("sectors"), 20456512, "20,456,512"},
		{bytesUnit(), math.NaN(), "n/a"},
		{requests(), math.Inf(1), "n/a"},
	} {
		if got := test.unit.show(test.v); got != test.want {
			t.Errorf("show(%v) = %q, want %q", test.v, got, test.want)
		}
	}
}

// manyColumns are columns with long names and gaps, to draw.
func manySeries(n, length int) []series {
	var lines []series
	for i := range n {
		line := series{name: fmt.Sprintf("database-%d-<with>&a-long-name-go1.26", i)}
		for x := range length {
			p := point{x: float64(x), y: float64(1 + (x*(i+3))%97), low: 0, high: 200, weight: 1}
			if x%10 == i {
				p = linePoint(float64(x), unknown())
			}
			line.points = append(line.points, p)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestDrawingsAreSmallAndWellFormed(t *testing.T) {
	for _, ch := range append(publishedCharts(), ladderCharts()...) {
		for _, n := range []int{1, 3, 12} {
			lines := manySeries(n, 20_000)
			for i := range lines {
				if ch.errors {
					lines[i].points = merge(lines[i].points, maxErrorPoints)
				} else {
					lines[i].points = thin(lines[i].points, maxLinePoints/n)
				}
			}
			svg, err := ch.draw(lines)
			if err != nil {
				t.Fatalf("%s: %v", ch.name, err)
			}
			if len(svg) > 300_000 {
				t.Errorf("%s of %d databases has %d bytes, want less than 300 kB", ch.name, n, len(svg))
			}
			if text := svgText(t, svg); !strings.Contains(text, ch.title) || !strings.Contains(text, ch.x.label) ||
				!strings.Contains(text, ch.y.label) || !strings.Contains(text, lines[n-1].name) {
				t.Errorf("%s lacks its title, a label or a name: %s", ch.name, text)
			}
		}
	}
}

func TestChartWithoutDataSaysSo(t *testing.T) {
	for _, ch := range publishedCharts() {
		svg, err := ch.draw([]series{{name: "etcd"}})
		if err != nil || !strings.Contains(svgText(t, svg), "no data") {
			t.Errorf("%s: error %v, text %q", ch.name, err, svgText(t, svg))
		}
	}
}

// svgText returns all text of a drawing; a drawing that is no XML fails.
func svgText(t *testing.T, svg []byte) string {
	t.Helper()
	var text strings.Builder
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		if err != nil {
			t.Fatalf("the drawing is no XML: %v", err)
		}
		if data, ok := token.(xml.CharData); ok {
			text.Write(data)
		}
	}
}

// A line of the drawing stops at a gap: it has one stroke with two beginnings.
func TestGapsAreDrawnAsGaps(t *testing.T) {
	ch := publishedCharts()[0]
	with := []series{{name: "etcd", points: []point{linePoint(0, 1), linePoint(1, 1), linePoint(2, unknown()), linePoint(3, 1), linePoint(4, 1)}}}
	without := []series{{name: "etcd", points: []point{linePoint(0, 1), linePoint(1, 1), linePoint(3, 1), linePoint(4, 1)}}}
	longest := func(lines []series) int {
		svg, err := ch.draw(lines)
		if err != nil {
			t.Fatal(err)
		}
		most := 0
		for line := range strings.Lines(string(svg)) {
			if strings.Contains(line, "#0072B2") && strings.Contains(line, "fill:none") {
				most = max(most, strings.Count(line, "M"))
			}
		}
		return most
	}
	if got := longest(with); got != 2 {
		t.Errorf("a line with a gap has %d pieces, want 2", got)
	}
	if got := longest(without); got != 1 {
		t.Errorf("a line without a gap has %d pieces, want 1", got)
	}
}

func TestOneLineTakesControlCharactersOut(t *testing.T) {
	if got, want := oneLine(" a\nb\x00c\t"), "a b c"; got != want {
		t.Errorf("oneLine = %q, want %q", got, want)
	}
}

func FuzzReadTable(f *testing.F) {
	f.Add([]byte("KEYS,MIN-LATENCY-MS,AVG-LATENCY-MS,MAX-LATENCY-MS,COUNT\n1,1,2,3,4\n2,,,,0\nbad\n3,1,1,1,1"))
	f.Add([]byte("KEYS,MIN-LATENCY-MS,AVG-LATENCY-MS,MAX-LATENCY-MS,COUNT\n\"1\n2,1,1,1,1\n"))
	f.Add([]byte("\n\n,"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, half := splitHalfLine(data, "file")
		if half == nil != (len(lines) == len(data)) {
			t.Fatalf("half = %v, but %d of %d bytes are whole lines", half, len(lines), len(data))
		}
		var found findings
		rows := parseTable[result.ByKeyRow](&found, lines, "file")
		if len(rows) > bytes.Count(lines, []byte{'\n'}) {
			t.Fatalf("%d rows out of %d lines", len(rows), bytes.Count(lines, []byte{'\n'}))
		}
		for _, err := range found.errs {
			var syntax *result.SyntaxError
			if errors.As(err, &syntax) && syntax.Line > bytes.Count(lines, []byte{'\n'})+1 {
				t.Fatalf("%v is behind the end of the file", err)
			}
		}
	})
}

// Whatever stands in the files, an analysis ends, and says something.
func FuzzAnalyse(f *testing.F) {
	header := strings.Join(result.Header[result.TimeseriesRow](), ",") + "\n"
	system := strings.Join(result.Header[result.SystemRow](), ",") + "\n"
	f.Add([]byte(header+"1700000000,1,1,2,3,1000,0,0,1,true,2,3\n9223372036854775807,1,1,2,3,1000,0,0,1,true,2,3\n"),
		[]byte(system+"-9223372036854775808,1"+strings.Repeat(",1", 39)+"\n9223372036854775807,1"+strings.Repeat(",1", 39)+"\n"), int64(0), int64(math.MaxInt64))
	f.Add([]byte(header+"1,1,,,,0,0,0,1,false,,\n"), []byte(system), int64(1), int64(2e9))
	f.Fuzz(func(t *testing.T, rows, metrics []byte, start, end int64) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "db"), 0o755); err != nil {
			t.Fatal(err)
		}
		m := &result.Manifest{FormatVersion: 1, Status: result.Running, Databases: []result.Database{{
			Name: "db", Members: []result.Member{{Index: 1, ClockOffset: time.Duration(end)}},
			Stages: []result.Stage{{Number: 1, Clients: 1, Start: start, End: end}},
		}}}
		if err := m.Write(dir); err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{
			result.TimeseriesFile: rows, result.MemberMetricsFile(1): metrics, result.ClientMetricsFile: metrics, result.HistogramLogFile: rows,
		} {
			if err := os.WriteFile(filepath.Join(dir, "db", name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		source, err := openSource(dir)
		if err != nil {
			t.Fatal(err)
		}
		var found findings
		columns := source.columns(&found)
		if text := newDocument(columns, &found).text(); !strings.Contains(text, "INCOMPLETE") {
			t.Errorf("no banner: %s", text)
		}
		for _, ch := range append(publishedCharts(), ladderCharts()...) {
			// Drawing takes too long for every input; its limits are what the axes show.
			lines := ch.series(columns)
			low, high := ch.yRange(lines)
			if marks := (ticks{count: 6, format: ch.y.format}).Ticks(low, high); len(marks) > 24 || !(low < high) {
				t.Errorf("%s: %d marks from %v to %v", ch.name, len(marks), low, high)
			}
		}
	})
}
