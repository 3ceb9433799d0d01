package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/render"
)

func (a *app) graphCommand() *cobra.Command {
	f := &planFlags{check: "error", all: true}
	var output string
	c := &cobra.Command{
		Use:   "graph PLAN",
		Short: "Draw a plan",
		Args:  onePlan,
		RunE: func(c *cobra.Command, args []string) error {
			switch output {
			case "stages", "mermaid":
			case "rails", "dot", "svg", "html", "json":
				return &usageError{err: fmt.Errorf("-o %s is not in this version of toolflow (it draws stages and mermaid)", output)}
			default:
				return &usageError{err: fmt.Errorf("-o %q is not known (write stages or mermaid)", output)}
			}
			p, diags, err := a.compile(c.Context(), args[0], f, false)
			// a plan that still lacks inputs can be drawn all the same
			faulty := func(d toolflow.Diagnostic) bool {
				return d.Severity == toolflow.SeverityError && d.Code != "missing_input"
			}
			if p == nil || slices.ContainsFunc(diags, faulty) {
				a.showDiagnostics(diags, false, false)
				return err
			}
			if output == "mermaid" {
				return render.Mermaid(a.stdout, picture(p))
			}
			return render.Stages(a.stdout, picture(p), p.Graph.Stages())
		},
	}
	c.Flags().StringArrayVar(&f.targets, "target", nil, "draw only this `STEP` and what it needs")
	c.Flags().StringArrayVar(&f.servers, "servers", nil, "read servers from a JSON `FILE`")
	c.Flags().StringVarP(&output, "output", "o", "stages", "the kind of picture: `stages|mermaid`")
	return c
}
