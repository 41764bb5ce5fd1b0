package control

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/dbtester/dbtester/load"
)

const (
	plainEvery = 5 * time.Second // between two lines where there is no terminal
	barWidth   = 24
)

// A progress tells how the run goes: on a terminal a bar that stays in its
// line, elsewhere a plain line every few seconds. It is safe for concurrent use.
type progress struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	open     bool // the bar's line has not ended
	began    time.Time
	spoke    time.Time
	name     string
}

func newProgress(out io.Writer, terminal bool) *progress {
	if out == nil {
		out = io.Discard
	}
	return &progress{out: out, terminal: terminal}
}

// say prints one line of its own.
func (p *progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeLine()
	fmt.Fprintf(p.out, format+"\n", args...)
}

// endLine ends the bar's line.
func (p *progress) endLine() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeLine()
}

func (p *progress) closeLine() {
	if p.open {
		fmt.Fprintln(p.out)
		p.open = false
	}
}

// second shows what the load has come to.
func (p *progress) second(name string, s load.Second, done, all, errs int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.name != name {
		p.name, p.began, p.spoke = name, now.Add(-time.Second), time.Time{}
	}
	line := fmt.Sprintf("%d clients  %s req/s  p99 %s  %s errors", s.Clients,
		humanize.Comma(s.Service.Count()), s.Service.Quantile(.99).Round(10*time.Microsecond), humanize.Comma(errs))
	if all > 0 { // a load of a duration has no number of requests to reach
		line = fmt.Sprintf("%3d%%  %s  %s left", done*100/all, line, left(now.Sub(p.began), done, all))
	}
	switch {
	case p.terminal:
		filled := int(done * barWidth / max(all, 1))
		bar := strings.Repeat("█", filled) + strings.Repeat("░", barWidth-filled)
		fmt.Fprintf(p.out, "\r\x1b[K%s %s %s", name, bar, line)
		p.open = true
	case now.Sub(p.spoke) >= plainEvery:
		fmt.Fprintf(p.out, "%s %s\n", name, line)
		p.spoke = now
	}
}

// left estimates the time to the end from the mean rate until now.
func left(elapsed time.Duration, done, all int64) time.Duration {
	if done == 0 {
		return 0
	}
	return time.Duration(float64(elapsed) * float64(all-done) / float64(done)).Round(time.Second)
}
