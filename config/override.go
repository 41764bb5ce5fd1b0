package config

import "strings"

// override puts what a --set flag says into the tree. Whether the key exists
// and takes the value is found out when the tree is decoded.
func (n *node) override(set string) []*Error {
	flag := &source{file: "--set " + set, flag: true}
	path, value, ok := strings.Cut(set, "=")
	if path = strings.TrimSpace(path); !ok || path == "" {
		return []*Error{flag.at(nil).errorf("", "want path=value, such as workload.requests=20000")}
	}
	v := flag.parse([]byte(value))
	if v == nil {
		return flag.problems
	}
	if err := n.set(path, v); err != nil {
		return append(flag.problems, err)
	}
	other := alternativePath(path)
	n.removeExactly(other)
	if path == "workload" || strings.HasPrefix(path, "workload.") {
		// Who says workload.requests=1000 wants 1000 everywhere.
		for _, database := range n.get("databases").list() {
			database.remove(path)
			database.remove(other)
		}
	}
	return flag.problems
}

// alternativePath returns the path of the key whose place the path's key takes,
// in a workload; else nothing.
func alternativePath(path string) string {
	dot := strings.LastIndex(path, ".")
	_, within, ok := strings.Cut(path, "].workload.")
	if !ok {
		within, ok = strings.CutPrefix(path, "workload.")
	}
	// Options may have keys of these names.
	if !ok || strings.Count(within, ".") > 1 || alternative(path[dot+1:]) == "" {
		return ""
	}
	return path[:dot+1] + alternative(path[dot+1:])
}

// list returns the values of a list; none of anything else.
func (n *node) list() []*node {
	if n == nil {
		return nil
	}
	return n.items
}

// set puts the value at the path, and makes the mappings that lead to it.
func (n *node) set(path string, value *node) *Error {
	for rest := path; ; {
		place, after := n.step(rest)
		switch {
		case place != nil && after == "":
			*place = value
			return nil
		case place != nil:
			n, rest = *place, after
			continue
		case strings.HasPrefix(rest, "["):
			return value.at.errorf("", "there is no %s; %s", path, n.choice())
		case n.kind == none:
			*n = node{kind: mapping, at: value.at}
		case n.kind != mapping:
			return value.at.errorf("", "%s has no keys below it: it is %s", strings.TrimSuffix(strings.TrimSuffix(path, rest), "."), n)
		}
		key, after, deeper := strings.Cut(rest, ".")
		if !deeper {
			n.put(key, value.at, value)
			return nil
		}
		child := &node{kind: mapping, at: value.at}
		n.put(key, value.at, child)
		n, rest = child, after
	}
}

// choice tells what an index can choose from.
func (n *node) choice() string {
	if n.kind != list {
		return "only a list takes an index, and this is " + n.String()
	}
	var names []string
	for _, item := range n.items {
		if name := item.get("name"); name != nil && name.kind == text {
			names = append(names, "["+name.scalar+"]")
		}
	}
	if len(names) == 0 {
		return "the list has other lengths"
	}
	return "choose one of " + strings.Join(names, ", ")
}

// remove takes the value at the path out of the tree; an index in it means the
// whole list.
func (n *node) remove(path string) {
	path, _, _ = strings.Cut(path, "[")
	n.removeExactly(path)
}

func (n *node) removeExactly(path string) {
	for path != "" {
		place, rest := n.step(path)
		if place == nil {
			return
		}
		if rest == "" {
			n.drop(*place)
			return
		}
		n, path = *place, rest
	}
}

// drop takes the entry with that value out of the mapping.
func (n *node) drop(value *node) {
	kept := n.entries[:0]
	for _, e := range n.entries {
		if e.value != value {
			kept = append(kept, e)
		}
	}
	n.entries = kept
}
