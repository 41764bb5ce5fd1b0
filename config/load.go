package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Load reads and checks the experiment in the file, with the overrides over it.
// See [Parse] for them, and for the errors.
func Load(path string, overrides []string) (*Experiment, error) {
	data, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return nil, fmt.Errorf("read experiment: %w", err)
	}
	return Parse(path, data, overrides)
}

// Parse reads and checks an experiment. The name is the file's: errors begin
// with it, and without folder and .yaml it names the experiment.
//
// Overrides are "path=value" and are applied in order; the path is as in
// "workload.key.size", "databases[0].options.snapshot_count" or
// "databases[etcd-v3.6].workload.clients", the value is YAML. An override of
// the experiment's workload wins over the same key of every database.
//
// The error joins all mistakes that were found, each an [*Error].
func Parse(name string, data []byte, overrides []string) (*Experiment, error) {
	file := &source{file: name}
	tree := file.parse([]byte(strings.TrimPrefix(string(data), "\ufeff")))
	if tree == nil {
		return nil, join(file.problems)
	}
	if tree.kind == none && len(file.problems) == 0 {
		return nil, tree.at.errorf("", "the file is empty; see configs/quickstart.yaml for an experiment")
	}
	problems := file.problems
	for _, o := range overrides {
		problems = append(problems, tree.override(o)...)
	}
	e, d := decode(name, tree)
	problems = append(problems, d.problems...)
	problems = append(problems, without(e.problems(), d.unread)...)
	if len(problems) > 0 {
		return nil, join(problems)
	}
	return e, nil
}

// decode makes an experiment of the tree. What is wrong keeps its default.
func decode(name string, tree *node) (*Experiment, *decoder) {
	e := newExperiment(plainName(name))
	e.tree = tree.effective()
	d := &decoder{seen: map[string]bool{}}
	d.value(e.tree, "", reflect.ValueOf(e).Elem())
	e.settle()
	return e, d
}

// plainName is the file's name without folder and ending.
func plainName(file string) string {
	base := filepath.Base(file)
	for _, ending := range []string{".yaml", ".yml"} {
		if name, ok := strings.CutSuffix(base, ending); ok {
			return name
		}
	}
	return base
}

// effective returns the tree with the experiment's workload below each
// database's own.
func (n *node) effective() *node {
	databases := n.get("databases")
	if databases == nil || databases.kind != list {
		return n
	}
	all := &node{kind: list, at: databases.at}
	for _, database := range databases.items {
		if database.kind == mapping {
			whole := *database
			whole.entries = append([]entry(nil), database.entries...)
			if workload := merged(n.get("workload"), database.get("workload")); workload != nil {
				whole.put("workload", workload.at, workload)
			}
			database = &whole
		}
		all.items = append(all.items, database)
	}
	whole := *n
	whole.entries = append([]entry(nil), n.entries...)
	whole.put("databases", databases.at, all)
	return &whole
}

// without leaves out the problems at or below the paths that were not read, as
// only a default stands there.
func without(problems []*Error, unread []string) []*Error {
	return slices.DeleteFunc(problems, func(p *Error) bool {
		return slices.ContainsFunc(unread, func(path string) bool {
			below, ok := strings.CutPrefix(p.Path, path)
			return ok && (path == "" || below == "" || below[0] == '.' || below[0] == '[')
		})
	})
}

// Locate returns where the value at the path stands, "write-1M.yaml:12:34" or
// "--set workload.requests=5", or else the nearest parent of it that stands
// anywhere. What a database inherits is found where it comes from. The path is
// as in [Error]; it is returned itself if the experiment was not read from a file.
func (e *Experiment) Locate(path string) string { return cmp.Or(e.at(path).String(), path) }

// Errorf returns the [*Error] that says so of the value at the path.
func (e *Experiment) Errorf(path, format string, args ...any) *Error {
	return e.at(path).errorf(path, format, args...)
}

func (e *Experiment) at(path string) position {
	if e.tree == nil {
		return position{}
	}
	return e.tree.locate(path)
}
