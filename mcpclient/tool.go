package mcpclient

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolflow-go/toolflow"
)

// parseTool reads a tool of a tools/list. Its schemas and Raw are bytes of raw. notes say what was left
// out of a tool that is otherwise fine. The name is read in any case, when there is one.
func parseTool(raw []byte) (tool toolflow.Tool, notes []string, err error) {
	tool.Raw = raw
	var meta, dependencies []byte
	read := func(name string, value []byte) error {
		switch name {
		case "name":
			return optionalText(&tool.Name, name, value)
		case "title":
			return people(&tool.Title, name, value)
		case "description":
			return people(&tool.Description, name, value)
		case "inputSchema":
			if value[0] != '{' {
				return fmt.Errorf("%s is no object but %s", name, kindOf(value))
			}
			tool.InputSchema = value
		case "outputSchema":
			if v := string(value); value[0] != '{' && v != "true" && v != "false" {
				return fmt.Errorf("%s is no JSON Schema but %s", name, kindOf(value))
			}
			tool.OutputSchema = value
		case "annotations":
			return parseAnnotations(&tool.Annotations, value)
		case "dependencies":
			dependencies = value
		case "ui":
			tool.UI = value
		case "_meta":
			meta = value
		}
		return nil
	}
	var first error
	err = members(raw, func(name string, value []byte) error {
		if err := read(name, value); err != nil && first == nil {
			first = err
		}
		return nil
	})
	if err == nil {
		err = first
	}
	switch {
	case err != nil && tool.Name != "":
		return tool, nil, fmt.Errorf("%q: %w", toolflow.Clip(tool.Name, 80), err)
	case err != nil:
		return tool, nil, err
	case tool.Name == "":
		return tool, nil, fmt.Errorf("it has no name: %s", toolflow.Clip(string(raw), 80))
	}
	if dependencies == nil {
		dependencies = underMeta(meta, "dependencies")
	}
	if tool.UI == nil {
		tool.UI = underMeta(meta, "ui")
	}
	if dependencies != nil {
		d, err := parseDependencies(dependencies)
		if err != nil {
			notes = append(notes, fmt.Sprintf("tool %q: its dependencies are not read: %v", toolflow.Clip(tool.Name, 80), err))
		}
		tool.Dependencies = d
	}
	return tool, notes, nil
}

// underMeta gives the member of _meta with this key, else the first by name whose key ends so after a
// slash: what the protocol does not know is often published there.
func underMeta(meta []byte, key string) []byte {
	found := map[string][]byte{}
	members(meta, func(name string, value []byte) error {
		if name == key || strings.HasSuffix(name, "/"+key) {
			found[name] = value
		}
		return nil
	})
	if v, ok := found[key]; ok {
		return v
	}
	for _, name := range sortedNames(found) {
		return found[name]
	}
	return nil
}

// optionalText reads an optional string; null is like none.
func optionalText(into *string, name string, value []byte) error {
	s, ok := str(value)
	if !ok && string(value) != "null" {
		return fmt.Errorf("%s is no string but %s", name, kindOf(value))
	}
	*into = s
	return nil
}

// people reads an optional string that only people see: characters that are none, such as half an
// emoji where a text was cut, are replaced.
func people(into *string, name string, value []byte) error {
	if len(value) > 0 && value[0] == '"' {
		text, _ := jsontext.AppendUnquote(nil, value)
		*into = strings.ToValidUTF8(string(text), "\ufffd")
		return nil
	}
	return optionalText(into, name, value)
}

// parseAnnotations is strict: a hint of the wrong type may have meant "this destroys".
func parseAnnotations(a *toolflow.Annotations, raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	hints := map[string]**bool{"readOnlyHint": &a.ReadOnly, "destructiveHint": &a.Destructive,
		"idempotentHint": &a.Idempotent, "openWorldHint": &a.OpenWorld}
	err := members(raw, func(name string, value []byte) error {
		if name == "title" {
			return optionalText(&a.Title, "title", value)
		}
		hint := hints[name]
		if hint == nil || string(value) == "null" {
			return nil
		}
		v := string(value) == "true"
		if !v && string(value) != "false" {
			return fmt.Errorf("%s is no boolean but %s", name, kindOf(value))
		}
		*hint = &v
		return nil
	})
	if err != nil {
		return fmt.Errorf("annotations: %w", err)
	}
	return nil
}

// parseDependencies reads {requires: [names], bindings: {input: source}}. Unknown members are left
// aside: the server may know more than this version.
func parseDependencies(raw []byte) (*toolflow.Dependencies, error) {
	d := &toolflow.Dependencies{}
	err := members(raw, func(name string, value []byte) error {
		switch name {
		case "requires":
			d.Requires = []string{}
			return elements(value, func(value []byte) error {
				s, ok := str(value)
				if !ok {
					return fmt.Errorf("requires holds %s instead of a name", kindOf(value))
				}
				d.Requires = append(d.Requires, s)
				return nil
			})
		case "bindings":
			return members(value, func(input string, value []byte) error {
				b, err := parseBinding(input, value)
				if err != nil {
					return fmt.Errorf("binding %q: %w", toolflow.Clip(input, 80), err)
				}
				d.Bindings = append(d.Bindings, b)
				return nil
			})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

func parseBinding(input string, raw []byte) (toolflow.Binding, error) {
	b := toolflow.Binding{Input: input}
	texts := map[string]*string{"fromTool": &b.FromTool, "outputPath": &b.OutputPath, "contentPath": &b.ContentPath,
		"fromInput": &b.FromInput, "take": &b.Take}
	err := members(raw, func(name string, value []byte) error {
		switch name {
		case "optional":
			b.Optional = string(value) == "true"
		case "default":
			b.Default = value
		case "value":
			b.Value = value
		default:
			if into := texts[name]; into != nil {
				return optionalText(into, name, value)
			}
		}
		return nil
	})
	sources := []bool{b.FromTool != "", b.FromInput != "", b.Value != nil}
	sources = slices.DeleteFunc(sources, func(given bool) bool { return !given })
	if err == nil && len(sources) != 1 {
		err = fmt.Errorf("it names %d sources, not one", len(sources))
	}
	return b, err
}
