// SPDX-License-Identifier: Apache-2.0

// Utipc-lab measures, simulates and checks the stack. It is for those who develop it;
// the package does not install it.
//
//	utipc-lab COMMAND [ARGUMENTS]
//
// It exits with 0 when done, 1 when it failed, 2 when it was misused. Data goes to the
// standard output, all else to the standard error.
package main

import (
	"context"
	"io"

	"github.com/utipc/utipc/internal/cmdline"
)

// newProgram makes the table of commands.
func newProgram() *cmdline.Program {
	return cmdline.New(cmdline.Program{
		Name:     "utipc-lab",
		Short:    "measures, simulates and checks TIPC in user space",
		Example:  "utipc-lab bench report --short",
		Commands: []*cmdline.Command{&benchCommand, &replayCommand, &simCommand},
		Manual: cmdline.Manual{
			Description: "utipc-lab measures this stack beside others, simulates clusters with faults, and compares the stack with packet captures. Data goes to the standard output, all else to the standard error.",
			Status:      "0 when done, 1 when it failed, 2 when it was misused.",
		},
	})
}

// run runs the command that args name, as os.Args[1:] do, and returns the status to exit
// with.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newProgram().Run(ctx, args, stdin, stdout, stderr)
}

func main() { cmdline.Main(run) }
