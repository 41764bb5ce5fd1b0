package analyze

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dbtester/dbtester/result"
)

// A hostTable lists the facts about the machines of one experiment, machines
// that tell the same together.
type hostTable struct {
	Machines []string // who runs there: "client", "members 1 and 2"
	Lines    []hostLine
}

// A hostLine is one fact; Same is set instead of Cells where it is that of all
// machines.
type hostLine struct {
	Name  string
	Same  string
	Cells []string
}

// hostTables makes a table for each source that has facts.
func (d *document) hostTables() []hostTable {
	var tables []hostTable
	for _, s := range d.sources() {
		if t := newHostTable(s.manifest, d.ofSource(s)); len(t.Lines) > 0 {
			tables = append(tables, t)
		}
	}
	return tables
}

func newHostTable(m *result.Manifest, columns []*column) hostTable {
	var who []string
	var hosts [][]result.Fact
	add := func(name string, facts []result.Fact) {
		if len(facts) == 0 || slices.Contains(who, name) {
			return
		}
		who, hosts = append(who, name), append(hosts, facts)
	}
	add("client", m.Controller.Facts)
	for _, c := range columns {
		for _, member := range c.members {
			add(fmt.Sprintf("member %d", member.Index), member.Host.Facts)
		}
	}
	var t hostTable
	var different [][]result.Fact
	for i, facts := range hosts {
		at := slices.IndexFunc(different, func(o []result.Fact) bool { return slices.Equal(o, facts) })
		if at < 0 {
			different, t.Machines = append(different, facts), append(t.Machines, who[i])
			continue
		}
		t.Machines[at] += ", " + who[i]
	}
	for _, name := range factNames(different) {
		t.Lines = append(t.Lines, newHostLine(name, different))
	}
	return t
}

// factNames lists the names of all facts, in the order of the machines.
func factNames(hosts [][]result.Fact) []string {
	var names []string
	for _, facts := range hosts {
		for _, f := range facts {
			if !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	return names
}

func newHostLine(name string, hosts [][]result.Fact) hostLine {
	l := hostLine{Name: oneLine(name)}
	for _, facts := range hosts {
		l.Cells = append(l.Cells, oneLine(factOf(facts, name)))
	}
	if len(slices.Compact(slices.Clone(l.Cells))) == 1 {
		l.Same, l.Cells = l.Cells[0], nil
	}
	return l
}

// factOf returns the value of a fact, or nothing.
func factOf(facts []result.Fact, name string) string {
	for _, f := range facts {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// diskFact says in a line on what a machine keeps its data.
func diskFact(h result.Host) string {
	device, _, _ := strings.Cut(factOf(h.Facts, result.FactDevice), ";")
	system := factOf(h.Facts, result.FactFileSystem)
	if device == "" && system == "" {
		return ""
	}
	parts := []string{}
	for _, part := range []string{system, device, factOf(h.Facts, result.FactDiskModel)} {
		if part != "" {
			parts = append(parts, oneLine(part))
		}
	}
	switch factOf(h.Facts, result.FactRotational) {
	case "yes":
		parts = append(parts, "rotating")
	case "no":
		parts = append(parts, "not rotating")
	}
	return "data on " + strings.Join(parts, ", ")
}

// commandLine is how a member was launched, for people.
func commandLine(m result.Member) string {
	words := make([]string, len(m.Command))
	for i, word := range m.Command {
		if words[i] = word; word == "" || strings.ContainsAny(word, " \t\n\"'") {
			words[i] = fmt.Sprintf("%q", word)
		}
	}
	return strings.Join(words, " ")
}
