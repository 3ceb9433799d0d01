package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/schema"
)

// output is what bindings read of a step that has succeeded.
type output struct {
	value   any             // decoded
	raw     json.RawMessage // the same, as text
	mapping toolflow.Mapping
	notes   []string
	content any // the raw content blocks, when somebody reads them
}

// mapper makes a step's output from its result (rules R1 to R4).
type mapper struct {
	schema *schema.Schema // nil when none is known
	strict bool           // only structuredContent that fits
	lax    bool           // output that breaks its schema passes, with a note

	result toolflow.Result
	blocks []block // read when first needed
	read   bool
}

// block is one content block.
type block struct {
	Type string
	Text string
}

// output maps the result. A failure says what the strictest way found.
func (m *mapper) output() (output, *toolflow.Failure) {
	if m.schema == nil {
		return m.untyped()
	}
	if m.hasStructured() {
		return m.structured(m.result.Structured)
	}
	if m.result.Structured != nil && m.schema.Validate(nil) == nil {
		return output{raw: m.result.Structured, mapping: toolflow.MappingStructured}, nil
	}
	if m.strict {
		return output{}, invalidOutput("structuredContent is missing (needed with --strict)")
	}
	blocks, failure := m.content()
	if failure != nil {
		return output{}, failure
	}
	var why error = errors.New("there is no structuredContent, and the content is not one text block that holds JSON")
	var broken *output // JSON in the text that breaks the schema
	if len(blocks) == 1 && blocks[0].Type == "text" {
		v, err := toolflow.DecodeValue([]byte(blocks[0].Text))
		var bad *toolflow.ValueError
		if errors.As(err, &bad) && bad.Limit {
			return output{}, unreadable("the text's JSON", err)
		}
		if err == nil {
			out := output{value: v, raw: json.RawMessage(strings.TrimSpace(blocks[0].Text)), mapping: toolflow.MappingJSONText, notes: []string{"the output was read from the text: there is no structuredContent"}}
			if err = m.schema.Validate(v); err == nil {
				return out, nil
			}
			why, broken = fmt.Errorf("the text's JSON: %w", err), &out
		}
	}
	if out, ok := m.textProperty(nil); ok {
		return out, nil
	}
	if m.lax && broken != nil {
		broken.notes = append(broken.notes, "the output breaks its schema: "+why.Error())
		return *broken, nil
	}
	return output{}, invalidOutput(why.Error())
}

// structured maps structuredContent: as it is, or when it lacks the one text that the schema asks
// for, from the text.
func (m *mapper) structured(raw json.RawMessage) (output, *toolflow.Failure) {
	v, err := toolflow.DecodeValue(raw)
	if err != nil {
		return output{}, unreadable("structuredContent", err)
	}
	bad := m.schema.Validate(v)
	if bad == nil {
		return output{value: v, raw: raw, mapping: toolflow.MappingStructured}, nil
	}
	if object, ok := v.(map[string]any); ok && !m.strict {
		if out, ok := m.textProperty(object); ok {
			return out, nil
		}
	}
	if m.lax {
		return output{value: v, raw: raw, mapping: toolflow.MappingStructured, notes: []string{"the output breaks its schema: " + bad.Error()}}, nil
	}
	return output{}, invalidOutput(bad.Error())
}

// textProperty is rule R2(c): the schema wants an object with exactly one property, a string, and the
// text is it. structured is an object that must not have that property.
func (m *mapper) textProperty(structured map[string]any) (output, bool) {
	root := m.schema.Root()
	names := root.Properties()
	if len(names) != 1 || !only(root.Types(), "object") {
		return output{}, false
	}
	property, _ := root.Property(names[0])
	if _, has := structured[names[0]]; has || !only(property.Types(), "string") {
		return output{}, false
	}
	text, ok := m.text()
	if !ok || isContainer(text) {
		return output{}, false
	}
	v := map[string]any{names[0]: text}
	if m.schema.Validate(v) != nil {
		return output{}, false
	}
	note := fmt.Sprintf("the text was taken as %q, which the result does not name", names[0])
	return output{value: v, raw: toolflow.AppendValue(nil, v), mapping: toolflow.MappingTextProperty, notes: []string{note}}, true
}

func only(types []string, want string) bool { return len(types) == 1 && types[0] == want }

// untyped is rule R3: no output schema is known.
func (m *mapper) untyped() (output, *toolflow.Failure) {
	if raw := m.result.Structured; m.hasStructured() {
		v, err := toolflow.DecodeValue(raw)
		if err != nil {
			return output{}, unreadable("structuredContent", err)
		}
		return output{value: v, raw: raw, mapping: toolflow.MappingStructured}, nil
	}
	blocks, failure := m.content()
	if failure != nil {
		return output{}, failure
	}
	if text, ok := m.text(); ok {
		if len(blocks) == 1 && isContainer(text) {
			v, _ := toolflow.DecodeValue([]byte(text))
			return output{value: v, raw: json.RawMessage(strings.TrimSpace(text)), mapping: toolflow.MappingJSONText}, nil
		}
		return output{value: text, raw: toolflow.AppendValue(nil, text), mapping: toolflow.MappingText}, nil
	}
	content, err := contentValue(m.result)
	if err != nil {
		return output{}, unreadable("content", err)
	}
	v := map[string]any{"content": content}
	return output{value: v, raw: toolflow.AppendValue(nil, v), mapping: toolflow.MappingContent}, nil
}

// isContainer reports whether a text is one JSON object or array.
func isContainer(text string) bool {
	t := strings.TrimLeft(text, " \t\r\n")
	if t == "" || t[0] != '{' && t[0] != '[' {
		return false
	}
	_, err := toolflow.DecodeValue([]byte(text))
	return err == nil
}

// text joins the text blocks by line breaks; false when some content is no text, or there is none.
func (m *mapper) text() (string, bool) {
	blocks, failure := m.content()
	if failure != nil || len(blocks) == 0 {
		return "", false
	}
	texts := make([]string, len(blocks))
	for i, b := range blocks {
		if b.Type != "text" {
			return "", false
		}
		texts[i] = b.Text
	}
	return strings.Join(texts, "\n"), true
}

// content reads the result's content blocks, once.
func (m *mapper) content() ([]block, *toolflow.Failure) {
	if m.read {
		return m.blocks, nil
	}
	v, err := contentValue(m.result)
	if err != nil {
		return nil, unreadable("content", err)
	}
	for i, e := range v {
		object, ok := e.(map[string]any)
		kind, typed := object["type"].(string)
		text, hasText := object["text"].(string)
		switch {
		case !ok || !typed:
			return nil, &toolflow.Failure{Code: toolflow.CodeProtocol, Message: fmt.Sprintf("content[%d] is no content block with a type", i)}
		case kind == "text" && !hasText:
			return nil, &toolflow.Failure{Code: toolflow.CodeProtocol, Message: fmt.Sprintf("content[%d] is a text block without text", i)}
		}
		m.blocks = append(m.blocks, block{kind, text})
	}
	m.read = true
	return m.blocks, nil
}

// contentValue decodes a result's content; absent content is an empty array.
func contentValue(r toolflow.Result) ([]any, error) {
	if raw := bytes.TrimSpace(r.Content); len(raw) == 0 || string(raw) == "null" {
		return []any{}, nil
	}
	v, err := toolflow.DecodeValue(r.Content)
	if err != nil {
		return nil, err
	}
	blocks, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("must be an array, not %s", toolflow.KindOf(v))
	}
	return blocks, nil
}

// hasStructured reports whether there is structuredContent; a null counts as none.
func (m *mapper) hasStructured() bool {
	return m.result.Structured != nil && string(m.result.Structured) != "null"
}

// unreadable is a part of a result that toolflow cannot carry unchanged.
func unreadable(part string, err error) *toolflow.Failure {
	var v *toolflow.ValueError
	if errors.As(err, &v) && v.Limit {
		return &toolflow.Failure{Code: toolflow.CodeLimit, Message: part + ": " + err.Error()}
	}
	return &toolflow.Failure{Code: toolflow.CodeProtocol, Message: part + ": " + err.Error()}
}

func invalidOutput(why string) *toolflow.Failure {
	return &toolflow.Failure{Code: toolflow.CodeInvalidOutput, Message: "the output does not fit its schema: " + why}
}

// toolError is rule R1: the tool's own words.
func toolError(r toolflow.Result) *toolflow.Failure {
	m := mapper{result: r}
	message := "the tool reported an error without a text"
	if blocks, failure := m.content(); failure == nil {
		var texts []string
		for _, b := range blocks {
			if b.Type == "text" && b.Text != "" {
				texts = append(texts, b.Text)
			}
		}
		if len(texts) > 0 {
			message = strings.Join(texts, "\n")
		}
	}
	return &toolflow.Failure{Code: toolflow.CodeToolError, Message: message}
}
