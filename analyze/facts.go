package analyze

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/dbtester/dbtester/result"
)

// facts lists what the manifests say about machines and stores, in the form of
// the published results: one line each.
func (d *document) facts() []string {
	var facts []string
	for _, s := range d.sources() {
		facts = append(facts, machineFacts(d.ofSource(s), s.manifest)...)
	}
	for _, c := range d.columns {
		facts = append(facts, c.storeFact())
	}
	for _, s := range d.sources() {
		facts = append(facts, fmt.Sprintf("dbtester %s, seed %d, begun %s", cmp.Or(s.manifest.Tool, "of unknown version"),
			s.manifest.Seed, s.manifest.Started.UTC().Format("2006-01-02 15:04:05 UTC")))
	}
	return uniq(facts)
}

func (d *document) ofSource(s *source) []*column {
	return slices.DeleteFunc(slices.Clone(d.columns), func(c *column) bool { return c.source != s })
}

// machineFacts describes the machines of one experiment, equal ones together.
func machineFacts(columns []*column, m *result.Manifest) []string {
	hosts := []result.Host{m.Controller}
	for _, c := range columns {
		for _, member := range c.members {
			if !sameMachine(hosts, member.Host) {
				hosts = append(hosts, member.Host)
			}
		}
	}
	machines := "machines"
	if len(hosts) == 1 {
		machines = "machine"
	}
	facts := []string{fmt.Sprintf("%d %s of %s (%s)", len(hosts), machines, size(hosts[0]), tenants(hosts, m.Controller, columns))}
	for _, h := range hosts {
		if size(h) != size(hosts[0]) {
			facts = append(facts, "among them one of "+size(h))
		}
		if h.OS+h.Kernel != "" {
			facts = append(facts, strings.TrimSpace(oneLine(h.OS)+" (kernel "+cmp.Or(oneLine(h.Kernel), "unknown")+")"))
		}
		if disk := diskFact(h); disk != "" {
			facts = append(facts, disk)
		}
		if h.OpenFiles > 0 {
			facts = append(facts, fmt.Sprintf("`ulimit -n` is %d", h.OpenFiles))
		}
	}
	return uniq(facts)
}

// sameMachine reports whether h is one of the machines. Without an id a host
// is a machine of its own.
func sameMachine(hosts []result.Host, h result.Host) bool {
	return slices.ContainsFunc(hosts, func(o result.Host) bool { return h.MachineID != "" && o.MachineID == h.MachineID })
}

// tenants says what runs where.
func tenants(hosts []result.Host, controller result.Host, columns []*column) string {
	for _, c := range columns {
		for _, m := range c.members {
			if sameMachine([]result.Host{controller}, m.Host) {
				return "shared by the client and members"
			}
		}
	}
	if len(hosts) == 1 {
		return "the client"
	}
	return "1 for client"
}

func size(h result.Host) string {
	text := fmt.Sprintf("%d vCPUs + %s memory", h.CPUs, humanize.Bytes(uint64(max(h.MemoryBytes, 0))))
	if h.CPUModel != "" {
		text += ", " + oneLine(h.CPUModel)
	}
	return text
}

// storeFact describes the store of a column.
func (c *column) storeFact() string {
	parts := []string{fmt.Sprintf("%s: %s %s (installation %s), %d members", c.name, c.db.Kind,
		cmp.Or(oneLine(c.db.Version), "of unknown version"), c.db.Installation, len(c.members))}
	if reads := oneLine(c.readsPromise()); reads != "" {
		parts = append(parts, "reads "+reads)
	}
	if durable := oneLine(c.db.Guarantee.Durable); durable != "" {
		parts = append(parts, "durability: "+durable)
	}
	return strings.Join(parts, "; ")
}

// uniq keeps the first of equal lines.
func uniq(lines []string) []string {
	var kept []string
	for _, l := range lines {
		if !slices.Contains(kept, l) {
			kept = append(kept, l)
		}
	}
	return kept
}
