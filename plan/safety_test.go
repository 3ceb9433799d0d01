package plan_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/plan"
)

func ptr(b bool) *bool { return &b }

// TestSafety is rules D9, X1 and X5 as a table: what the document says, what the server says, what the
// policies say, and what comes of it.
func TestSafety(t *testing.T) {
	const readOnly, notReadOnly, idempotent, destructive = `"readOnlyHint":true`, `"readOnlyHint":false`, `"idempotentHint":true`, `"destructiveHint":true`
	liveReadOnly := toolflow.Annotations{ReadOnly: ptr(true)}
	for _, c := range []struct {
		name       string
		document   string               // its annotations
		server     toolflow.Annotations // of the live tool
		trust      string               // of the server's configuration
		plan, step string               // policies
		strict     bool

		safe bool
		why  string
		asks bool
	}{
		{name: "no word", safe: false},
		{name: "the document: read-only", document: readOnly, safe: true, why: "readOnlyHint of the document"},
		{name: "the document: idempotent", document: idempotent, safe: true, why: "idempotentHint of the document"},
		{name: "the document: not read-only, but idempotent", document: notReadOnly + "," + idempotent, safe: true, why: "idempotentHint of the document"},
		{name: "the server: read-only", server: liveReadOnly, safe: true, why: "readOnlyHint of server s"},
		{name: "the server: idempotent", server: toolflow.Annotations{Idempotent: ptr(true)}, safe: true, why: "idempotentHint of server s"},
		{name: "the server, distrusted", server: liveReadOnly, trust: "false", safe: false},
		{name: "the server, trusted", server: liveReadOnly, trust: "true", safe: true, why: "readOnlyHint of server s"},
		{name: "the server, strict", server: liveReadOnly, strict: true, safe: false},
		{name: "the server, trusted and strict", server: liveReadOnly, trust: "true", strict: true, safe: false},
		{name: "the document, strict", document: readOnly, strict: true, safe: true, why: "readOnlyHint of the document"},
		{name: "the stricter: the server says no", document: readOnly, server: toolflow.Annotations{ReadOnly: ptr(false)}, safe: false},
		{name: "the stricter: the document says no", document: notReadOnly, server: liveReadOnly, safe: false},
		{name: "a distrusted server's no counts", document: readOnly, server: toolflow.Annotations{ReadOnly: ptr(false)}, trust: "false", safe: false},

		{name: "the document: destructive", document: destructive, asks: true},
		{name: "the server: destructive", server: toolflow.Annotations{Destructive: ptr(true)}, asks: true},
		{name: "a distrusted server: destructive", server: toolflow.Annotations{Destructive: ptr(true)}, trust: "false", asks: true},
		{name: "destructive, the server says no", document: destructive, server: toolflow.Annotations{Destructive: ptr(false)}, asks: true},

		{name: "the step's policy: safe", step: `"safe":true`, safe: true, why: "policy"},
		{name: "the step's policy: not safe", document: readOnly, step: `"safe":false`, safe: false},
		{name: "the plan's policy: safe", plan: `"safe":true`, safe: true, why: "policy"},
		{name: "the step's policy over the plan's", plan: `"safe":true`, step: `"safe":false`, safe: false},
		{name: "the step's policy: always", step: `"approve":"always"`, asks: true},
		{name: "the step's policy: never", document: destructive, step: `"approve":"never"`, asks: false},
		{name: "the plan's policy: never", server: toolflow.Annotations{Destructive: ptr(true)}, plan: `"approve":"never"`, asks: false},
		{name: "always over never", plan: `"approve":"never"`, step: `"approve":"always"`, asks: true},
		{name: "policy, strict", step: `"safe":true`, strict: true, safe: true, why: "policy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			trust := ""
			if c.trust != "" {
				trust = `,"trust":` + c.trust
			}
			doc := fmt.Sprintf(`{"mcpServers":{"s":{"command":"x"%s}},"policy":{%s},
 "tools":[{"name":"t","inputSchema":{"type":"object"},"annotations":{%s}}],"steps":[{"tool":"t","policy":{%s}}]}`, trust, c.plan, c.document, c.step)
			live := tool("t", object)
			live.Annotations = c.server
			s := mustCompile(t, doc, plan.Options{Strict: c.strict, Live: plan.Live{"s": {live}}}).Steps[0]
			same(t, "safe", s.Safe, c.safe)
			same(t, "because of", s.SafeWhy, c.why)
			same(t, "asks", s.Asks, c.asks)
		})
	}
}

func TestPolicies(t *testing.T) {
	half := 500 * time.Millisecond
	for _, c := range []struct {
		name               string
		plan, step, server string
		timeout            time.Duration // of the options
		want               plan.Policy
	}{
		{name: "defaults", want: plan.Policy{Timeout: 10 * time.Minute, Attempts: 3, Backoff: half}},
		{name: "--timeout", timeout: time.Second, want: plan.Policy{Timeout: time.Second, Attempts: 3, Backoff: half}},
		{name: "the server's timeout over --timeout", server: `,"timeout":"2s"`, timeout: time.Second, want: plan.Policy{Timeout: 2 * time.Second, Attempts: 3, Backoff: half}},
		{name: "the plan's over the server's", plan: `"timeout":"3s"`, server: `,"timeout":"2s"`, want: plan.Policy{Timeout: 3 * time.Second, Attempts: 3, Backoff: half}},
		{name: "the step's over the plan's", plan: `"timeout":"3s"`, step: `"timeout":4`, want: plan.Policy{Timeout: 4 * time.Second, Attempts: 3, Backoff: half}},
		{name: "retry, empty", step: `"retry":{}`, want: plan.Policy{Timeout: 10 * time.Minute, Attempts: 3, Backoff: half, Retry: true}},
		{name: "retry of the plan", plan: `"retry":{"attempts":5,"backoff":"1s","onToolError":true}`, want: plan.Policy{Timeout: 10 * time.Minute, Attempts: 5, Backoff: time.Second, Retry: true, OnToolError: true}},
		{name: "the step's retry replaces the plan's", plan: `"retry":{"attempts":5,"onToolError":true}`, step: `"retry":{"backoff":"2s"}`, want: plan.Policy{Timeout: 10 * time.Minute, Attempts: 3, Backoff: 2 * time.Second, Retry: true}},
		{name: "one attempt", step: `"retry":{"attempts":1}`, want: plan.Policy{Timeout: 10 * time.Minute, Attempts: 1, Backoff: half, Retry: true}},
		{name: "continue of the plan", plan: `"onError":"continue"`, want: plan.Policy{Timeout: 10 * time.Minute, Attempts: 3, Backoff: half, Continue: true}},
		{name: "fail over continue", plan: `"onError":"continue"`, step: `"onError":"fail"`, want: plan.Policy{Timeout: 10 * time.Minute, Attempts: 3, Backoff: half}},
		{name: "continue over nothing", step: `"onError":"continue"`, want: plan.Policy{Timeout: 10 * time.Minute, Attempts: 3, Backoff: half, Continue: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := fmt.Sprintf(`{"mcpServers":{"s":{"command":"x"%s}},"policy":{%s},"steps":[{"tool":"t","policy":{%s}}]}`, c.server, c.plan, c.step)
			same(t, "policy", mustCompile(t, doc, plan.Options{Timeout: c.timeout}).Steps[0].Policy, c.want)
		})
	}
}

func TestContinueNeedsBindingsThatCanDoWithout(t *testing.T) {
	doc := `{"steps":[{"id":"a","tool":"t","policy":{"onError":"continue"}},
  {"id":"b","tool":"t","dependencies":{"bindings":{
    "x":{"fromTool":"a","outputPath":"x"},
    "y":{"fromTool":"a","outputPath":"y","optional":true},
    "z":{"fromTool":"a","outputPath":"z","default":null}}}}]}`
	check(t, []said{{"neither optional nor default", doc, plan.Options{},
		`plan.json:3:5: step "b": input x: "a" may end without output (onError: continue) (add "optional": true or a "default")`}})
}
