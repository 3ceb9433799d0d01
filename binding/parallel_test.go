package binding

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/toolflow-go/toolflow/schema"
)

// One compiled path, and the arguments of one step, serve several goroutines, also when some of them
// use up the budget. The race detector has the last word.
func TestParallelUse(t *testing.T) {
	path, err := ParsePath("$[?count(@..x) > 1 && match(@.n, 'a.*')].n", schema.Node{})
	if err != nil {
		t.Fatal(err)
	}
	small := value(t, `[{"n":"ab","x":1,"y":{"x":2}},{"n":"b","x":1},{"n":"ac","z":[{"x":0},{"x":0}]}]`)
	large := make([]any, 300_000)
	spec := argCase{
		literal: `{"a":{"b":1},"list":[1,2]}`, schema: `{"required":["lang"],"properties":{"lang":{"default":"en"}}}`,
		bindings: []string{`a.b <- up x {"optional":true}`, "a.c <- up y", "list[2] <- up y", `lang <- up x {"optional":true}`},
	}.spec(t)
	args, _ := Compile(spec)
	upstream := map[string]any{"y": map[string]any{"deep": []any{"v"}}}

	var all sync.WaitGroup
	fault := make(chan string, 16)
	for i := range 8 {
		all.Go(func() {
			for range 50 {
				if i == 0 {
					if _, err := path.Select(large); !errors.Is(err, ErrBudget) {
						fault <- fmt.Sprintf("large: got error %v", err)
						return
					}
				}
				values, err := path.Select(small)
				if got := fmt.Sprint(values, err); got != "[ab ac] <nil>" {
					fault <- "small: got " + got
					return
				}
				filled, prov, err := args.Fill(func(int, bool) (any, bool) { return upstream, true }, nil)
				got := text(filled) + provLines(prov) + fmt.Sprint(err)
				want := `{"a":{"b":1,"c":{"deep":["v"]}},"lang":"en","list":[1,2,{"deep":["v"]}]}` +
					"a.b literal\na.c step up $.y\nlang default\nlist[0] literal\nlist[1] literal\nlist[2] step up $.y<nil>"
				if got != want {
					fault <- "fill: got " + got
					return
				}
			}
		})
	}
	all.Wait()
	close(fault)
	for f := range fault {
		t.Error(f)
	}
}
