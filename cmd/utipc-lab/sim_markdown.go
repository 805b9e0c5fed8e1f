// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
)

const simHead = `# Simulation

For those who want to know what faults of a network do to messages.

What faults do to messages. This document is the output of

    utipc-lab sim report --markdown > docs/explanation/simulation.md

and the same on every machine: everything happens on a virtual clock, from the seeds.
'utipc-lab sim report -h' tells what the columns are; test/sim/doc.go what is checked, after
each step, in the clusters. Names and multicasts have clusters of their own, 'utipc-lab sim
names', and so have connections, 'utipc-lab sim connections': what a program wrote is read, or
its writer's count of lost bytes says so, while readers pause, nodes crash, and in some
clusters chunks and devices are refused at random. Those check and count, and have no table
here, nor have clusters whose keys change all the time, 'utipc-lab sim keys'. Clusters of 16 to 1000 nodes on one segment, what they say when they
idle and how soon the death of 1, 10 or 100 nodes at once is noticed, with the ring monitor
and without, are 'utipc-lab sim monitor', which prints its tables itself ('--short': up to 256
nodes), and in its last line what must not be: 'violations: 0'.

## Faults

Three nodes with sockets and names that come and go, messages of 1 to 66000 bytes, and
one flow of 1400-byte messages over 1 Gbit/s and 100 µs there and back. "lost", "doubled"
and "reordered" are promises and must be 0: what was accepted arrives once and in order
while there is contact. Contact, and "with it" what is on its way, is lost only where no
link is left.

`

const simGoodput = `
## Goodput at a loss

One flow of 1400-byte messages, a simulated link of 1 Gbit/s and 100 µs there and back,
loss both ways; beside no loss, which is shown in bytes of messages a second.

`

// markdown prints the document.
func (t simTables) markdown(out io.Writer) {
	text := []string{simHead, simGoodput}
	for i, table := range t.both() {
		io.WriteString(out, text[i])
		printMarkdown(out, table)
	}
	fmt.Fprintf(out, "\nviolations: %d\n", t.violations(io.Discard))
}
