// SPDX-License-Identifier: Apache-2.0

package main

const benchLinkUsage = `utipc-lab bench link: what a link costs, and what it keeps up under loss and while bearers
die.

    utipc-lab bench link [--short] [--markdown] [FLAGS]

Needs root. It makes pairs of network namespaces with veth cables between them; all are
gone when it ends, however it ends. A row of the table:

    what      what is measured
    value     the median over the rounds; of failovers the worst round
    target    what it has to be
    ok, MISS  whether it is; - where there is no target. What could not be measured is
              a MISS, and the line below says why

The last line is "N of M targets met". The exit status is 1 when something could not
be measured, not when a target is missed. Progress goes to the standard error.

{flags}

How things are measured:

core            two engines in memory, without device, poll and lock: 32 messages are
                sent, then received. To send are the calls, the frames taken, and the
                acknowledgements that come back; to receive the frames, the messages
                read, and the acknowledgements made. The copy from one memory to the
                other, the wire's part, is left out. The calibration loop adds up 64
                words of memory, as 'go test -bench Calibrate ./frame': what to compare
                machines and minutes by
loss            two nodes in this process, a fault injector at each end that loses the
                share each way, 1400-byte messages as fast as they are taken. In every
                round every loss has its turn, and the ratio is to the round's own rate
                without any. At 10 % no link may go down
virtual         the same on the simulated link of 'utipc-lab sim report': 1 Gbit/s, 100 us
                there and back, on the virtual clock; the same on every machine
failover        two nodes, two cables, a stream over each link as fast as it is taken.
                One is lost: the gap is the longest time in which a stream brings
                nothing. Then it comes back. Every round has new nodes, and the other
                cable. Nothing may be lost, doubled or reordered
long            messages of 66000 bytes, adaptive window

What an idle endpoint takes and costs is measured inside the engine:
go test -run '^$' -bench Idle ./stack/engine

    utipc-lab bench link --short
    utipc-lab bench link --only 'core|virtual'
`
