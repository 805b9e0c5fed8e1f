// SPDX-License-Identifier: Apache-2.0

// Utipc looks at TIPC traffic and takes part in it.
//
//	utipc COMMAND [ARGUMENTS]
//
// It exits with 0 when done, 1 when it failed, 2 when it was misused; the words of
// tipc(8) with 255 when they failed, as there. Data goes to the standard output, all
// else to the standard error.
//
// The commands that measure and simulate the stack are a program of their own,
// cmd/utipc-lab.
package main

import (
	"context"
	"io"

	"github.com/utipc/utipc/internal/cmdline"
)

// newProgram makes the table of commands.
func newProgram() *cmdline.Program {
	return cmdline.New(cmdline.Program{
		Name:    "utipc",
		Short:   "TIPC in user space",
		Example: "utipc decode capture.pcap",
		Commands: []*cmdline.Command{
			&auditCommand,
			toolCommand("bearer", "utipc bearer list"),
			&captureCommand,
			&catCommand,
			&clientsCommand,
			&daemonCommand,
			&decodeCommand,
			&demoCommand,
			&doctorCommand,
			&echoCommand,
			toolCommand("link", "utipc link statistics show"),
			&mapCommand,
			toolCommand("media", "utipc media get window media eth"),
			toolCommand("nametable", "utipc nametable show"),
			toolCommand("node", "utipc node list"),
			toolCommand("peer", "utipc peer remove address 1.1.7"),
			&perfCommand,
			&pingCommand,
			&runCommand,
			toolCommand("socket", "utipc socket list"),
			&topCommand,
			&watchCommand,
		},
		Manual: cmdline.Manual{
			Description: "utipc speaks TIPC, the cluster protocol, from user space. Its commands work on a node: that of this host's daemon, or one of their own. Data goes to the standard output, all else to the standard error.",
			Status:      "0 when done, 1 when it failed, 2 when it was misused; of the words of tipc(8) 255 when they failed.",
			Environment: [][2]string{{"UTIPC_SOCKET", "where the daemon's socket is, if not at " + defaultSocket}},
		},
	})
}

// run runs the command that args name, as os.Args[1:] do, and returns the status to exit
// with.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newProgram().Run(ctx, jsonBefore(args), stdin, stdout, stderr)
}

func main() { cmdline.Main(run) }
