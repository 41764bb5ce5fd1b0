package config

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A decoder fills structs from nodes, strictly: each key must be a field's json
// name, each value of the field's type. It goes on after a mistake.
type decoder struct {
	problems []*Error
	unread   []string        // paths of values that keep their defaults
	seen     map[string]bool // positions and messages, as databases share what they inherit
}

func (d *decoder) add(at position, path, format string, args ...any) {
	d.unread = append(d.unread, path)
	problem := at.errorf(path, format, args...)
	id := fmt.Sprint(at, problem.Msg)
	if !d.seen[id] {
		d.problems = append(d.problems, problem)
	}
	d.seen[id] = true
}

// wrong reports a value that is not what the key wants.
func (d *decoder) wrong(n *node, path, want string) {
	if n.kind == none {
		d.add(n.at, path, "no value; want %s, or leave out the key", want)
		return
	}
	d.add(n.at, path, "want %s, not %s", want, n)
}

// value fills v from n. What is wrong leaves v as it is.
func (d *decoder) value(n *node, path string, v reflect.Value) {
	if n.kind == unread {
		d.unread = append(d.unread, path)
		return
	}
	switch into := v.Addr().Interface().(type) {
	case *json.RawMessage:
		d.raw(n, path, into)
		return
	case *time.Duration:
		d.duration(n, path, into)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.fields(n, path, v)
	case reflect.Slice:
		d.list(n, path, v)
	case reflect.String:
		if n.kind != text {
			d.wrong(n, path, "text")
			return
		}
		v.SetString(n.scalar)
	case reflect.Int, reflect.Int64:
		d.whole(n, path, v)
	case reflect.Float64:
		f, err := strconv.ParseFloat(n.scalar, 64)
		if n.kind != number || err != nil {
			d.wrong(n, path, "a number")
			return
		}
		v.SetFloat(f)
	}
}

// fields fills a struct from a mapping. The struct's order decides, so that a
// mistake in the shared workload is reported as one, not as the database's.
func (d *decoder) fields(n *node, path string, v reflect.Value) {
	if n.kind != mapping {
		d.wrong(n, path, "a mapping")
		return
	}
	var known []string
	for i := range v.NumField() {
		name := jsonName(v.Type().Field(i))
		if name == "" {
			continue
		}
		known = append(known, name)
		if child := n.get(name); child != nil {
			d.value(child, below(path, name), v.Field(i))
		}
	}
	for _, e := range n.entries {
		if !slices.Contains(known, e.key) {
			d.add(e.at, below(path, e.key), "unknown key; %s", suggest(e.key, known))
		}
	}
}

// list fills a slice. A single number stands for a list of one.
func (d *decoder) list(n *node, path string, v reflect.Value) {
	element := v.Type().Elem()
	one := map[reflect.Kind]string{reflect.Int: "a whole number", reflect.Float64: "a number"}[element.Kind()]
	single := n.kind == number && one != ""
	switch {
	case single:
		n = &node{kind: list, items: []*node{n}, at: n.at}
	case n.kind != list && one != "":
		d.wrong(n, path, one+" or a list of them")
		return
	case n.kind != list:
		d.wrong(n, path, "a list")
		return
	}
	items := reflect.Zero(v.Type())
	for i, item := range n.items {
		to := reflect.New(element).Elem()
		if database, ok := reflect.TypeAssert[*Database](to.Addr()); ok {
			database.Workload = defaultWorkload()
		}
		itemPath := fmt.Sprintf("%s[%d]", path, i)
		if single {
			itemPath = path
		}
		d.value(item, itemPath, to)
		items = reflect.Append(items, to)
	}
	v.Set(items)
}

// whole fills an integer; 1e6 is one.
func (d *decoder) whole(n *node, path string, v reflect.Value) {
	i, err := strconv.ParseInt(n.scalar, 10, 64)
	if err != nil {
		// Beyond 2^53 a float no longer tells every integer from the next.
		f, floatErr := strconv.ParseFloat(n.scalar, 64)
		if floatErr == nil && f == math.Trunc(f) && math.Abs(f) <= 1<<53 {
			i, err = int64(f), nil
		}
	}
	if n.kind != number || err != nil || v.OverflowInt(i) {
		d.wrong(n, path, "a whole number")
		return
	}
	v.SetInt(i)
}

func (d *decoder) duration(n *node, path string, into *time.Duration) {
	parsed, err := time.ParseDuration(n.scalar)
	if n.kind != text || err != nil {
		d.wrong(n, path, "a duration with its unit, such as 500ms or 5s")
		return
	}
	if parsed == 0 {
		d.add(n.at, path, "want more than %s, or leave out the key", n.scalar)
		return
	}
	*into = parsed
}

// raw hands a mapping on as JSON.
func (d *decoder) raw(n *node, path string, into *json.RawMessage) {
	if n.kind != mapping {
		d.wrong(n, path, "a mapping")
		return
	}
	data, err := n.raw()
	if err != nil {
		d.add(n.at, path, "%v", err)
		return
	}
	*into = data
}

// String tells what the value is, as an error message does.
func (n *node) String() string {
	const longest = 40
	scalar := n.scalar
	if len(scalar) > longest {
		scalar = strings.ToValidUTF8(scalar[:longest], "") + "…"
	}
	switch n.kind {
	case text:
		return fmt.Sprintf("the text %q", scalar)
	case number, boolean:
		return scalar
	case none, mapping, list, unread:
	}
	return string(n.kind)
}

// jsonName returns the key of a struct's field; empty if it has none.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" || !f.IsExported() {
		return ""
	}
	return name
}

// join2 appends a key to a path.
func below(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
