package schema

import (
	"fmt"
	"strings"

	sjs "github.com/santhosh-tekuri/jsonschema/v6"
)

// A dialect is a version of JSON Schema that is supported.
type dialect struct {
	name  string
	year  int    // orders them; draft-07 is 2018
	url   string // as people write it in `$schema`
	draft *sjs.Draft
}

var (
	draft2020 = &dialect{"2020-12", 2020, "https://json-schema.org/draft/2020-12/schema", sjs.Draft2020}
	draft2019 = &dialect{"2019-09", 2019, "https://json-schema.org/draft/2019-09/schema", sjs.Draft2019}
	draft07   = &dialect{"draft-07", 2018, "http://json-schema.org/draft-07/schema#", sjs.Draft7}
)

// dialectOf finds the dialect that a `$schema` names. A trailing # and the scheme do not matter.
func dialectOf(name string) *dialect {
	bare := func(s string) string {
		_, s, _ = strings.Cut(strings.TrimSuffix(s, "#"), "://")
		return s
	}
	if !strings.HasPrefix(name, "http://") && !strings.HasPrefix(name, "https://") {
		return nil
	}
	for _, d := range []*dialect{draft2020, draft2019, draft07} {
		if bare(name) == bare(d.url) {
			return d
		}
	}
	return nil
}

// rootDialect reads the dialect of a whole schema; fallback is that of one without `$schema`.
func rootDialect(doc any, fallback *dialect) (*dialect, error) {
	object, _ := doc.(map[string]any)
	named, ok := object["$schema"]
	if !ok {
		return fallback, nil
	}
	text, _ := named.(string)
	if d := dialectOf(text); d != nil {
		return d, nil
	}
	return nil, &Error{Kind: KindDialect, Pointer: "/$schema", Message: fmt.Sprintf(
		"dialect %s is not supported, use %s, %s or %s", show(named), draft2020.url, draft2019.url, draft07.url)}
}
