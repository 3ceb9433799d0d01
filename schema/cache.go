package schema

import (
	"encoding/json"
	"sync"
)

// A Cache compiles each distinct text once and remembers the outcome, errors included. The zero
// value is ready. It is safe for concurrent use and never forgets.
type Cache struct {
	// Options are the limits for everything that the cache compiles; set them before its first use.
	Options Options

	mu    sync.RWMutex
	texts map[string]*entry
}

type entry struct {
	once   sync.Once
	schema *Schema
	err    error
}

// Compile gives the compiled schema of a text.
func (c *Cache) Compile(raw json.RawMessage) (*Schema, error) {
	c.mu.RLock()
	e := c.texts[string(raw)]
	c.mu.RUnlock()
	if e == nil {
		e = c.add(string(raw))
	}
	e.once.Do(func() { e.schema, e.err = CompileWith(raw, c.Options) })
	return e.schema, e.err
}

func (c *Cache) add(text string) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.texts == nil {
		c.texts = map[string]*entry{}
	}
	if c.texts[text] == nil {
		c.texts[text] = &entry{}
	}
	return c.texts[text]
}
