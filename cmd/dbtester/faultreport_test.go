package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// faultReportEnv names the Markdown file that the table is written to.
const faultReportEnv = "DBTESTER_FAULTS_REPORT"

// A faultReport collects what the cases came to.
type faultReport struct {
	mu    sync.Mutex
	rows  []faultRow
	began time.Time
}

type faultRow struct {
	order                        int
	fault, moment, store         string
	expected, seen, says, passed string
	took                         time.Duration
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
	report := &faultReport{began: time.Now()}
	t.Cleanup(func() { report.write(t) })
	order := 0
	for _, f := range faults() {
		for _, m := range []moment{atStart, underLoad, atStop} {
			for _, s := range stores() {
				order++
				at := order
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
		expected: c.fault.expected(c.moment), seen: cmp.Or(c.outcome, "–"), says: c.note, passed: "yes", took: c.took,
	}
	switch {
	case t.Skipped():
		row.passed = "skipped"
	case t.Failed():
		row.passed = "NO"
	}
	t.Logf("%s, %s, %s: %s (want %s) in %.1f s: %s", row.fault, row.moment, row.store, row.seen, row.expected, row.took.Seconds(),
		strings.Join(c.times, ", "))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = append(r.rows, row)
}

// write makes the Markdown table.
func (r *faultReport) write(t *testing.T) {
	t.Helper()
	path := os.Getenv(faultReportEnv)
	if path == "" {
		return
	}
	slices.SortFunc(r.rows, func(a, b faultRow) int { return cmp.Compare(a.order, b.order) })
	failed, longest := 0, time.Duration(0)
	counts := map[string]int{}
	for _, row := range r.rows {
		if row.passed != "yes" {
			failed++
		}
		counts[row.seen]++
		longest = max(longest, row.took)
	}
	var b strings.Builder
	fmt.Fprintf(&b, faultHead, len(r.rows), failed, counts[complete], counts[partial], counts[refused],
		longest.Seconds(), time.Since(r.began).Minutes())
	b.WriteString("| fault | moment | store | expected | seen | s | ok |\n|---|---|---|---|---|--:|---|\n")
	for _, row := range r.rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %.1f | %s |\n",
			row.fault, row.moment, row.store, row.expected, row.seen, row.took.Seconds(), row.passed)
	}
	if err := os.WriteFile(filepath.Clean(path), []byte(b.String()), 0o644); err != nil {
		t.Error(err)
	}
}

// faultHead stands above the table.
const faultHead = `# What happens when something goes wrong

` + "`make test-faults`" + ` wrote this page. Each line is a whole run of the program as it is built: a controller and three agents on
four hosts, which are network namespaces, and a real cluster of three members. One fault strikes it at one moment.

**%d cases, %d failed.** %d ended complete, %d partial and marked, %d refused; the longest took %.0f s, all together
%.0f minutes.

`
