package interop

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The packages are pinned exactly, and the lock file leaves it to npm's own settings where they are
// fetched from.
func TestLockFile(t *testing.T) {
	var manifest struct{ Dependencies map[string]string }
	var lock struct {
		Packages map[string]struct{ Version, Resolved, Integrity string }
	}
	for file, into := range map[string]any{"package.json": &manifest, "package-lock.json": &lock} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, into); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	exact := regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	for name, version := range manifest.Dependencies {
		if !exact.MatchString(version) {
			t.Errorf("package.json: %s is %q, want one exact version", name, version)
		}
		if got := lock.Packages["node_modules/"+name].Version; got != version {
			t.Errorf("package-lock.json: %s is %q, want %q", name, got, version)
		}
	}
	for name, p := range lock.Packages {
		if p.Resolved != "" {
			t.Errorf("package-lock.json: %s has a download address", name)
		}
		if name != "" && !strings.HasPrefix(p.Integrity, "sha512-") {
			t.Errorf("package-lock.json: %s has no checksum", name)
		}
	}
	if len(manifest.Dependencies) == 0 || len(lock.Packages) <= len(manifest.Dependencies) {
		t.Errorf("got %d dependencies and %d locked packages", len(manifest.Dependencies), len(lock.Packages))
	}
}
