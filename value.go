package toolflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a JSON value (docs/spec.md, "Limits").
const (
	MaxDepth    = 1000 // arrays and objects inside each other, in a result
	MaxExponent = 400  // of a number, either way
)

// A ValueError says why a text is not one JSON value that toolflow can carry unchanged.
type ValueError struct {
	Offset    int64  // in bytes, of the place
	Pointer   string // JSON Pointer (RFC 6901) of the place
	Duplicate bool   // two members of one object have the same name
	Limit     bool   // it passes a limit, and is JSON otherwise
	Message   string
}

// Error names the problem and where it is.
func (e *ValueError) Error() string {
	if e.Pointer == "" {
		return e.Message
	}
	return e.Message + " at " + e.Pointer
}

// DecodeValue reads exactly one JSON value (RFC 8259): nil, bool, string, [json.Number], []any or
// map[string]any. Numbers keep their text. Duplicate members, text that is not UTF-8, lone
// surrogates, more than [MaxDepth] levels and exponents past [MaxExponent] are a [*ValueError].
func DecodeValue(raw []byte) (any, error) { return DecodeValueDepth(raw, MaxDepth) }

// DecodeValueDepth is [DecodeValue] with another limit on the nesting.
func DecodeValueDepth(raw []byte, maxDepth int) (any, error) {
	d := decoders.Get().(*jsontext.Decoder)
	defer decoders.Put(d)
	d.Reset(bytes.NewBuffer(raw))
	v, err := decodeNext(d, maxDepth)
	if err != nil {
		return nil, valueError(err)
	}
	if _, err := d.ReadToken(); err == nil {
		return nil, &ValueError{Offset: d.InputOffset(), Message: "text after the JSON value"}
	} else if !errors.Is(err, io.EOF) {
		return nil, valueError(err)
	}
	return v, nil
}

var decoders = sync.Pool{New: func() any { return jsontext.NewDecoder(new(bytes.Buffer)) }}

func decodeNext(d *jsontext.Decoder, maxDepth int) (any, error) {
	switch d.PeekKind() {
	case '{':
		return decodeObject(d, maxDepth)
	case '[':
		return decodeArray(d, maxDepth)
	}
	tok, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return tok.Bool(), nil
	case '"':
		return tok.String(), nil
	case '0':
		n := json.Number(tok.String())
		if !CheckNumber(string(n)) {
			return nil, &ValueError{Offset: d.InputOffset(), Pointer: string(d.StackPointer()), Limit: true,
				Message: fmt.Sprintf("number %s has an exponent outside ±%d", Clip(string(n), 40), MaxExponent)}
		}
		return n, nil
	}
	return nil, fmt.Errorf("unexpected JSON token %q", tok.Kind())
}

func decodeObject(d *jsontext.Decoder, maxDepth int) (any, error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	if d.StackDepth() > maxDepth {
		return nil, tooDeep(d, maxDepth)
	}
	m := map[string]any{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String() // before the next read, which reuses the token's buffer
		if m[key], err = decodeNext(d, maxDepth); err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken()
	return m, err
}

func decodeArray(d *jsontext.Decoder, maxDepth int) (any, error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	if d.StackDepth() > maxDepth {
		return nil, tooDeep(d, maxDepth)
	}
	a := []any{}
	for d.PeekKind() != ']' {
		v, err := decodeNext(d, maxDepth)
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
	_, err := d.ReadToken()
	return a, err
}

func tooDeep(d *jsontext.Decoder, maxDepth int) error {
	return &ValueError{Offset: d.InputOffset(), Limit: true, Message: fmt.Sprintf("nested more than %d levels deep", maxDepth)}
}

func valueError(err error) error {
	var own *ValueError
	if errors.As(err, &own) {
		return own
	}
	out := &ValueError{Message: err.Error()}
	var syn *jsontext.SyntacticError
	switch {
	case errors.As(err, &syn):
		out.Offset, out.Pointer = syn.ByteOffset, string(syn.JSONPointer)
		out.Duplicate = errors.Is(syn.Err, jsontext.ErrDuplicateName)
		if syn.Err != nil {
			out.Message = strings.TrimPrefix(syn.Err.Error(), "jsontext: ")
		}
		if out.Duplicate {
			out.Message = fmt.Sprintf("member %q stands twice", lastToken(out.Pointer))
			out.Pointer = out.Pointer[:strings.LastIndexByte(out.Pointer, '/')]
		}
	case errors.Is(err, io.EOF):
		out.Message = "no JSON value: the text is empty"
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		out.Message = "the text ends in the middle of a JSON value"
	}
	return out
}

func lastToken(pointer string) string {
	return UnescapePointer(pointer[strings.LastIndexByte(pointer, '/')+1:])
}

// CheckNumber reports whether a JSON number's exponent lies within ±[MaxExponent], so that
// arithmetic on it stays small.
func CheckNumber(text string) bool {
	i := strings.IndexAny(text, "eE")
	if i < 0 {
		return true
	}
	e, err := strconv.Atoi(text[i+1:])
	return err == nil && e >= -MaxExponent && e <= MaxExponent
}

// Depth counts how many arrays and objects of a valid JSON text are open at once, at most.
func Depth(text []byte) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// AppendValue appends v as JSON to dst: numbers as their text, members sorted by name, strings with
// nothing escaped but what JSON requires. v is what [DecodeValue] gives.
func AppendValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case json.Number:
		return append(dst, v...)
	case string:
		return appendString(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendValue(dst, e)
		}
		return append(dst, ']')
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		dst = append(dst, '{')
		for i, name := range names {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, name), ':')
			dst = AppendValue(dst, v[name])
		}
		return append(dst, '}')
	}
	panic(fmt.Sprintf("toolflow: %T is no JSON value", v))
}

func appendString(dst []byte, s string) []byte {
	out, err := jsontext.AppendQuote(dst, s)
	if err != nil { // s is not UTF-8: DecodeValue never gives such a string
		return appendString(dst, strings.ToValidUTF8(s, string(utf8.RuneError)))
	}
	return out
}

// CopyValue gives a deep copy of a JSON value, so that the copy can be changed.
func CopyValue(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = CopyValue(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			out[name] = CopyValue(e)
		}
		return out
	}
	return v
}

// KindOf names the JSON type of a value for messages: null, boolean, number, string, array, object.
func KindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return fmt.Sprintf("%T", v)
}

// A Replacer builds its tables when it is first used, so these are made once.
var (
	pointerEscapes   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")
)

// EscapePointer escapes a member name for a JSON Pointer (RFC 6901).
func EscapePointer(name string) string { return pointerEscapes.Replace(name) }

// UnescapePointer is the reverse of [EscapePointer].
func UnescapePointer(token string) string { return pointerUnescapes.Replace(token) }

// Clip shortens text to about n bytes for a message, at a character's end, and marks the cut.
func Clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// MergeValues lays one JSON value over another: objects merge by member, arrays by index, anything
// else of over replaces what is under it. Neither is changed; the result shares memory with both.
func MergeValues(under, over any) any {
	switch o := over.(type) {
	case map[string]any:
		u, ok := under.(map[string]any)
		if !ok {
			return over
		}
		out := make(map[string]any, len(u)+len(o))
		for name, v := range u {
			out[name] = v
		}
		for name, v := range o {
			if old, has := u[name]; has {
				v = MergeValues(old, v)
			}
			out[name] = v
		}
		return out
	case []any:
		u, ok := under.([]any)
		if !ok {
			return over
		}
		out := make([]any, max(len(u), len(o)))
		copy(out, u)
		for i, v := range o {
			if i < len(u) {
				v = MergeValues(u[i], v)
			}
			out[i] = v
		}
		return out
	}
	return over
}
