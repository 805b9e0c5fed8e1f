// SPDX-License-Identifier: Apache-2.0

package main

const benchCoresUsage = `utipc-lab bench cores: what a node sends from several goroutines at once, and for how long of each
message its one lock is held.

    utipc-lab bench cores [--short] [--markdown] [FLAGS]

1 to 8 goroutines send messages of 64 B, each on a socket of its own or all on one, to one
peer or to two by turns. All nodes are in this process, so the curve ends before the number of
cores does: peers and their readers need some as well. "veth" needs root. What follows from the
figures is in docs/explanation/scaling.md. Each point has two rows:

    N goroutines, ...   messages a second, the median over the rounds; below, the processor time of
                        a message
    the lock is held    processor time of a message in which the sending node's lock is held; its
                        inverse is the most that this node can do with any number of cores

{flags}

How things are measured:

memory          a network in memory: the node's own work, and a copy of each frame
veth            a bridge with a veth pair for each node, in network namespaces that are gone when
                it ends: with the system calls and the kernel's share

A goroutine waits when 4096 of its messages to a peer are not read. Every message must be read once and in
order. Processor time is getrusage(2)'s of the process, divided in proportion to the
samples of a CPU profile, a hundred a second of processor time: those of the sending node have a label, and
those in its lock have one of the functions on their stack that are called with it held. The
error that is printed is a standard deviation, of the number of samples. Nothing is measured in the node
itself, which runs as always.

    utipc-lab bench cores --short
    utipc-lab bench cores --only memory --markdown
`
