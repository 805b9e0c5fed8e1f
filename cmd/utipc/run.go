// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/utipc/utipc/internal/cmdline"

var runCommand = cmdline.Command{
	Name:  "run",
	Short: "run a program that was written for a kernel's TIPC, unmodified",
	Usage: `utipc run: run a program that was written for a kernel's TIPC, unmodified.

    utipc run [FLAGS] -- PROGRAM [ARGUMENTS]

The program's AF_TIPC sockets are then sockets of this host's daemon: the preload library,
which is loaded into the program and into the programs that it starts, makes them. Streams,
seqpackets and the topology server are served; SOCK_RDM and SOCK_DGRAM, groups and static
programs are not yet. utipc itself becomes the program: signals, input, output and the exit
status are the program's own.

{flags}

    utipc run -- python3 server.py
    utipc run --socket /run/other/utipc.sock -- ./client 1.1.2
`,
	Run: runUnmodified,
}
