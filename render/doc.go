// Package render draws plans and runs: as stages in a terminal, and as Mermaid text for pages that
// understand it.
//
// Names, paths and messages come from documents and servers, which are not trusted. Whatever is
// drawn passes through [Escape] or through its format's own escaping, so that a tool's name can
// neither move the cursor nor add a node. The package decides nothing: it draws what it is given, in
// the order in which it is given.
package render
