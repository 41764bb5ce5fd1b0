//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Markers between which the tables stand.
const (
	beginMarker = "<!-- bench-peers: begin -->"
	endMarker   = "<!-- bench-peers: end -->"
)

// A report is all that is printed.
type report struct {
	results       []outcome
	versions      programs
	date          time.Time
	before, after machine
	pairs         int
	floor         int64 // below this no peak memory can be told, bytes
}

// render returns the report as Markdown.
func (r report) render() string {
	var b strings.Builder
	r.conditions(&b)
	r.summary(&b)
	for _, o := range r.results {
		o.table(&b)
	}
	return b.String()
}

func (r report) conditions(b *strings.Builder) {
	m, v := r.before, r.versions
	fmt.Fprintf(b, "%s, %s (%s), GOMAXPROCS %d, %s of memory, Linux %s. One-minute load average %s before and %s after.\n\n",
		r.date.UTC().Format(time.DateOnly), count(m.cpus, "CPU"), m.cpu, m.procs, humanize.Bytes(uint64(m.memory)), m.kernel, m.load, r.after.load)
	fmt.Fprintf(b, "Server: etcd %s, three members, %s. Ours: client %s, gRPC %s, %s. Peer: %s %s, client %s, gRPC %s, %s.\n",
		v.server.versions[moduleServer], v.server.goVersion,
		v.ours.versions[moduleClient], v.ours.versions[moduleGRPC], v.ours.goVersion,
		peerPackage, v.peer.versions[modulePeer], v.peer.versions[moduleClient], v.peer.versions[moduleGRPC], v.peer.goVersion)
	fmt.Fprintf(b, "%d pairs; figures are medians, with the smallest and largest in brackets. Ratios are ours ÷ peer of one pair.\n", r.pairs)
	fmt.Fprintf(b, "Peak memory below %.1f MB could not be told.\n\n", float64(r.floor)/megabyte)
}

// summary is one line per scenario, with what the targets want.
func (r report) summary(b *strings.Builder) {
	var head, rule strings.Builder
	for _, m := range metrics() {
		if m.target.relation != "" {
			what, _, _ := strings.Cut(m.name, ",")
			fmt.Fprintf(&head, " %s (%s %.2f) |", what, m.target.relation, m.target.ratio)
			rule.WriteString("---|")
		}
	}
	fmt.Fprintf(b, "| median ratio (target) |%s\n|---|%s\n", &head, &rule)
	for _, o := range r.results {
		fmt.Fprintf(b, "| %s |", o.scenario)
		for _, m := range metrics() {
			if m.target.relation != "" {
				ratio := median(o.ratios(m))
				fmt.Fprintf(b, " %s %s |", m.target.show(ratio), verdict(m.target.met(ratio)))
			}
		}
		b.WriteString("\n")
	}
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "**missed**"
}

// table is all that is known of one scenario.
func (o outcome) table(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n| | ours | peer | ratio of each pair | median |\n|---|---|---|---|---|\n", o.scenario)
	for _, m := range metrics() {
		ratios := o.ratios(m)
		var each []string
		for _, ratio := range ratios {
			each = append(each, m.target.show(ratio))
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", m.name, m.spread(o.scenario, o.ours), m.spread(o.scenario, o.peer),
			strings.Join(each, " "), m.target.show(median(ratios)))
	}
}

// ratios returns ours ÷ peer of each pair.
func (o outcome) ratios(m metric) []float64 {
	ratios := make([]float64, len(o.ours))
	for i := range ratios {
		ratios[i] = m.of(o.scenario, o.ours[i]) / m.of(o.scenario, o.peer[i])
	}
	return ratios
}

// spread returns the median and, in brackets, the smallest and largest.
func (m metric) spread(s scenario, samples []sample) string {
	values := make([]float64, len(samples))
	for i := range samples {
		values[i] = m.of(s, samples[i])
	}
	return fmt.Sprintf(m.format+" ("+m.format+"–"+m.format+")", median(values), slices.Min(values), slices.Max(values))
}

// replacePart puts text between the markers of the file.
func replacePart(path, text string) error {
	replaced, err := withPart(path, text)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(replaced), 0o644)
}

// withPart returns the file as it will be.
func withPart(path, text string) (string, error) {
	old, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	replaced, err := splice(string(old), text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return replaced, nil
}

func splice(page, text string) (string, error) {
	head, rest, begun := strings.Cut(page, beginMarker)
	_, tail, ended := strings.Cut(rest, endMarker)
	if !begun || !ended {
		return "", errors.New("want the lines " + beginMarker + " and " + endMarker)
	}
	return head + beginMarker + "\n\n" + text + "\n" + endMarker + tail, nil
}
