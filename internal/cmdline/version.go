// SPDX-License-Identifier: Apache-2.0

package cmdline

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

func (p *Program) versionCommand() *Command {
	return &Command{
		Name:  "version",
		Short: "what this program was built from",
		Usage: p.Name + ` version: what this program was built from, on one line: its own version,
the one of Go, and what it runs on.

    ` + p.Name + ` version
`,
		Run: func(_ context.Context, args []string, std Stdio) error {
			if _, err := Parse(NewFlags("version"), args, 0, 0); err != nil {
				return err
			}
			_, err := fmt.Fprintf(std.Out, "%s %s %s %s/%s\n", p.Name, Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// builtVersion is set when a package is built:
// -ldflags "-X github.com/utipc/utipc/internal/cmdline.builtVersion=1.0.0".
var builtVersion string

// Version is the program's.
func Version() string {
	if builtVersion != "" {
		return builtVersion
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return strings.TrimPrefix(info.Main.Version, "v") // as a package has it
	}
	return "(unknown)"
}
