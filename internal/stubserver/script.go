package stubserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// A Script says what a server offers and answers.
type Script struct {
	Name    string                     `json:"name"`
	Mode    string                     `json:"mode"`
	Ledger  string                     `json:"ledger"`
	Tools   []json.RawMessage          `json:"tools"`
	Answers map[string]json.RawMessage `json:"answers"`

	mu    sync.Mutex
	calls map[string]int
}

// An Answer is what a call brings.
type Answer struct {
	Result     json.RawMessage `json:"result"`
	Structured json.RawMessage `json:"structured"`
	Echo       bool            `json:"echo"`
	Text       *string         `json:"text"`
	IsError    bool            `json:"isError"`
	Error      json.RawMessage `json:"error"`
	Delay      string          `json:"delay"`
	Progress   int             `json:"progress"`
	Stderr     string          `json:"stderr"`
	Exit       *int            `json:"exit"`
	Hang       bool            `json:"hang"`
}

// ReadScript reads a script. Unknown members are errors, so that a misspelt one does not pass a test.
func ReadScript(file string) (*Script, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var s Script
	if err := strict(text, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for tool := range s.Answers {
		if _, err := s.list(tool); err != nil {
			return nil, fmt.Errorf("%s: answers.%s: %w", file, tool, err)
		}
	}
	return &s, nil
}

func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func (s *Script) list(tool string) ([]Answer, error) {
	raw := s.Answers[tool]
	if raw == nil {
		return []Answer{{Echo: true}}, nil
	}
	var many []Answer
	if raw[0] != '[' {
		raw = append(append([]byte{'['}, raw...), ']')
	}
	if err := strict(raw, &many); err != nil {
		return nil, err
	}
	for _, a := range many {
		if _, err := time.ParseDuration(a.Delay); a.Delay != "" && err != nil {
			return nil, err
		}
	}
	if len(many) == 0 {
		return nil, fmt.Errorf("no answers")
	}
	return many, nil
}

// next gives the answer to the next call of a tool and writes the call into the ledger.
func (s *Script) next(tool string, args []byte) (Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answers, err := s.list(tool)
	if err != nil {
		return Answer{}, err
	}
	n := s.calls[tool]
	if s.Ledger != "" {
		if n, err = record(s.Ledger, tool, args); err != nil {
			return Answer{}, err
		}
	}
	if s.calls == nil {
		s.calls = map[string]int{}
	}
	s.calls[tool] = n + 1
	return answers[min(n, len(answers)-1)], nil
}

// record appends a call to the ledger and gives how often the tool stood there before.
func record(ledger, tool string, args []byte) (before int, err error) {
	text, err := os.ReadFile(ledger)
	if err != nil && !os.IsNotExist(err) {
		return 0, err
	}
	name, _ := json.Marshal(tool)
	head := fmt.Appendf(nil, `{"tool":%s,`, name)
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, head) {
			before++
		}
	}
	f, err := os.OpenFile(ledger, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "%s\"arguments\":%s}\n", head, args); err != nil {
		return 0, err
	}
	return before, f.Sync()
}
