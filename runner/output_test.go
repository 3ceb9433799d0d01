package runner

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/plan"
	"github.com/toolflow-go/toolflow/schema"
)

// The rules R1 to R4, row by row.
func TestOutput(t *testing.T) {
	const (
		answer = `{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}`
		two    = `{"type":"object","properties":{"answer":{"type":"string"},"n":{"type":"integer"}},"required":["answer"]}`
		number = `{"type":"integer"}`
	)
	hello := `[{"type":"text","text":"hello"}]`
	for _, c := range []struct {
		name, schema, content, structured string
		strict, lax                       bool
		want                              string // mapping and output, or the failure
	}{
		{"structured fits", answer, hello, `{"answer":"x","id":9007199254740993}`, false, false, `structured {"answer":"x","id":9007199254740993}`},
		{"structured fits, strictly", answer, hello, `{"answer":"x"}`, true, false, `structured {"answer":"x"}`},
		{"structured wins over the text", answer, `[{"type":"text","text":"{\"answer\":\"text\"}"}]`, `{"answer":"structured"}`, false, false, `structured {"answer":"structured"}`},
		{"any JSON value may be structured", number, hello, `7`, false, false, `structured 7`},
		{"JSON text", two, `[{"type":"text","text":" {\"answer\":\"x\",\"n\":1e2} "}]`, ``, false, false, `json_text {"answer":"x","n":1e2}`},
		{"null counts as absent", two, `[{"type":"text","text":"{\"answer\":\"x\"}"}]`, `null`, false, false, `json_text {"answer":"x"}`},
		{"JSON text, strictly", two, `[{"type":"text","text":"{\"answer\":\"x\"}"}]`, ``, true, false, `invalid_output the output does not fit its schema: structuredContent is missing (needed with --strict)`},
		{"JSON text that does not fit", two, `[{"type":"text","text":"{\"n\":1}"}]`, ``, false, false, `invalid_output the output does not fit its schema: the text's JSON: missing required member "answer"`},
		{"the seed's renamed member", answer, hello, `{"response":"hello"}`, false, false, `text_property {"answer":"hello"}`},
		{"the text as the only member", answer, `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, ``, false, false, `text_property {"answer":"a\nb"}`},
		{"a present but wrong member is not papered over", answer, hello, `{"answer":5}`, false, false, `invalid_output the output does not fit its schema: answer: got number, want string`},
		{"renamed member, strictly", answer, hello, `{"response":"hello"}`, true, false, `invalid_output the output does not fit its schema: missing required member "answer"`},
		{"two properties are no text", two, hello, `{"response":"hello"}`, false, false, `invalid_output the output does not fit its schema: missing required member "answer"`},
		{"an image is no text", answer, `[{"type":"image","data":"AA==","mimeType":"image/png"}]`, `{"response":"x"}`, false, false, `invalid_output the output does not fit its schema: missing required member "answer"`},
		{"JSON text is not the member", answer, `[{"type":"text","text":"{\"response\":\"x\"}"}]`, `{"response":"x"}`, false, false, `invalid_output the output does not fit its schema: missing required member "answer"`},
		{"broken but let through", two, hello, `{"n":1}`, false, true, `structured {"n":1}`},
		{"broken text let through", two, `[{"type":"text","text":"{\"n\":1}"}]`, ``, false, true, `json_text {"n":1}`},
		{"nothing at all", answer, ``, ``, false, false, `invalid_output the output does not fit its schema: there is no structuredContent, and the content is not one text block that holds JSON`},
		{"duplicate member", answer, hello, `{"answer":"x","answer":"y"}`, false, false, `protocol structuredContent: member "answer" stands twice`},
		{"lone surrogate", answer, hello, `{"answer":"\ud800"}`, false, false, `protocol structuredContent: invalid surrogate pair `},
		{"too deep", `{}`, hello, strings.Repeat("[", 1001) + strings.Repeat("]", 1001), false, false, `limit structuredContent: nested more than 1000 levels deep`},
		{"huge exponent", `{}`, hello, `{"n":1e999}`, false, false, `limit structuredContent: number 1e999 has an exponent outside ±400 at /n`},

		{"no schema, structured", "", hello, `{"a":1}`, false, false, `structured {"a":1}`},
		{"no schema, null counts as absent", "", hello, `null`, false, false, `text "hello"`},
		{"null that the schema wants", `{"type":["object","null"]}`, ``, `null`, false, false, `structured null`},
		{"no schema, JSON text", "", `[{"type":"text","text":"{\"a\":0.10}"}]`, ``, false, false, `json_text {"a":0.10}`},
		{"no schema, a JSON scalar stays text", "", `[{"type":"text","text":"42"}]`, ``, false, false, `text "42"`},
		{"no schema, text", "", hello, ``, false, false, `text "hello"`},
		{"no schema, texts", "", `[{"type":"text","text":"{}"},{"type":"text","text":"b"}]`, ``, false, false, `text "{}\nb"`},
		{"no schema, JSON text with a duplicate is plain text", "", `[{"type":"text","text":"{\"a\":1,\"a\":2}"}]`, ``, false, false, `text "{\"a\":1,\"a\":2}"`},
		{"no schema, mixed", "", `[{"type":"text","text":"x"},{"type":"image","data":"AA=="}]`, ``, false, false, `content {"content":[{"text":"x","type":"text"},{"data":"AA==","type":"image"}]}`},
		{"no schema, nothing", "", ``, ``, false, false, `content {"content":[]}`},
		{"a block without a type", "", `[{"text":"x"}]`, ``, false, false, `protocol content[0] is no content block with a type`},
		{"a text block without text", "", `[{"type":"text"}]`, ``, false, false, `protocol content[0] is a text block without text`},
		{"content is no array", "", `{"type":"text"}`, ``, false, false, `protocol content: must be an array, not object`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &mapper{strict: c.strict, lax: c.lax, result: toolflow.Result{Content: raw(c.content), Structured: raw(c.structured)}}
			if c.schema != "" {
				s, err := schema.Compile(json.RawMessage(c.schema))
				if err != nil {
					t.Fatal(err)
				}
				m.schema = s
			}
			out, failure := m.output()
			got := string(out.mapping) + " " + string(out.raw)
			if failure != nil {
				got = failure.Code + " " + failure.Message
			} else if again := toolflow.AppendValue(nil, out.value); string(again) != string(out.raw) && len(again) != len(out.raw) {
				t.Errorf("the value %s is not the text %s", again, out.raw)
			}
			if got != c.want && !(strings.HasSuffix(c.want, " ") && strings.HasPrefix(got, c.want)) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			lenient := out.mapping == toolflow.MappingTextProperty || c.schema != "" && out.mapping == toolflow.MappingJSONText || c.lax
			if failure == nil && lenient != (len(out.notes) > 0) {
				t.Errorf("a leniency leaves a note, and nothing else does: %q", out.notes)
			}
		})
	}
}

func raw(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

func TestToolError(t *testing.T) {
	for content, want := range map[string]string{
		`[{"type":"text","text":"a"},{"type":"image","data":""},{"type":"text","text":"b"}]`: "a\nb",
		`[]`: "the tool reported an error without a text",
		``:   "the tool reported an error without a text",
		`7`:  "the tool reported an error without a text",
	} {
		if got := toolError(toolflow.Result{Content: raw(content), IsError: true}); got.Code != toolflow.CodeToolError || got.Message != want {
			t.Errorf("%s: got %+v, want %q", content, got, want)
		}
	}
}

// The classification table of docs/spec.md, row by row.
func TestClassify(t *testing.T) {
	retry := plan.Policy{Retry: true, OnToolError: true}
	for _, c := range []struct {
		kind toolflow.CallErrorKind
		sent bool
		err  error
		safe bool
		p    plan.Policy
		want string
	}{
		{toolflow.CallUnreachable, false, nil, false, plan.Policy{}, "failed not_sent again"},
		{toolflow.CallUnreachable, true, nil, false, plan.Policy{}, "unknown unknown_outcome"},
		{toolflow.CallUnreachable, true, nil, true, plan.Policy{}, "failed connection_lost again"},
		{toolflow.CallUnauthorized, false, nil, true, retry, "failed unauthorized"},
		{toolflow.CallBusy, true, nil, false, plan.Policy{}, "failed not_sent again"},
		{toolflow.CallSession, true, nil, false, plan.Policy{}, "failed not_sent again"},
		{toolflow.CallLost, true, nil, true, plan.Policy{}, "failed connection_lost again"},
		{toolflow.CallLost, true, nil, false, retry, "unknown unknown_outcome"},
		{toolflow.CallRefused, true, nil, false, plan.Policy{}, "failed refused"},
		{toolflow.CallRefused, true, nil, false, retry, "failed refused again"},
		{toolflow.CallProtocol, true, nil, true, retry, "failed protocol"},
		{toolflow.CallProtocol, true, nil, false, retry, "unknown unknown_outcome"},
		{toolflow.CallLimit, true, nil, true, retry, "failed limit"},
		{toolflow.CallNeedsPerson, true, nil, true, retry, "failed needs_person"},
		{toolflow.CallCancelled, false, errTimeout, false, plan.Policy{}, "failed timeout"},
		{toolflow.CallCancelled, true, errTimeout, true, plan.Policy{}, "failed timeout"},
		{toolflow.CallCancelled, true, errTimeout, true, retry, "failed timeout again"},
		{toolflow.CallCancelled, true, errTimeout, false, retry, "unknown unknown_outcome"},
		{toolflow.CallCancelled, false, errInternal, false, retry, "cancelled interrupted"},
		{toolflow.CallCancelled, true, errInternal, true, retry, "cancelled interrupted"},
		{toolflow.CallCancelled, true, errInternal, false, retry, "unknown unknown_outcome"},
	} {
		out := classify(&toolflow.CallError{Kind: c.kind, Sent: c.sent, Err: c.err}, &plan.Step{Safe: c.safe, Policy: c.p})
		got := string(out.Status) + " " + out.Error.Code
		if out.Again {
			got += " again"
		}
		if got != c.want {
			t.Errorf("%s, sent %t, safe %t, %v: got %s, want %s", c.kind, c.sent, c.safe, c.err, got, c.want)
		}
	}
	if out := classify(errInternal, &plan.Step{Safe: true}); out.Status != toolflow.StatusFailed || out.Error.Code != toolflow.CodeProtocol {
		t.Errorf("an error of another type: got %+v", out)
	}
}

var errInternal = json.Unmarshal([]byte("x"), new(int)) // any error that is no CallError
