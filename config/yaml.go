package config

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	// maxBytes and maxDepth bound the time and memory a file can cost: the YAML
	// library takes the square of the depth.
	maxBytes = 64 << 10
	maxDepth = 50
)

// decimal is how a number is written: as in JSON, with a sign. Every reader of
// YAML agrees on these, while 010, 0x10 and 1_000 are read in several ways.
var decimal = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// A source is one YAML text: a file, or the value of a --set flag.
type source struct {
	file     string
	flag     bool // positions name the flag, which has no lines
	depth    int
	problems []*Error
}

// parse reads the source's one YAML document. It returns nil, and problems, if
// there is no such document; problems of single values leave the rest readable.
func (s *source) parse(data []byte) *node {
	if err := s.readable(data); err != nil {
		s.problems = append(s.problems, err)
		return nil
	}
	file, err := parse(data)
	if err != nil {
		s.problems = append(s.problems, s.syntax(err))
		return nil
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return &node{kind: none, at: s.at(nil)}
	}
	return s.node(file.Docs[0].Body)
}

// readable refuses what cannot be a text of sensible size.
func (s *source) readable(data []byte) *Error {
	if len(data) > maxBytes {
		return s.at(nil).errorf("", "%d bytes are too many for an experiment; at most %d are read", len(data), maxBytes)
	}
	for i, line := range bytes.Split(data, []byte("\n")) {
		if !utf8.Valid(line) {
			return s.line(i+1).errorf("", "this line is not UTF-8 text")
		}
	}
	return nil
}

// parse calls the YAML library, which ends with a panic on a few malformed
// texts: that is a mistake in the file too, not the end of the program.
func parse(data []byte) (file *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			file, err = nil, fmt.Errorf("this is no YAML that can be read: %v", p)
		}
	}()
	tokens := lexer.Tokenize(string(data))
	if err := check(tokens); err != nil {
		return nil, err
	}
	return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
}

// syntax turns an error of the YAML library into ours.
func (s *source) syntax(err error) *Error {
	if known, ok := errors.AsType[yaml.Error](err); ok {
		msg := known.GetMessage()
		if strings.Contains(msg, "'\t'") {
			msg = noTabs
		}
		return s.at(known.GetToken()).errorf("", "%s", msg)
	}
	return s.at(nil).errorf("", "%s", err.Error())
}

// at returns where a token stands.
func (s *source) at(t *token.Token) position {
	switch {
	case s.flag:
		return position{file: s.file}
	case t == nil || t.Position == nil:
		return s.line(1)
	}
	return position{s.file, t.Position.Line, t.Position.Column}
}

// line returns where a line begins.
func (s *source) line(number int) position {
	if s.flag {
		return position{file: s.file}
	}
	return position{s.file, number, 1}
}

func (s *source) problem(n ast.Node, format string, args ...any) {
	s.problems = append(s.problems, s.at(n.GetToken()).errorf("", format, args...))
}

// node turns a value of the YAML library into ours. What an experiment has no
// use for is a problem, and reads as nothing.
func (s *source) node(n ast.Node) *node {
	s.depth++
	defer func() { s.depth-- }()
	if s.depth > maxDepth {
		s.problem(n, "values are nested more than %d deep", maxDepth)
		return &node{kind: unread, at: s.at(n.GetToken())}
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return s.mapping(n.GetToken(), n.Values)
	case *ast.MappingValueNode:
		return s.mapping(n.GetToken(), []*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		items := &node{kind: list, at: s.at(n.GetToken())}
		for _, item := range n.Values {
			items.items = append(items.items, s.node(item))
		}
		return items
	case *ast.LiteralNode:
		return &node{kind: text, scalar: n.Value.Value, at: s.at(n.GetToken())}
	}
	return s.scalar(n)
}

// mapping reads the keys of a mapping. Its own position is that of its first key.
func (s *source) mapping(start *token.Token, values []*ast.MappingValueNode) *node {
	m := &node{kind: mapping, at: s.at(start)}
	seen := map[string]position{}
	for i, v := range values {
		at := s.at(v.Key.GetToken())
		if i == 0 {
			m.at = at
		}
		key, ok := s.key(v.Key)
		if !ok {
			continue
		}
		if first, twice := seen[key]; twice {
			s.problem(v.Key, "duplicate key %q; it stands in line %d already", key, first.line)
			continue
		}
		seen[key] = at
		value := s.node(v.Value)
		if value.kind == mapping || value.kind == list {
			value.at = at
		}
		m.entries = append(m.entries, entry{key, at, value})
	}
	return m
}

// key returns the text of a key.
func (s *source) key(n ast.MapKeyNode) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		if utf8.ValidString(n.Value) {
			return n.Value, true
		}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return n.GetToken().Value, true
	case *ast.MergeKeyNode, *ast.AnchorNode, *ast.AliasNode:
		s.problem(n, "%s", noAnchors)
		return "", false
	}
	s.problem(n, "a key must be a plain word")
	return "", false
}

// scalar reads a single value.
func (s *source) scalar(n ast.Node) *node {
	v := &node{kind: unread, at: s.at(n.GetToken())}
	switch n := n.(type) {
	case *ast.NullNode:
		v.kind = none
	case *ast.BoolNode:
		v.kind, v.scalar = boolean, strconv.FormatBool(n.Value)
	case *ast.IntegerNode, *ast.FloatNode:
		if written := n.GetToken().Value; !v.number(written) {
			s.problem(n, "write the number %s in decimal, as in 10 or 2.5, or put it in quotes if it is text", written)
		}
	case *ast.StringNode:
		switch {
		case n.Token.Type == token.StringType && v.number(n.Value):
		case !utf8.ValidString(n.Value):
			s.problem(n, "this is not UTF-8 text")
		default:
			v.kind, v.scalar = text, n.Value
		}
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		s.problem(n, "%s", noAnchors)
	case *ast.TagNode:
		s.problem(n, "tags such as !!str are not supported; put text in quotes")
	default:
		s.problem(n, "%s has no place in an experiment", strings.ToLower(n.Type().String()))
	}
	return v
}

const (
	noTabs    = "a tab cannot stand here; use spaces, or \\t in double quotes"
	noAnchors = "anchors, aliases and << are not supported; write the value out (a database inherits the experiment's workload)"
)

// number makes v the number that the text writes, and reports whether it is one.
func (v *node) number(written string) bool {
	if !decimal.MatchString(written) {
		return false
	}
	if _, err := strconv.ParseFloat(written, 64); err != nil {
		return false
	}
	v.kind, v.scalar = number, strings.TrimPrefix(written, "+")
	return true
}
