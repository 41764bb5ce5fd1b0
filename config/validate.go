package config

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

var (
	// plain names become folders: no path, and never "." or "..".
	plain = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	// word is what drivers call their kind and their consistencies.
	word = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	// host is a name or an address without brackets.
	host = regexp.MustCompile(`^[A-Za-z0-9._:%-]+$`)
	// digits alone would be an index where a database may be named.
	digits = regexp.MustCompile(`^[0-9]+$`)
)

// Validate returns all that keeps the experiment from being run, joined, each
// an [*Error]. No agents is not among it: a local run brings its own. Parse
// has called it.
func (e *Experiment) Validate() error { return join(e.problems()) }

func (e *Experiment) problems() []*Error {
	c := &checker{experiment: e}
	if !isPlain(e.Name) {
		c.problems = append(c.problems, position{file: c.file()}.errorf("",
			"the experiment would be called %q; rename the file to %s, ending in .yaml", e.Name, plainNames))
	}
	c.title()
	c.agents()
	c.workload("workload", e.Workload)
	if len(e.Databases) == 0 {
		c.add("databases", "missing; list at least one")
	}
	shared := c.problems
	for i, database := range e.Databases {
		c.database(fmt.Sprintf("databases[%d]", i), database, shared)
	}
	c.names()
	return c.problems
}

const plainNames = "letters, digits, '.', '_' and '-', the first a letter or digit"

func isPlain(name string) bool { return len(name) <= maxNameLength && plain.MatchString(name) }

// A checker collects what is wrong with the values of an experiment.
type checker struct {
	experiment *Experiment
	problems   []*Error
}

func (c *checker) add(path, format string, args ...any) {
	c.problems = append(c.problems, c.experiment.Errorf(path, format, args...))
}

// file returns the file's name; empty if the experiment was not read from one.
func (c *checker) file() string { return c.experiment.at("").file }

// title checks the words above the table.
func (c *checker) title() {
	title := c.experiment.Title
	switch {
	case strings.TrimSpace(title) == "":
		c.add("title", "want text; without the key, the title is the file's name")
	case len(title) > maxTitleLength:
		c.add("title", "want at most %d bytes, not %d; description takes more", maxTitleLength, len(title))
	case strings.ContainsFunc(title, unicode.IsControl):
		c.add("title", "want one line of text; description takes several")
	}
	unprintable := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	if strings.ContainsFunc(c.experiment.Description, unprintable) {
		c.add("description", "want text without control characters")
	}
}

// agents checks that each is host:port, and another one.
func (c *checker) agents() {
	first := map[string]int{}
	for i, agent := range c.experiment.Agents {
		path := fmt.Sprintf("agents[%d]", i)
		if _, err := ParseAgent(agent); err != nil {
			c.add(path, "%v", err)
		}
		if j, twice := first[agent]; twice {
			c.add(path, "%s is agents[%d] already; each member needs an agent of its own", agent, j)
		}
		first[agent] = i
	}
}

// database checks one database. What is wrong with the workload it shares is
// reported already.
func (c *checker) database(path string, d Database, shared []*Error) {
	c.plain(path+".name", d.Name, "it names the column of the table, such as etcd-v3.6")
	if digits.MatchString(d.Name) {
		c.add(path+".name", "want more than digits, such as v%s", d.Name)
	}
	if !word.MatchString(d.Kind) {
		c.add(path+".kind", "want the kind of store, such as etcd, not %q", d.Kind)
	}
	c.plain(path+".installation", d.Installation,
		"it names a folder of the agent's --databases directory, such as etcd-3.6.16, or is embedded")

	own := &checker{experiment: c.experiment}
	own.workload(path+".workload", d.Workload)
	known := map[string]bool{}
	for _, p := range shared {
		known[p.Path+p.Msg] = true
	}
	for _, p := range own.problems {
		if !known[strings.TrimPrefix(p.Path, path+".")+p.Msg] {
			c.problems = append(c.problems, p)
		}
	}
}

func (c *checker) plain(path, name, purpose string) {
	switch {
	case name == "":
		c.add(path, "missing; %s", purpose)
	case !isPlain(name):
		c.add(path, "want at most %d %s, not %q", maxNameLength, plainNames, name)
	}
}

// names checks that no two databases share a folder, also where upper and
// lower case are the same.
func (c *checker) names() {
	first := map[string]int{}
	for i, d := range c.experiment.Databases {
		name := strings.ToLower(d.Name)
		if j, twice := first[name]; twice && name != "" {
			c.add(fmt.Sprintf("databases[%d].name", i), "%q is databases[%d] already; give each its own name", d.Name, j)
			continue
		}
		first[name] = i
	}
}
