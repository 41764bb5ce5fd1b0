package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A kind is what a value of the file is. It prints as an error message calls it.
type kind string

const (
	none    kind = "nothing"
	boolean kind = "true or false"
	number  kind = "a number"
	text    kind = "text"
	mapping kind = "a mapping"
	list    kind = "a list"
	unread  kind = "unreadable" // and reported already
)

// A node is one value of the file, or of an override, and where it stands.
type node struct {
	kind    kind
	scalar  string // of a boolean, text, or a number as JSON writes it
	entries []entry
	items   []*node
	at      position
}

// An entry is one key of a mapping, with its value.
type entry struct {
	key   string
	at    position
	value *node
}

// get returns the value of the key, or nil.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for _, e := range n.entries {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

// put gives the key a value, in the place of an older one if there is one.
func (n *node) put(key string, at position, value *node) {
	for i := range n.entries {
		if n.entries[i].key == key {
			n.entries[i] = entry{key, at, value}
			return
		}
	}
	n.entries = append(n.entries, entry{key, at, value})
}

// step goes to the value that the first part of the path names: "[2]" or
// "[name]" in a list, a key in a mapping. A key may have dots of its own, so
// the longest that fits is taken. It returns the place that holds the value and
// the rest of the path; the place is nil if there is no such value.
func (n *node) step(path string) (place **node, rest string) {
	if inside, ok := strings.CutPrefix(path, "["); ok {
		name, rest, closed := strings.Cut(inside, "]")
		if !closed {
			return nil, path
		}
		return n.item(name), strings.TrimPrefix(rest, ".")
	}
	longest := -1
	for i := range n.entries {
		key := n.entries[i].key
		after, ok := strings.CutPrefix(path, key)
		if ok && len(key) > longest && (after == "" || after[0] == '.' || after[0] == '[') {
			longest, place, rest = len(key), &n.entries[i].value, strings.TrimPrefix(after, ".")
		}
	}
	return place, rest
}

// item returns the place of the list's value with that name or index, or nil.
func (n *node) item(name string) **node {
	for i := range n.items {
		if own := n.items[i].get("name"); own != nil && own.kind == text && own.scalar == name {
			return &n.items[i]
		}
	}
	i, err := strconv.Atoi(name)
	if err != nil || i < 0 || i >= len(n.items) {
		return nil
	}
	return &n.items[i]
}

// locate returns where the value at the path stands, or the nearest parent of
// it that is there.
func (n *node) locate(path string) position {
	for path != "" {
		place, rest := n.step(path)
		if place == nil {
			break
		}
		n, path = *place, rest
	}
	return n.at
}

// alternative returns the key of a workload or warm-up that takes the place of
// the key: there is one of them. It is empty for keys that stand by themselves.
func alternative(key string) string {
	switch key {
	case "requests":
		return "duration"
	case "duration":
		return "requests"
	}
	return ""
}

// merged returns the workload base with the keys of own over it, level by level.
// Each value keeps the position it came from.
func merged(base, own *node) *node {
	switch {
	case own == nil:
		return base
	case base == nil, base.kind != mapping, own.kind != mapping:
		return own
	}
	sum := &node{kind: mapping, at: own.at}
	for _, e := range base.entries {
		if other := alternative(e.key); other == "" || own.get(other) == nil {
			sum.entries = append(sum.entries, e)
		}
	}
	for _, e := range own.entries {
		sum.put(e.key, e.at, merged(base.get(e.key), e.value))
	}
	return sum
}

// raw writes the value as JSON.
func (n *node) raw() (json.RawMessage, error) {
	var b bytes.Buffer
	if err := n.writeJSON(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (n *node) writeJSON(b *bytes.Buffer) error {
	switch n.kind {
	case none, unread:
		b.WriteString("null")
	case boolean, number:
		b.WriteString(n.scalar)
	case text:
		return writeText(b, n.scalar)
	case list:
		return writeAll(b, '[', ']', len(n.items), func(i int) error { return n.items[i].writeJSON(b) })
	case mapping:
		return writeAll(b, '{', '}', len(n.entries), func(i int) error {
			if err := writeText(b, n.entries[i].key); err != nil {
				return err
			}
			b.WriteByte(':')
			return n.entries[i].value.writeJSON(b)
		})
	}
	return nil
}

func writeText(b *bytes.Buffer, s string) error {
	quoted, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write %q as JSON: %w", s, err)
	}
	b.Write(quoted)
	return nil
}

// writeAll writes n things between brackets, with commas between them.
func writeAll(b *bytes.Buffer, left, right byte, n int, write func(int) error) error {
	b.WriteByte(left)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := write(i); err != nil {
			return err
		}
	}
	b.WriteByte(right)
	return nil
}
