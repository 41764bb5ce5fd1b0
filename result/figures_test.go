package result

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func testFigures() []Figure {
	return []Figure{
		{Name: "etcd_server_proposals_pending", Kind: FigureGauge},
		{Name: "consul_raft_commitTime", Kind: FigureSummary, Unit: "ms"},
		{Name: "etcd_disk_wal_fsync_duration_seconds", Kind: FigureHistogram, Unit: "s", Meaning: MeaningLogSync},
		{Name: "zk_packets_sent", Kind: FigureCounter},
	}
}

func TestFiguresHeader(t *testing.T) {
	want := []string{
		"UNIX-NANOSECOND", "UNIX-SECOND", "ETCD-SERVER-PROPOSALS-PENDING",
		"CONSUL-RAFT-COMMITTIME-COUNT", "CONSUL-RAFT-COMMITTIME-SUM", "CONSUL-RAFT-COMMITTIME-COUNT-DELTA", "CONSUL-RAFT-COMMITTIME-SUM-DELTA",
		"ETCD-DISK-WAL-FSYNC-DURATION-SECONDS-COUNT", "ETCD-DISK-WAL-FSYNC-DURATION-SECONDS-SUM",
		"ETCD-DISK-WAL-FSYNC-DURATION-SECONDS-COUNT-DELTA", "ETCD-DISK-WAL-FSYNC-DURATION-SECONDS-SUM-DELTA",
		"ETCD-DISK-WAL-FSYNC-DURATION-SECONDS-P50", "ETCD-DISK-WAL-FSYNC-DURATION-SECONDS-P99", "ETCD-DISK-WAL-FSYNC-DURATION-SECONDS-BUCKETS",
		"ZK-PACKETS-SENT", "ZK-PACKETS-SENT-DELTA",
	}
	if got := FiguresHeader(testFigures()); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// figureRows are one full row and one gap.
func figureRows() []FigureRow {
	full, gap := FigureRow{UnixNanosecond: 1_000_000_001, UnixSecond: 1}, FigureRow{UnixNanosecond: 2_000_000_000, UnixSecond: 2}
	for i := range testFigures() {
		v := UnknownFigure()
		switch i {
		case 0:
			v.Value = 7
		case 1:
			v.Count, v.Sum, v.CountDelta, v.SumDelta = 5, 2.5, 1, 0.5
		case 2:
			v.Count, v.Sum, v.CountDelta, v.SumDelta, v.P50, v.P99 = 12, 0.25, 2, 0.01, 0.0015, 0.00199
			v.Buckets = Buckets{{0.001, 3}, {1e-05 + 0.002, 12}, {math.Inf(1), 12}}
		case 3:
			v.Value, v.Delta = 1e6, 0
		}
		full.Values, gap.Values = append(full.Values, v), append(gap.Values, UnknownFigure())
	}
	return []FigureRow{full, gap}
}

func writeFigures(t *testing.T, rows ...FigureRow) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), MemberFiguresFile(1))
	table, err := CreateFigures(path, testFigures())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(table.Append(rows...), table.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestFiguresRoundTrip(t *testing.T) {
	text := writeFigures(t, figureRows()...)
	if gap := strings.Split(text, "\n")[2]; gap != "2000000000,2"+strings.Repeat(",", 14) {
		t.Errorf("a gap is written as %q", gap)
	}
	got, err := ParseFigures(strings.NewReader(text), "f", testFigures())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(figureRows(), got, cmp.Comparer(func(a, b Number) bool { return a == b || !a.Known() && !b.Known() })); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestParseFiguresOfAnother reads a file of a store with one figure more and
// one less.
func TestParseFiguresOfAnother(t *testing.T) {
	figures := append([]Figure{{Name: "unheard", Kind: FigureCounter}}, testFigures()[2:]...)
	got, err := ParseFigures(strings.NewReader(writeFigures(t, figureRows()...)), "f", figures)
	if err != nil || len(got) != 2 {
		t.Fatalf("got %v, %v", got, err)
	}
	if v := got[0].Values; v[0].Value.Known() || v[1].Count != 12 || v[2].Value != 1e6 {
		t.Errorf("got %+v", v)
	}
}

func TestParseFiguresRefuses(t *testing.T) {
	header := strings.Join(FiguresHeader(testFigures()), ",") + "\n"
	row := func(cell, text string) string {
		cells := make([]string, 16)
		cells[0], cells[1] = "1", "1"
		cells[slices.Index(FiguresHeader(testFigures()), cell)] = text
		return strings.Join(cells, ",") + "\n"
	}
	tests := []struct {
		name, text, column string
		line               int
	}{
		{"empty", "", "", 0},
		{"another file", "A,B\n1,2\n", "", 1},
		{"no time", header + row("UNIX-SECOND", "now"), "UNIX-SECOND", 2},
		{"no number", header + row("ZK-PACKETS-SENT", "many"), "ZK-PACKETS-SENT", 2},
		{"no bucket", header + row("ETCD-DISK-WAL-FSYNC-DURATION-SECONDS-BUCKETS", "0.1:3"), "ETCD-DISK-WAL-FSYNC-DURATION-SECONDS-BUCKETS", 2},
		{"falling buckets", header + row("ETCD-DISK-WAL-FSYNC-DURATION-SECONDS-BUCKETS", "0.1=3 0.2=2"), "ETCD-DISK-WAL-FSYNC-DURATION-SECONDS-BUCKETS", 2},
		{"a cell too few", header + "1,1\n", "1", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseFigures(strings.NewReader(tt.text), "f", testFigures())
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Line != tt.line || syntax.Column != tt.column {
				t.Errorf("got %v, want a syntax error in line %d, column %s", err, tt.line, tt.column)
			}
		})
	}
}

func TestFiguresNeverOverwrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateFigures(path, nil); err == nil {
		t.Error("the file was overwritten")
	}
}

// FuzzBuckets checks that what is accepted round-trips.
func FuzzBuckets(f *testing.F) {
	f.Add("0.001=12 0.002=15 +Inf=15")
	f.Fuzz(func(t *testing.T, text string) {
		var b, again Buckets
		if b.UnmarshalText([]byte(text)) != nil {
			return
		}
		written, err := b.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalText(written); err != nil || !slices.Equal(b, again) {
			t.Errorf("%q is written as %q, which reads as %v, %v", text, written, again, err)
		}
	})
}
