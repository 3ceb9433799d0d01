package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/toolflow-go/toolflow"
)

// A Schema is a compiled JSON Schema. It does not change and is safe for concurrent use.
type Schema struct {
	raw      json.RawMessage
	doc      any // raw, decoded
	dialect  *dialect
	set      settings
	index    *index
	warnings []string
	graph    *evaluator // for lookups; also the first of idle

	mu   sync.Mutex
	idle []*evaluator // not in use by a Validate
}

// Compile compiles one schema text with the default limits. Its errors are [*Error].
func Compile(raw json.RawMessage) (*Schema, error) { return CompileWith(raw, Options{}) }

// CompileWith is [Compile] with other limits.
func CompileWith(raw json.RawMessage, o Options) (*Schema, error) {
	return compile(raw, settings{Options: o.withDefaults(), dialect: draft2020})
}

func compile(raw json.RawMessage, set settings) (*Schema, error) {
	doc, err := decode(raw, set)
	if err != nil {
		return nil, err
	}
	s := &Schema{raw: bytes.Clone(raw), doc: doc, set: set}
	if s.dialect, err = rootDialect(doc, set.dialect); err != nil {
		if set.load == nil {
			return nil, err
		}
		s.dialect = set.dialect // a dialect of the suite's own, which it loads
	}
	if s.index, err = readIndex(doc, s.dialect, set); err != nil {
		return nil, err
	}
	if s.graph, err = s.build(); err != nil {
		return nil, err
	}
	if err := findCircle(s.graph.nodes, s.index.single()); err != nil {
		return nil, err
	}
	s.warnings = uncheckedPatterns(s.graph)
	s.idle = []*evaluator{s.graph}
	return s, nil
}

// decode reads the text of a schema within its limits.
func decode(raw json.RawMessage, set settings) (any, error) {
	if len(raw) > set.MaxBytes {
		return nil, &Error{Kind: KindLimit, Message: fmt.Sprintf("schema of %d bytes is larger than %d", len(raw), set.MaxBytes)}
	}
	if toolflow.Depth(raw) > toolflow.MaxDepth {
		return nil, &Error{Kind: KindLimit, Message: fmt.Sprintf("schema text is nested more than %d levels deep", toolflow.MaxDepth)}
	}
	doc, err := toolflow.DecodeValue(raw)
	var bad *toolflow.ValueError
	if errors.As(err, &bad) {
		return nil, &Error{Kind: KindSyntax, Pointer: bad.Pointer, Message: bad.Message, Err: err}
	} else if err != nil {
		return nil, &Error{Kind: KindSyntax, Message: err.Error(), Err: err}
	}
	if err := new(weight).add(doc); err != nil {
		return nil, err
	}
	switch doc.(type) {
	case bool, map[string]any:
		return doc, nil
	}
	return nil, &Error{Kind: KindInvalid, Message: fmt.Sprintf("got %s, want a schema: an object, true or false", describe(doc))}
}

// Raw gives the text that was compiled. It must not be changed.
func (s *Schema) Raw() json.RawMessage { return s.raw }

// Dialect names the version of JSON Schema: "2020-12", "2019-09" or "draft-07".
func (s *Schema) Dialect() string { return s.dialect.name }

// Warnings tells, sorted by place, what of the schema is not checked.
func (s *Schema) Warnings() []string { return slices.Clone(s.warnings) }
