package dag_test

import (
	"fmt"

	"github.com/toolflow-go/toolflow/dag"
)

func ExampleNew() {
	names := []string{"answer", "search", "fetch"}
	g, err := dag.New(names, []dag.Edge{{From: 1, To: 0}, {From: 2, To: 0}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for n, stage := range g.Stages() {
		for _, i := range stage {
			fmt.Println(n+1, g.Name(int(i)))
		}
	}

	_, err = dag.New(names, []dag.Edge{{From: 1, To: 0}, {From: 0, To: 1}})
	fmt.Println(err)
	// Output:
	// 1 search
	// 1 fetch
	// 2 answer
	// tools wait for each other: answer -> search -> answer
}
