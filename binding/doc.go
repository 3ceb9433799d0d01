// Package binding carries values between steps: it reads paths into outputs, writes locations in
// arguments, and fills the arguments of one step from what the document, the call and the upstream
// steps give. It can also say, before anything has run, which required arguments nothing provides.
//
// The fact to hold: reading and writing have different grammars. A [Path] is an RFC 9535 JSONPath
// query, all of it and nothing more. A [Location] names exactly one place, such as
// messages[0].content. In both, a text that is exactly the name of a property that the schema
// declares means that property.
//
// Values are shared, never changed: an output that ten steps read stands in ten arguments by
// reference, and writing beside it copies only the containers on the way. So whoever holds arguments
// that [Arguments.Fill] gave must not change them.
//
// # Limits
//
//   - A path or location is at most 1 KiB long, a written index at most 9,999.
//   - One evaluation of a path visits at most 1,000,000 values ([Spec.Budget]), filters included;
//     past it is [ErrBudget]. Comparing two values with == counts as one, whatever their size.
//   - Filters compare numbers as 64-bit floating point: in a filter, and only there, 2^53 and 2^53+1
//     are the same. Values that are read and written keep every digit.
//   - The parser refuses two spellings that the RFC allows, both at the right of a comparison in a
//     filter: a blank before a segment (1 == @ .a) and the number 0E5.
//   - match() and search() take RE2 patterns, of which RFC 9485 patterns are a part.
//
// The package does no I/O and knows neither the graph nor calls; see packages plan and runner.
package binding
