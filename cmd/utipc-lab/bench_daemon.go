// SPDX-License-Identifier: Apache-2.0

package main

const benchDaemonUsage = `utipc-lab bench daemon: what lies between a program and the daemon's node, and what a crowd
of programs costs.

    utipc-lab bench daemon [--short] [FLAGS]

Needs root and two cores. It measures as 'utipc-lab bench datapath' does, whose -h tells of
the table.

{flags}

How things are measured:

the hop         a program writes 64 B to its own name and reads it: to the daemon, through
                its node, and back. A node has no bearer. Spinning: the program on one core,
                the daemon on the other; asleep: both on one
shared memory   two processes, a core each: each spins on a number in memory, and copies
UNIX socket     two processes on one core, package net's unixpacket, an echo
the path        two hosts (namespaces, a cable), a daemon and a program on each; each host
                has a core. The ends ask by name and answer by address
crowd           attached by one process, for the daemon as many programs: memory that is its
                own, processor time
flood           99 programs write to themselves 100 times a second each, and one sends as fast
                as it can to a socket that nobody reads; rounds without it and with it by turns

    utipc-lab bench daemon --short
    utipc-lab bench daemon --only hop --json results.json --pprof .
`
