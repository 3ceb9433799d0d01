package mcpclient_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolflow-go/toolflow"
)

// BenchmarkCall measures a call that does nothing over stdio, against the SDK's own transport; the
// server is the same.
func BenchmarkCall(b *testing.B) {
	args := json.RawMessage(`{"query":"toolflow","limit":10}`)
	callers := map[string]func(*testing.B) func(context.Context) error{
		"toolflow": func(b *testing.B) func(context.Context) error {
			c, _ := stub(b, "")
			return func(ctx context.Context) error {
				_, err := c.Call(ctx, toolflow.Call{Server: "stub", Tool: "echo", Args: args}, nil)
				return err
			}
		},
		"sdk": func(b *testing.B) func(context.Context) error {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "STUB_MODE=")
			cs, err := mcp.NewClient(&mcp.Implementation{Name: "b"}, nil).Connect(b.Context(), &mcp.CommandTransport{Command: cmd}, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { cs.Close() })
			return func(ctx context.Context) error {
				p := &mcp.CallToolParams{Name: "echo", Arguments: args}
				p.SetProgressToken(1)
				_, err := cs.CallTool(ctx, p)
				return err
			}
		},
	}
	for _, name := range []string{"toolflow", "sdk"} {
		b.Run(name+"/1", func(b *testing.B) {
			call := callers[name](b)
			b.ReportAllocs()
			for b.Loop() {
				if err := call(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/64", func(b *testing.B) {
			call := callers[name](b)
			b.ReportAllocs()
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := call(b.Context()); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
