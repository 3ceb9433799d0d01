package mcpclient

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/toolflow-go/toolflow"
)

// Expand gives s with `${VAR}`, `${VAR:-default}` and `${env:VAR}` replaced in its command, args, env,
// cwd, url and headers. A variable that is unset and has no default is an error that names the file,
// the server and the field; all of them are reported. As in a shell, the default also stands in for an
// empty variable. getenv nil means [os.LookupEnv].
func Expand(s toolflow.Server, getenv func(string) (string, bool)) (toolflow.Server, error) {
	if getenv == nil {
		getenv = os.LookupEnv
	}
	e := expander{server: s, getenv: getenv}
	s.Command = e.text("command", s.Command)
	s.Args = slices.Clone(s.Args)
	for i, a := range s.Args {
		s.Args[i] = e.text(fmt.Sprintf("args[%d]", i), a)
	}
	s.Env = e.values("env", s.Env)
	s.Cwd = e.text("cwd", s.Cwd)
	s.URL = e.text("url", s.URL)
	s.Headers = e.values("headers", s.Headers)
	return s, errors.Join(e.errs...)
}

type expander struct {
	server toolflow.Server
	getenv func(string) (string, bool)
	errs   []error
}

var (
	reference = regexp.MustCompile(`\$\{([^{}]*)\}`)
	variable  = regexp.MustCompile(`^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(:-(.*))?$`)
)

func (e *expander) text(field, s string) string {
	return reference.ReplaceAllStringFunc(s, func(ref string) string {
		m := variable.FindStringSubmatch(ref[2 : len(ref)-1])
		if m == nil {
			e.errs = append(e.errs, configError(e.server, "%s: %s is no variable (write ${NAME}, ${NAME:-default} or ${env:NAME})", field, ref))
			return ref
		}
		value, set := e.getenv(m[1])
		switch {
		case set && (value != "" || m[2] == ""):
			return value
		case m[2] != "":
			return m[3]
		}
		e.errs = append(e.errs, configError(e.server, "%s: the variable %s is not set (set it, or write ${%s:-default})", field, m[1], m[1]))
		return ref
	})
}

func (e *expander) values(field string, m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for _, name := range sortedNames(m) {
		out[name] = e.text(field+"."+name, m[name])
	}
	return out
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func configError(s toolflow.Server, format string, args ...any) error {
	where := ""
	if s.File != "" {
		where = s.File + ": "
	}
	return fmt.Errorf("%sserver %q: %s", where, s.Name, fmt.Sprintf(format, args...))
}

// Check says what is wrong with a configuration, whatever the environment: variables stand in it as
// they are.
func Check(s toolflow.Server) error {
	if reference.MatchString(s.URL) {
		s.URL = "http://localhost/"
	}
	return check(s)
}

// check says what is wrong with an expanded configuration.
func check(s toolflow.Server) error {
	switch {
	case s.Name == "":
		return configError(s, "a server needs a name")
	case s.Command != "" && s.URL != "":
		return configError(s, "both command and url are given (command starts a server, url reaches one: keep one)")
	case s.Command == "" && s.URL == "":
		return configError(s, "neither command nor url is given (command starts a server, url reaches one)")
	}
	switch s.Type {
	case "":
	case "stdio":
		if s.Command == "" {
			return configError(s, `type "stdio" needs a command`)
		}
	case "http", "streamable-http":
		if s.URL == "" {
			return configError(s, "type %q needs a url", s.Type)
		}
	case "sse":
		return configError(s, `type "sse", the old HTTP transport, is not supported yet (use "http" with the server's Streamable HTTP address)`)
	default:
		return configError(s, `type %q is unknown (it is "stdio" or "http")`, s.Type)
	}
	if s.URL != "" {
		return checkHTTP(s)
	}
	for _, name := range sortedNames(s.Env) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(s.Env[name], "\x00") {
			return configError(s, "env: %q is no name and value of an environment variable", name)
		}
	}
	return nil
}

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

func checkHTTP(s toolflow.Server) error {
	u, err := url.Parse(s.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return configError(s, "url: it is no http or https address") // without the value: it may hold a secret
	}
	for _, name := range sortedNames(s.Headers) {
		switch {
		case !headerName.MatchString(name):
			return configError(s, "headers: %q is no name of a header", name)
		case strings.ContainsAny(s.Headers[name], "\r\n\x00"):
			return configError(s, "headers.%s: the value holds a line break", name)
		case strings.EqualFold(name, "Idempotency-Key"), strings.EqualFold(name, "X-Idempotency-Key"):
			// net/http sends a request with such a header twice when a connection breaks.
			return configError(s, "headers.%s: one key for all calls would make calls repeat (take it out)", name)
		}
	}
	return nil
}
