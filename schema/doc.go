// Package schema compiles JSON Schemas that nobody vouches for, validates values against them, and
// tells what a schema says about one place of a value.
//
// A schema comes from a server or a document, so it is treated as hostile: nothing outside its own
// text is ever loaded or opened, and its size, its nesting, the depth and the number of steps of an
// evaluation, and its patterns are bounded. What passes a bound ends in an [*Error] of kind
// [KindLimit], never in a panic, a hang or a guess.
//
// The dialects are 2020-12 (also when `$schema` is absent), 2019-09 and draft-07. Formats are
// annotations in the first two and are checked in draft-07. Numbers compare exactly; one of more
// than 10,000 digits passes a bound. A pattern is read as ECMA-262 and run as RE2; one that RE2
// cannot run is left unchecked and listed in [Schema.Warnings].
//
// The package does no I/O and takes no context. Whether every value of one schema fits another is
// not decided here.
package schema
