// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
)

const simHead = `# Simulation

What faults do to messages. This document is the output of

    utipc sim report --markdown > docs/simulation.md

and the same on every machine: everything happens on a virtual clock, from the seeds.
'utipc sim report -h' tells what the columns are; test/sim/doc.go what is checked, after
each step, in the clusters. Names and multicasts have clusters of their own, 'utipc sim
names', and so have connections, 'utipc sim connections': those check and count, and
have no table here.

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
		for j, line := range table {
			fmt.Fprintf(out, "| %s |\n", strings.Join(line, " | "))
			if j == 0 {
				fmt.Fprintf(out, "|---|%s\n", strings.Repeat("---:|", len(line)-1))
			}
		}
	}
	fmt.Fprintf(out, "\nviolations: %d\n", t.violations(io.Discard))
}
