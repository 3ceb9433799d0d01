package binding

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/schema"
)

// suite reads the RFC 9535 compliance suite from beside the module.
func suite(t *testing.T) []suiteCase {
	t.Helper()
	name := filepath.Join("..", "..", "shared", "suites", "jsonpath", "cts.json")
	raw, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") == "true":
		t.Fatalf("the RFC 9535 suite is not at %s", name)
	case errors.Is(err, fs.ErrNotExist):
		t.Skipf("the RFC 9535 suite is not at %s", name)
	case err != nil:
		t.Fatal(err)
	}
	var file struct{ Tests []suiteCase }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	return file.Tests
}

type suiteCase struct {
	Name            string
	Selector        string
	Document        json.RawMessage
	Result          json.RawMessage
	Results         []json.RawMessage
	InvalidSelector bool `json:"invalid_selector"`
}

func TestRFC9535Suite(t *testing.T) {
	const want = 703
	cases, passed := suite(t), 0
	for _, c := range cases {
		if got := c.run(); got != "" {
			t.Errorf("%s: %s on %s: %s", c.Name, c.Selector, c.Document, got)
			continue
		}
		passed++
	}
	t.Logf("RFC 9535 suite: %d of %d passed", passed, len(cases))
	if passed != want {
		t.Errorf("got %d cases passed, want %d", passed, want)
	}
}

// run gives what is wrong, or nothing.
func (c suiteCase) run() string {
	// The suite is about RFC 9535 alone, so a text without $ goes to the grammar as it stands.
	var p *Path
	if q, full, err := parseRFC(c.Selector); err == nil {
		p = newPath(q, full)
	}
	if c.InvalidSelector {
		if p != nil {
			return "got no error, want one"
		}
		return ""
	}
	if p == nil {
		return "got an error, want none"
	}
	document, err := toolflow.DecodeValue(c.Document)
	if err != nil {
		return err.Error()
	}
	values, err := p.Select(document)
	if err != nil {
		return err.Error()
	}
	got := string(toolflow.AppendValue(nil, append([]any{}, values...)))
	for _, raw := range append(c.Results, c.Result) {
		if raw == nil {
			continue
		}
		if want, err := toolflow.DecodeValue(raw); err == nil && got == string(toolflow.AppendValue(nil, want)) {
			return ""
		}
	}
	return "got " + got
}

// Every valid selector of the suite reads the same by its own String, and every one with $ in front
// is a path by ParsePath.
func TestRFC9535SuitePrints(t *testing.T) {
	for _, c := range suite(t) {
		if c.InvalidSelector {
			continue
		}
		p, err := ParsePath(c.Selector, schema.Node{})
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		again, err := ParsePath(p.String(), schema.Node{})
		if err != nil {
			t.Errorf("%s: %s prints as %s: %v", c.Name, c.Selector, p, err)
			continue
		}
		document, err := toolflow.DecodeValue(c.Document)
		if err != nil {
			t.Fatal(err)
		}
		x, _ := p.Select(document)
		y, _ := again.Select(document)
		got, want := string(toolflow.AppendValue(nil, append([]any{}, y...))), string(toolflow.AppendValue(nil, append([]any{}, x...)))
		if got != want || again.Singular() != p.Singular() {
			t.Errorf("%s: %s prints as %s: got %s, want %s", c.Name, c.Selector, p, got, want)
		}
	}
}
