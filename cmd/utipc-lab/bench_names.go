// SPDX-License-Identifier: Apache-2.0

package main

const benchNamesUsage = `utipc-lab bench names: what names cost: to look them up, to keep a million, to send to all
who have one, and how fast the others hear of them.

    utipc-lab bench names [--short] [--markdown] [FLAGS]

Needs root. It makes network namespaces with veth cables to a bridge in one more; all are
gone when it ends, however it ends. A row of the table:

    what      what is measured
    value     the median over the rounds, where no other is said
    target    what it has to be
    ok, MISS  whether it is; - where there is no target. What could not be measured is
              a MISS, and the line below says why

The last line is "N of M targets met". The exit status is 1 when something could not
be measured, not when a target is missed. Progress goes to the standard error.

{flags}

How things are measured:

table           100,000 bindings, 10,000 where ranges contain one point, bound in random
                order to 100 nodes. Random keys are looked up in the table and in a Go map
                of the same keys, by turns. Allocations are the whole process's. One more
                is bound and unbound, each with two looks at the clock. The same is
                go test -run '^$' -bench 'Lookup|BindOneMore' ./naming
million         10,000 bindings of each of 100 nodes: heap in use behind a collection, and
                time for each; then 65535 of one more node are bound and that is lost. The
                same is go test -run '^$' -bench Million -benchtime 1x ./naming
multicast       four nodes in this process, one sends to a socket on each of the others: on
                the broadcast link, as a copy to each, or as three messages to the sockets'
                addresses. In every round each way has its turn, and the ratio is that of
                the round. At most 4096 messages are sent and not read. A rate counts
                messages that all three have read; the sender and the receivers share the
                cores. Nothing may be lost, doubled or reordered, and nothing dropped
bind            on one node a send waits for a name (Config.NameWait) that another binds:
                from the call of Bind until the message was taken. It arrives
events          from the call of Bind until a subscriber's Next has returned with it: on
                the same node, on another that watches its own table, and from another
                that asks the topology service of the node (SubscriptionConfig.At). All
                three watch at once
dead            the cable of a node with 100 names is taken off the bridge, so that the
                others see nothing but silence: until the last of them has withdrawn the
                last of the names

    utipc-lab bench names --short
    utipc-lab bench names --only 'table|million'
`
