package schema

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"

	sjs "github.com/santhosh-tekuri/jsonschema/v6"
)

// Bounds of what patterns may take. RE2 needs time in proportion to the size of a program and the
// length of the text, and memory for the program.
const (
	maxPatternBytes  = 16 << 10  // of one pattern, also once it is rewritten
	maxPatternsBytes = 128 << 10 // of all patterns of one schema
	maxProgram       = 10_000    // instructions of one program, about
	maxPrograms      = 100_000   // of all programs of one schema
)

// A program is one compiled pattern. It never changes.
type program struct {
	text      string // as the schema has it
	re        *regexp.Regexp
	size      int   // instructions, about
	min, max  int   // characters that the whole text must have; max -1 is no limit
	unchecked error // why the pattern cannot be run; then it matches everything
	malformed bool  // it is no regular expression at all
}

var errTooLarge = errors.New("it is too large")

// compilePattern makes a program of an ECMA-262 pattern.
func compilePattern(text string) *program {
	p := &program{text: text, max: -1}
	if len(text) > maxPatternBytes {
		p.unchecked = errTooLarge
		return p
	}
	t, err := translate(text)
	if err != nil {
		p.unchecked = err
		return p
	}
	p.min, p.max = t.min, t.max
	tree, err := syntax.Parse(t.re2, syntax.Perl)
	if err == nil {
		if p.size = programSize(tree); p.size > maxProgram {
			err = errTooLarge
		} else {
			p.re, err = regexp.Compile(t.re2)
		}
	}
	p.unchecked = err
	var bad *syntax.Error
	if errors.As(err, &bad) {
		p.unchecked = errors.New(bad.Code.String())
		p.malformed = bad.Code != syntax.ErrInvalidRepeatSize && bad.Code != syntax.ErrLarge && bad.Code != syntax.ErrNestingDepth
	}
	return p
}

// programSize estimates how many instructions a pattern becomes, without building them.
func programSize(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)/16
	if re.Op == syntax.OpLiteral {
		size = len(re.Rune)
	}
	for _, sub := range re.Sub {
		size += programSize(sub)
		if size > maxProgram {
			return size
		}
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min, re.Max, 1)
	}
	return size
}

// match reports whether the pattern is found in text.
func (p *program) match(text string) bool {
	if p.unchecked != nil {
		return true
	}
	if p.min > 0 || p.max >= 0 {
		if n := utf8.RuneCountInString(text); n < p.min || p.max >= 0 && n > p.max {
			return false
		}
	}
	return p.re.MatchString(text)
}

// patterns holds the programs of one schema. Once the index is read it does not change.
type patterns struct {
	programs map[string]*program
	bytes    int // of their texts
	size     int // of the programs
}

func newPatterns() *patterns { return &patterns{programs: map[string]*program{}} }

var errTooLargeTogether = errors.New("the patterns of this schema are too large together")

func (ps *patterns) add(text string) {
	if ps.programs[text] != nil {
		return
	}
	p := &program{text: text, max: -1, unchecked: errTooLargeTogether}
	if ps.bytes += len(text); ps.bytes <= maxPatternsBytes {
		q := compilePattern(text)
		if ps.size += q.size; ps.size <= maxPrograms {
			p = q
		}
	}
	ps.programs[text] = p
}

// engine gives the library its regular expressions. It refuses none, so that one pattern which
// RE2 cannot run does not void the rest of a schema.
func (ps *patterns) engine(m *meter) sjs.RegexpEngine {
	return func(text string) (sjs.Regexp, error) {
		p := ps.programs[text]
		if p == nil { // from a document that the suite loads
			p = compilePattern(text)
		}
		return &metered{p, m}, nil
	}
}

// metered is a program whose use is counted.
type metered struct {
	*program
	meter *meter
}

// MatchString matches after taking the steps that it may cost.
func (m *metered) MatchString(text string) bool {
	m.meter.spend(1 + len(text)*m.size/1024)
	return m.match(text)
}

// String gives the pattern as the schema has it.
func (m *metered) String() string { return m.text }
