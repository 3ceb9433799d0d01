package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/toolflow-go/toolflow"
)

// clipAt is how many bytes of a value a message shows.
const clipAt = 60

// show gives a value as JSON, clipped.
func show(v any) string {
	switch v := v.(type) {
	case string:
		return string(toolflow.AppendValue(nil, toolflow.Clip(v, clipAt)))
	case nil, bool, json.Number, []any, map[string]any:
		if !small(v, 20) {
			return kindOf(v)
		}
		return toolflow.Clip(string(toolflow.AppendValue(nil, v)), clipAt)
	}
	return toolflow.Clip(fmt.Sprint(v), clipAt)
}

// small reports whether v holds at most n values of JSON types.
func small(v any, n int) bool {
	left := n
	var count func(v any) bool
	count = func(v any) bool {
		if left--; left < 0 {
			return false
		}
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				if !count(e) {
					return false
				}
			}
		case map[string]any:
			for _, e := range v {
				if !count(e) {
					return false
				}
			}
		case nil, bool, string, json.Number:
		default:
			return false
		}
		return true
	}
	return count(v)
}

// describe gives a scalar as JSON, clipped, and only the kind of an array or object.
func describe(v any) string {
	switch v.(type) {
	case []any, map[string]any:
		return kindOf(v)
	}
	return show(v)
}

// kindOf names the JSON type of a value; Go's own numbers are numbers too.
func kindOf(v any) string {
	switch v.(type) {
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64:
		return "number"
	}
	return toolflow.KindOf(v)
}

// list joins words as "a, b or c"; past 10 it tells how many are left out.
func list(words []string) string {
	const most = 10
	if len(words) > most {
		return fmt.Sprintf("%s, … (%d more)", strings.Join(words[:most], ", "), len(words)-most)
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// oneOf says that one of some values is wanted.
func oneOf(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = show(v)
	}
	if len(words) == 1 {
		return words[0]
	}
	if len(words) > 10 {
		return "one of " + list(words)
	}
	return "one of " + strings.Join(words, ", ")
}

// count gives "1 item", "2 items".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// pathOf writes a location in v the way people write input fields, and as a JSON Pointer.
func pathOf(v any, tokens []string) (path, pointer string) {
	var p, q strings.Builder
	for _, token := range tokens {
		q.WriteString("/" + toolflow.EscapePointer(token))
		switch in := v.(type) {
		case []any:
			p.WriteString("[" + token + "]")
			v = nil
			if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(in) {
				v = in[i]
			}
			continue
		case map[string]any:
			v = in[token]
		}
		switch {
		case !plain(token):
			p.WriteString("['" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(token) + "']")
		case p.Len() > 0:
			p.WriteString("." + token)
		default:
			p.WriteString(token)
		}
	}
	return p.String(), q.String()
}

// plain reports whether a member's name can stand in a path as it is (RFC 9535, shorthand).
func plain(name string) bool {
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}
