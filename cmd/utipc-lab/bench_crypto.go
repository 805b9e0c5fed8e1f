// SPDX-License-Identifier: Apache-2.0

package main

const benchCryptoUsage = `utipc-lab bench crypto: what encryption costs: sealed messages beside plain ones, and beside
what AES alone would leave.

    utipc-lab bench crypto [--short] [FLAGS]

Needs root and two cores. It measures as 'utipc-lab bench datapath' does, whose -h tells of
the table; here

    ours             sealed
    beside           the same plain, in the same round
    ratio            ours to what AES alone would leave of the plain figure, of that round

{flags}

What AES alone would leave is worked out for each round from the frames that travelled
in it. At each end every sealed frame that came and left is counted by its length,
whatever it is: data, acknowledgements, link states. Behind the round that end prices them
on its core by crypto/cipher's AES-GCM with a key of that length: a Seal for each that left,
from one place to another, an Open for each that came, in place, over a megabyte of memory;
the quickest of nine tries counts, so that what others do is no part of the price. The 24
most frequent lengths are measured, others cost as the next longer one. The sum, divided
by the round's messages, is AES's time of a message:

round trips     both ends' times are added to the plain round trip: one end waits while
                the other works, so all of it is in the way. It is a little too much where
                an acknowledgement travels beside the way
streams         two cores work at a time, and the slower one sets the pace: the greater of
                the two ends' times is added to the plain time of a message
in memory       both nodes are in one process, on one core: both ends' times are added

Sealed frames carry up to 35 bytes less. That is not AES's: more frames are counted, but
what else they cost is ours.

AES of this core    the same prices by themselves
wrong key           a third process on the sender's core, which the sender then has to share,
                    sends frames sealed with another key as fast as it can. Foreign ones, of
                    another EtherType, cost the machine as much and the node nothing: what
                    they reach is the limit
dropping            one node's engine alone is given such frames: what one takes of the core
rekeying            two nodes in this process with a master key and keys of their own, messages
                    over a connection as fast as they are taken, and the sender's key is
                    changed: messages lost, links reset, and the longest gap between two
                    that arrive until the new key is in use

    utipc-lab bench crypto --short
    utipc-lab bench crypto --only 'rtt|stream-9000' --json results.json --pprof .
`
