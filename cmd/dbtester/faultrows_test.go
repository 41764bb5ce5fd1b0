package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dbtester/dbtester/result"
)

// nothingLost compares what the agents have on disk with what control has, line
// by line: no line differs, and of what was sampled until a second before the
// fault none is missing. Where control and agent both lived on, none is missing
// at all.
func (c *faultCase) nothingLost() {
	folder := c.resultFolder()
	if folder == "" {
		return
	}
	for n := 1; n <= len(c.agents); n++ {
		// An agent that never had a member has none of these.
		theirs, _ := filepath.Glob(filepath.Join(c.hostDir(n), "*", "*", "*.csv"))
		for _, path := range theirs {
			c.noneLost(n, path, filepath.Join(result.DatabaseDir(folder, c.store.name), filepath.Base(path)))
		}
	}
}

// noneLost compares one file of an agent with that of control.
func (c *faultCase) noneLost(n int, theirs, ours string) {
	has, got := readLines(theirs), readLines(ours)
	name := filepath.Base(theirs)
	for i := range min(len(has), len(got)) {
		if has[i] != got[i] {
			c.t.Errorf("%s: line %d is %q on its host and %q in the result", name, i+1, has[i], got[i])
			break
		}
	}
	if len(got) > len(has) {
		c.t.Errorf("%s: the result has %d lines, its host %d", name, len(got), len(has))
	}
	missing := has[min(len(got), len(has)):]
	if !c.fault.vanishes && c.fault.hurts != n {
		if len(missing) > 0 {
			c.t.Errorf("%s: the last %d lines of %d on its host are missing in the result, from %.80q", name, len(missing), len(has), missing[0])
		}
		return
	}
	for _, line := range missing {
		if second, ok := secondOf(line); ok && second <= c.struck.Unix()-1 && !c.fault.stepsClock {
			c.t.Errorf("%s: lost, though the fault came at %d: %.80q", name, c.struck.Unix(), line)
			break
		}
	}
	if name == result.MemberMetricsFile(n) {
		c.untilStruck(n, has)
	}
}

// untilStruck asserts that an agent's own rows reach the last second before
// the fault.
func (c *faultCase) untilStruck(n int, has []string) {
	if len(has) < 2 || c.fault.stepsClock || c.moment == atStart {
		return
	}
	if last, ok := secondOf(has[len(has)-1]); ok && last < c.struck.Unix()-1 {
		c.t.Errorf("member %d: the last row on its host is of %d, the fault came at %d", n, last, c.struck.Unix())
	}
}

// secondOf is when a row was sampled: the first column of each file.
func secondOf(line string) (int64, bool) {
	first, _, _ := strings.Cut(line, ",")
	at, err := strconv.ParseInt(first, 10, 64)
	return at / int64(time.Second), err == nil
}

// readLines are the complete lines of a file.
func readLines(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	lines := strings.Split(string(text), "\n")
	return lines[:len(lines)-1] // what follows the last line end is not a line
}

// noCgroup asserts that no control group carries the nonce of a start.
func (c *faultCase) noCgroup(marker string) {
	text, err := os.ReadFile(marker)
	if err != nil {
		return
	}
	var start struct{ Nonce string }
	if json.Unmarshal(text, &start) != nil || start.Nonce == "" {
		return
	}
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && strings.Contains(entry.Name(), start.Nonce) {
			c.t.Errorf("left: control group %s", path)
		}
		return nil
	})
}

// clientRows asserts that of what the clients saw no more than the last second
// before the fault is missing.
func (c *faultCase) clientRows() {
	folder := c.resultFolder()
	if folder == "" || c.moment != underLoad {
		return
	}
	rows, err := result.ReadTable[result.TimeseriesRow](filepath.Join(result.DatabaseDir(folder, c.store.name), result.TimeseriesFile))
	if err != nil || len(rows) == 0 {
		c.t.Errorf("the rows of the clients: %v", err)
		return
	}
	last := slices.MaxFunc(rows, func(a, b result.TimeseriesRow) int { return int(a.UnixSecond - b.UnixSecond) })
	// The second before the one of the fault may just have ended.
	if behind := c.struck.Unix() - last.UnixSecond; behind > 2 && !c.fault.stepsClock {
		c.t.Errorf("the clients' last row is of %d, %v before the fault", last.UnixSecond, time.Duration(behind)*time.Second)
	}
}
