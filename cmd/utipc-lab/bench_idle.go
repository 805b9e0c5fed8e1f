// SPDX-License-Identifier: Apache-2.0

package main

const benchIdleUsage = `utipc-lab bench idle: how often a node wakes while its programs do nothing.

    utipc-lab bench idle [--short] [--markdown] [FLAGS]

Needs root. All nodes run at once in this process, each on a network of its own, over each
carrier: a program's own node and a daemon's, alone and with a link to one peer. Counted is
how often a node went on after a sleep, by its own counter (utipc_wakeups_total). Alone, a
node may wake 20 times a second; a peer may add 10: at the default tolerance each end sends a
probe every 375 ms, which the other answers.

{flags}
`
