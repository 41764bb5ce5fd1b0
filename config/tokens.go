package config

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/token"
)

// check refuses what the parser does not do well with: several documents, of
// which it drops some; tabs, which it drops too; and deep nesting, of which it
// takes the square in memory.
func check(tokens token.Tokens) error {
	d := &document{}
	for _, t := range tokens {
		if msg := d.token(t); msg != "" {
			return &yaml.SyntaxError{Message: msg, Token: t}
		}
	}
	return nil
}

// A document is what the tokens of a file have come to.
type document struct {
	begun, ended bool
	brackets     int // that are open
	line, inLine int // collections that began in this line
}

// token takes the next one, and returns why it is refused, if it is.
func (d *document) token(t *token.Token) string {
	if t.Type == token.CommentType {
		return ""
	}
	if d.ended || t.Type == token.DirectiveType || d.begun && t.Type == token.DocumentHeaderType {
		return "a file holds one experiment; leave out --- and % lines"
	}
	d.begun, d.ended = true, t.Type == token.DocumentEndType
	if t.Type == token.StringType && strings.Contains(strings.TrimSpace(t.Origin), "\t") {
		return noTabs
	}
	if d.depth(t) > maxDepth {
		return fmt.Sprintf("values are nested more than %d deep", maxDepth)
	}
	return ""
}

// depth returns how deep the token can be nested; by indentation alone it is
// only as deep as a short file can be indented, which is not counted.
func (d *document) depth(t *token.Token) int {
	if t.Position.Line != d.line {
		d.line, d.inLine = t.Position.Line, 0
	}
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		d.brackets++
	case token.SequenceEndType, token.MappingEndType:
		d.brackets--
	case token.SequenceEntryType, token.MappingKeyType, token.TagType, token.AnchorType:
		d.inLine++
	default:
	}
	return max(d.brackets, d.inLine)
}
