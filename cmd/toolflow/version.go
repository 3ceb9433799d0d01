package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if output == "json" {
				fmt.Fprintln(a.stdout, string(marshal(map[string]string{"version": version(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})))
				return nil
			}
			if output != "text" {
				return &usageError{err: fmt.Errorf("-o %q is not known (write text or json)", output)}
			}
			fmt.Fprintf(a.stdout, "toolflow %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "what stdout gets: `text|json`")
	return c
}

// version is the module's version as it was built.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
