package toolflow

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// yamlToJSON turns one YAML document into JSON text by JSON's own rules for scalars, so that it is
// read by the same reader. Aliases are expanded within [MaxDocumentBytes].
func yamlToJSON(text []byte) (source, []byte, *Diagnostic) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var root, second yaml.Node
	if err := dec.Decode(&root); err != nil {
		return nil, nil, yamlError(err)
	}
	if err := dec.Decode(&second); err == nil {
		return nil, nil, &Diagnostic{Severity: SeverityError, Code: "parse", Line: second.Line, Column: second.Column,
			Message: "the file holds a second YAML document", Hint: "a plan is one document: leave out the part after ---"}
	} else if !errors.Is(err, io.EOF) {
		return nil, nil, yamlError(err)
	}
	c := &yamlConverter{limit: max(16<<20, 10*len(text))}
	node := &root
	if node.Kind == yaml.DocumentNode && len(node.Content) == 1 {
		node = node.Content[0]
	}
	if node.Kind != yaml.MappingNode {
		return nil, nil, &Diagnostic{Severity: SeverityError, Code: "parse", Line: max(node.Line, 1), Column: max(node.Column, 1),
			Message: "the document is not a mapping", Hint: `it needs "tools:" or "steps:"`}
	}
	if diag := c.value(node, 0); diag != nil {
		return nil, nil, diag
	}
	return yamlSource{node}, c.out, nil
}

var yamlPlace = regexp.MustCompile(`line (\d+)(?:, column (\d+))?`)

func yamlError(err error) *Diagnostic {
	d := &Diagnostic{Severity: SeverityError, Code: "parse"}
	if errors.Is(err, io.EOF) {
		d.Message, d.Hint = "the document is empty", `it needs "tools:" or "steps:"`
		return d
	}
	message := err.Error()
	if m := yamlPlace.FindStringSubmatch(message); m != nil {
		d.Line, _ = strconv.Atoi(m[1])
		d.Column, _ = strconv.Atoi(m[2])
		d.Column = max(d.Column, 1)
	}
	if i := strings.LastIndex(message, "\n"); i >= 0 {
		message = message[i+1:]
	}
	d.Message = "not YAML: " + strings.TrimSpace(strings.TrimPrefix(message, "yaml: "))
	return d
}

// yamlConverter writes nodes as JSON text.
type yamlConverter struct {
	out   []byte
	limit int // of out, so that aliases of aliases end early
}

func (c *yamlConverter) value(n *yaml.Node, depth int) *Diagnostic {
	switch {
	case depth > MaxDocumentDepth:
		return yamlFault(n, "limit", fmt.Sprintf("the document is nested more than %d levels deep", MaxDocumentDepth))
	case len(c.out) > c.limit:
		return yamlFault(n, "limit", "the document is too large with its aliases written out")
	case n.Style&yaml.TaggedStyle != 0 && n.Tag != "!!str" && n.Tag != "!!map" && n.Tag != "!!seq":
		return yamlFault(n, "parse", fmt.Sprintf("the tag %s has no meaning in a plan", n.Tag))
	}
	switch n.Kind {
	case yaml.AliasNode:
		return c.value(n.Alias, depth+1)
	case yaml.ScalarNode:
		c.out = append(c.out, scalarJSON(n)...)
		return nil
	case yaml.SequenceNode:
		return c.list('[', ']', n.Content, func(e *yaml.Node) *Diagnostic { return c.value(e, depth+1) })
	case yaml.MappingNode:
		return c.mapping(n, depth)
	}
	return yamlFault(n, "parse", "this YAML has no JSON form")
}

func (c *yamlConverter) list(open, end byte, nodes []*yaml.Node, each func(*yaml.Node) *Diagnostic) *Diagnostic {
	c.out = append(c.out, open)
	for i, e := range nodes {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		if diag := each(e); diag != nil {
			return diag
		}
	}
	c.out = append(c.out, end)
	return nil
}

func (c *yamlConverter) mapping(n *yaml.Node, depth int) *Diagnostic {
	seen := make(map[string]bool, len(n.Content)/2)
	keys := make([]*yaml.Node, 0, len(n.Content)/2)
	values := make(map[*yaml.Node]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode:
			return yamlFault(key, "parse", "a member's name must be a string")
		case key.Value == "<<" && key.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0:
			return yamlFault(key, "parse", "merge keys (<<) have no meaning in a plan")
		case seen[key.Value]:
			return yamlFault(key, "duplicate", fmt.Sprintf("member %q stands twice", key.Value))
		}
		seen[key.Value] = true
		keys, values[key] = append(keys, key), n.Content[i+1]
	}
	return c.list('{', '}', keys, func(key *yaml.Node) *Diagnostic {
		c.out = append(appendString(c.out, key.Value), ':')
		return c.value(values[key], depth+1)
	})
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// scalarJSON reads an unquoted scalar by JSON's rules: null, true, false and numbers are themselves,
// everything else is a string. So 017 and 2020-01-01 stay what people typed.
func scalarJSON(n *yaml.Node) []byte {
	plain := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) == 0
	switch {
	case !plain:
	case n.Value == "" || n.Value == "~":
		return []byte("null")
	case n.Value == "null" || n.Value == "true" || n.Value == "false" || jsonNumber.MatchString(n.Value):
		return []byte(n.Value)
	}
	return appendString(nil, n.Value)
}

func yamlFault(n *yaml.Node, code, message string) *Diagnostic {
	return &Diagnostic{Severity: SeverityError, Code: code, Line: n.Line, Column: n.Column, Message: message}
}

// yamlSource locates in a YAML document: a member by its key, an element by its value.
type yamlSource struct{ root *yaml.Node }

func (s yamlSource) locate(pointers []string) map[string]place {
	places := map[string]place{}
	root := wanted(pointers)
	root.mark(places, place{s.root.Line, s.root.Column})
	walkYAML(s.root, root, places)
	return places
}

func walkYAML(n *yaml.Node, w *want, places map[string]place) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if len(w.next) == 0 {
		return
	}
	visit := func(token string, at, value *yaml.Node) {
		if child := w.next[token]; child != nil {
			child.mark(places, place{at.Line, at.Column})
			walkYAML(value, child, places)
		}
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			visit(EscapePointer(n.Content[i].Value), n.Content[i], n.Content[i+1])
		}
	case yaml.SequenceNode:
		for i, e := range n.Content {
			visit(strconv.Itoa(i), e, e)
		}
	}
}
