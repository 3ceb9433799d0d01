package schema

// Options sets the limits for one schema. The zero value of a member means its default.
type Options struct {
	// MaxBytes limits the text of the schema; 0 means 1 MiB.
	MaxBytes int

	// MaxNesting limits how many subschemas may stand inside each other in the text, the root
	// not counted; 0 means 50.
	MaxNesting int

	// MaxSubschemas limits how many subschemas the text may hold; 0 means 10,000.
	MaxSubschemas int

	// MaxDepth limits the evaluation: how many subschemas and reference hops may be entered
	// inside each other, the root not counted; 0 means 50.
	MaxDepth int

	// MaxSteps limits the work of one Validate, about one step for each subschema that is
	// held against a value; 0 means 100,000. Large values may take more: 32 steps for each
	// value inside them and one for each 16 bytes of text, up to 200 times MaxSteps.
	MaxSteps int
}

func (o Options) withDefaults() Options {
	set := func(n *int, value int) {
		if *n <= 0 {
			*n = value
		}
	}
	set(&o.MaxBytes, 1<<20)
	set(&o.MaxNesting, 50)
	set(&o.MaxSubschemas, 10_000)
	set(&o.MaxDepth, 50)
	set(&o.MaxSteps, 100_000)
	return o
}

// settings are the options and what only tests may change.
type settings struct {
	Options
	dialect *dialect // of a schema without `$schema`

	// load brings documents from outside. It is nil except in the test that runs the public
	// suite, whose schemas refer to each other.
	load func(url string) (any, error)
}
