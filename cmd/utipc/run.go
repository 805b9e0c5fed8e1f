// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/utipc/utipc/internal/cmdline"

var runCommand = cmdline.Command{
	Name:  "run",
	Short: "run a program that was written for a kernel's TIPC, unmodified",
	Usage: `utipc run: run a program that was written for a kernel's TIPC, unmodified.

    utipc run [FLAGS] -- PROGRAM [ARGUMENTS]

The program's AF_TIPC sockets are then sockets of this host's daemon. For most programs the
preload library makes them, which is loaded into the program and into the programs that it
starts; utipc itself becomes the program then. Static programs, and those in Go, which have no
use for libraries, are served by a supervisor, to which the kernel passes the calls (seccomp):
utipc stays until the last process of the program has ended. Signals, input, output and the exit
status are the program's own.

{flags}

    utipc run -- python3 server.py
    utipc run --socket /run/other/utipc.sock -- ./client 1.1.2
    utipc run --tcp 10.99.0.0/16 -- redis-server --bind 0.0.0.0
    utipc run --tcp 10.99.0.0/16 --node embedded:eth1 -- ./rank
`,
	Run: runUnmodified,
}
