package analyze

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dbtester/dbtester/result"
)

// A resource is a disk or network interface of one machine. Its counters are
// the machine's: the members on it all show the same figures.
type resource struct {
	machine string // empty if unknown: then nobody shares it
	name    string
}

// A sharing lists the members that use one resource, by their position.
type sharing struct {
	resource
	members []int
}

// shared groups the members by the resource they use, in the order of members.
func shared(members []member, use func(*member) resource) []sharing {
	var groups []sharing
	for i := range members {
		r := use(&members[i])
		at := slices.IndexFunc(groups, func(g sharing) bool {
			return r.machine != "" && r.name != "" && g.resource == r
		})
		if at < 0 {
			groups = append(groups, sharing{resource: r, members: []int{i}})
			continue
		}
		groups[at].members = append(groups[at].members, i)
	}
	return groups
}

// device is the disk under a member's data directory.
func device(m *member) resource {
	return resource{m.Host.MachineID, cmp.Or(m.Device, m.samples.first(func(r *result.SystemRow) string { return r.Device }))}
}

// network is the interface of a member's listen address. Machines that are
// namespaces of one have interfaces of their own by the same name.
func network(m *member) resource {
	return resource{cmp.Or(m.Host.NetworkID, m.Host.MachineID), cmp.Or(m.Interface, m.samples.first(func(r *result.SystemRow) string { return r.Interface }))}
}

// first returns the first value of a text column that is not empty.
func (s samples) first(field func(*result.SystemRow) string) string {
	for i := range s.rows {
		if v := field(&s.rows[i]); v != "" {
			return v
		}
	}
	return ""
}

// machineNotes tells which machine-wide figures are counted once.
func machineNotes(c *column) []string {
	var notes []string
	for _, g := range shared(c.members, device) {
		if len(g.members) > 1 {
			notes = append(notes, fmt.Sprintf("%s share one machine: the operations of its device %s are counted once and are those of the whole machine",
				c.memberList(g.members), g.name))
		}
	}
	controller := c.source.manifest.Controller
	client := resource{cmp.Or(controller.NetworkID, controller.MachineID), c.client.first(func(r *result.SystemRow) string { return r.Interface })}
	for _, g := range shared(c.members, network) {
		withClient := sameMachine([]result.Host{controller}, c.members[g.members[0]].Host)
		switch {
		case withClient && client == g.resource:
			notes = append(notes, fmt.Sprintf("%s and the client share one machine: the traffic of its interface %s is counted once and includes that of the client",
				c.memberList(g.members), g.name))
		case withClient:
			notes = append(notes, fmt.Sprintf("%s and the client share one machine", c.memberList(g.members)))
		case len(g.members) > 1:
			notes = append(notes, fmt.Sprintf("%s share one machine: the traffic of its interface %s is counted once",
				c.memberList(g.members), g.name))
		}
	}
	return notes
}

// joinNotes lists the notes of all columns, each once: with the columns it is
// about where that is not all of them.
func joinNotes(columns []*column) []string {
	about := map[string][]string{}
	var order []string
	for _, c := range columns {
		for _, note := range c.notes {
			if about[note] == nil {
				order = append(order, note)
			}
			about[note] = append(about[note], c.name)
		}
	}
	for i, note := range order {
		if len(about[note]) < len(columns) {
			order[i] = strings.Join(about[note], ", ") + ": " + note
		}
	}
	return order
}

// memberList names members in a sentence: "member 2", "members 1, 2 and 3".
func (c *column) memberList(positions []int) string {
	names := make([]string, len(positions))
	for i, p := range positions {
		names[i] = fmt.Sprint(c.members[p].Index)
	}
	if len(names) == 1 {
		return "member " + names[0]
	}
	last := len(names) - 1
	return "members " + strings.Join(names[:last], ", ") + " and " + names[last]
}
