package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// faultReportEnv names the Markdown file that the table is written to.
const faultReportEnv = "DBTESTER_FAULTS_REPORT"

// A faultReport collects what the cases came to.
type faultReport struct {
	mu     sync.Mutex
	rows   []faultRow
	orders map[string]int // place of each case in the table, by its name
}

type faultRow struct {
	order                        int
	fault, moment, store         string
	expected, seen, says, passed string
	took                         float64 // seconds
}

// TestFaultTable strikes every store with every fault at every moment, on real
// agents on hosts of their own: it ends complete, marked as partial, or refused;
// within the deadline; with nothing left; and with no row lost but those of
// the last second.
func TestFaultTable(t *testing.T) {
	if os.Getenv(faultsEnv) == "" {
		t.Skipf("set %s; make test-faults does", faultsEnv)
	}
	installed(t)
	if os.Getuid() != 0 {
		t.Skip("the table needs root: hosts are network namespaces, full disks are mounted")
	}
	sweepLabs(t)
	report := &faultReport{orders: map[string]int{}}
	t.Cleanup(func() { report.write(t) })
	order := 0
	for _, f := range faults() {
		for _, m := range []moment{atStart, underLoad, atStop} {
			for _, s := range stores() {
				order++
				at := order
				report.orders[faultRow{fault: f.name, moment: string(m), store: s.name}.name()] = at
				t.Run(fmt.Sprintf("%s/%s/%s", strings.ReplaceAll(f.name, " ", "_"), m, s.name), func(t *testing.T) {
					t.Parallel()
					c := &faultCase{fault: f, moment: m, store: s}
					t.Cleanup(func() { report.add(t, at, c) })
					c.lab = newLab(t, at)
					c.run()
				})
			}
		}
	}
}

func (r *faultReport) add(t *testing.T, order int, c *faultCase) {
	t.Helper()
	row := faultRow{
		order: order, fault: c.fault.name, moment: string(c.moment), store: c.store.name,
		expected: c.fault.expected(c.moment), seen: cmp.Or(c.outcome, "–"), says: c.note, passed: "yes", took: c.took.Seconds(),
	}
	switch {
	case t.Skipped():
		row.passed = "skipped"
	case t.Failed():
		row.passed = "NO"
	}
	t.Logf("%s: %s (want %s) in %.1f s: %s", row.name(), row.seen, row.expected, row.took,
		strings.Join(c.times, ", "))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = append(r.rows, row)
}

// write makes the Markdown table. Lines of cases that were not run this time
// stay as they were, so that a part of the table can be made anew.
func (r *faultReport) write(t *testing.T) {
	t.Helper()
	path := os.Getenv(faultReportEnv)
	if path == "" {
		return
	}
	was, _ := os.ReadFile(filepath.Clean(path)) // none the first time
	rows := slices.Concat(r.rows, r.kept(string(was)))
	slices.SortFunc(rows, func(a, b faultRow) int { return cmp.Compare(a.order, b.order) })
	failed, longest, sum := 0, 0.0, 0.0
	counts := map[string]int{}
	for _, row := range rows {
		if row.passed != "yes" {
			failed++
		}
		counts[row.seen]++
		longest, sum = max(longest, row.took), sum+row.took
	}
	var b strings.Builder
	fmt.Fprintf(&b, faultHead, len(rows), failed, counts[complete], counts[partial], counts[refused], longest, sum/60)
	b.WriteString("| fault | moment | store | expected | seen | s | ok |\n|---|---|---|---|---|--:|---|\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %.1f | %s |\n",
			row.fault, row.moment, row.store, row.expected, row.seen, row.took, row.passed)
	}
	if err := os.WriteFile(filepath.Clean(path), []byte(b.String()), 0o644); err != nil {
		t.Error(err)
	}
}

// kept are the lines of an earlier page whose cases there are still, and that
// were not run now.
func (r *faultReport) kept(page string) []faultRow {
	var rows []faultRow
	for line := range strings.Lines(page) {
		f := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if len(f) != 7 {
			continue
		}
		took, _ := strconv.ParseFloat(f[5], 64) // a heading has none, and no order
		row := faultRow{fault: f[0], moment: f[1], store: f[2], expected: f[3], seen: f[4], took: took, passed: f[6]}
		row.order = r.orders[row.name()]
		again := slices.ContainsFunc(r.rows, func(n faultRow) bool { return n.order == row.order })
		if row.order > 0 && !again {
			rows = append(rows, row)
		}
	}
	return rows
}

func (r faultRow) name() string { return r.fault + ", " + r.moment + ", " + r.store }

// faultHead stands above the table.
const faultHead = `# What happens when something goes wrong

` + "`make test-faults`" + `, as root, wrote this page. Each line is a whole run of the program as it is built: a controller and three
agents on four hosts, which are network namespaces with an interface each (` + "`scripts/netns-lab.sh`" + `), over mutual TLS, with a
lease of 5 s, and a real cluster of three members under 200 writes a second. One fault strikes it at one moment: *start*, when
the members begin to start (a fault of a disk or a cable is there before control begins); *load*, when two seconds of the load
are on disk; *stop*, when the members begin to be stopped.

**%d cases, %d failed.** %d ended complete, %d partial and marked, %d refused. The longest took %.0f s; they would take
%.0f minutes one after the other, and are run several at a time. A part of them can be run again with ` + "`" + `-run` + "`" + `, which leaves the
other lines as they are.

- *complete*: status 0, the manifest says complete, all requests were attempted.
- *partial*: the status is not 0, the manifest gives the reason, and the table says PARTIAL, FAILED or INCOMPLETE.
- *refused*: nothing was measured, and why is printed.

In every case, besides: nothing hangs; where control is gone, its members are within 15 s (the lease and ten seconds more);
when the agents have ended no process, listening or open socket, control group, temporary file or data directory is left
(what an agent that was killed left, it removes when it is started again; from a disk that turned read-only nothing can be
removed); and every line that the agents have on disk is in the result, or is no older than the last second before the
fault. Where two outcomes are given, it depends on milliseconds which of the two a run comes to.

How the faults are made. Full disks are a tmpfs of 400 MB, 8 MB for control, filled to the last byte. A disk turns read-only
as a failing one does: an ext4 on a file is told of an error. A clock is stepped for the processes of one host and for nobody
else: the page of the kernel's functions (vDSO) from which each reads the time is written to, so that CLOCK_REALTIME moves by
60 s and no other clock does; the times of files and the kernel's own timers do not move. A cable is pulled at the bridge.
Connections are broken with ` + "`ss -K`" + `. The malformed requests come with the controller's own certificate, the same ones each
time: broken messages, wrong starts, wrong streams, unknown methods, 2 MiB in one message, noise on the socket. None may be
taken.

`
