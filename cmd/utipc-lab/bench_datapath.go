// SPDX-License-Identifier: Apache-2.0

package main

const benchDatapathUsage = `utipc-lab bench datapath: what a message costs between two processes, beside bare
frames on the same device and beside the kernel's TCP.

    utipc-lab bench datapath [--short] [FLAGS]

Needs root and two cores. It makes pairs of network namespaces with a veth cable
between them, and two processes for each thing measured, one core each; all are gone
when it ends, however it ends. In every round all variants of a set have their turn.
A row of the table:

    what      what is measured, and beside what
    ours      the median over the rounds; of a round trip the round's median
    beside    the same of what it stands beside
    value     the median of the rounds' ratios, and the smallest and largest: how many
              times as good ours is, but beside bare round trips how many times as long.
              Where nothing stands in the columns before it, it is a figure.
              "bare frames reach" is what the same ratio is without any protocol, hence
              what no stack on this device can pass
    target    what the ratio has to be
    ok, MISS  whether it is; - where there is no target. What could not be measured is
              a MISS, and the line below says why

The last line is "N of M targets met". The exit status is 1 when something could not
be measured, not when a target is missed. Progress goes to the standard error.

{flags}

How things are measured:

bare frames     the device, and no protocol: a frame is sent as soon as there is room,
                in batches of 32. In the bundle loop there are messages in it, each with
                a header of 24 bytes that is written and read, a look-up of its port,
                and its payload copied at both ends
round trips     to a name and back to a socket; spinning unless the row says otherwise
one way         to a socket's address, both ends spinning, counted where they arrive
TCP             raw sockets, cubic, NODELAY. Bulk is in writes of 64 KiB, and both ends
                block; without offloads means TSO, GSO and GRO off at both ends
burner          a busy process on each core. Round trips a second are compared, so that
                a long one counts as what it lasts
quota           each end in a cgroup of its own that may use half a core
twice the peak  tipcgram messages, each due at its time whether the one before was taken
                or not, from 8 goroutines; what none is free to send within a
                millisecond is lost. The peak is one goroutine that sends when it can
malformed       a third process on the sender's core, which the sender then has to share,
                sends frames as fast as it can. Foreign ones, of another EtherType, cost
                the machine as much and the node nothing: what they reach is the limit
allocations     of the whole process, divided by messages: the worse end of the round
                trip and of the bundled send. Up to 0.001 is none: what begins and ends
                a job allocates, too

Measure on a quiet machine. Rounds in which others used more than a quarter of the
cores are left out, if enough are left; the output says how much they used in all.

    utipc-lab bench datapath --short
    utipc-lab bench datapath --only 'rtt|bundle' --json results.json --pprof .
`
