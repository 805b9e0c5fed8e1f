// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/utipc/utipc/internal/cmdline"

var simCommand = cmdline.Command{
	Name:  "sim",
	Short: "simulate clusters and networks with faults, and what becomes of messages",
	Usage: `utipc-lab sim: simulate clusters and networks with faults, and what becomes of messages.

    utipc-lab sim NAME [FLAGS]
    utipc-lab sim NAME -h      what is simulated, and what must hold

    report       what faults do to messages
    names        whether all nodes have the same names, and multicasts arrive
    connections  whether connections carry all, end as they must, and no call waits for ever
    monitor      clusters of up to a thousand nodes, and how soon they notice that nodes died
    keys         clusters that encrypt and change keys all the time
    split        what a node would gain from several engines

The last line is "violations: N". The exit status is 1 when N is not 0.

    utipc-lab sim report --short
    utipc-lab sim names --short
`,
	Commands: []*cmdline.Command{
		{Name: "report", Short: "what faults do to messages", Usage: simReportUsage, Run: simReport},
		{Name: "names", Short: "whether all nodes have the same names, and multicasts arrive", Usage: simNamesUsage, Run: simNames},
		{Name: "connections", Short: "whether connections carry all and end as they must", Usage: simConnectionsUsage, Run: simConnections},
		{Name: "monitor", Short: "how soon large clusters notice that nodes died", Usage: simMonitorUsage, Run: simMonitor},
		{Name: "keys", Short: "clusters that change keys all the time", Usage: simKeysUsage, Run: simKeys},
		{Name: "split", Short: "what a node would gain from several engines", Usage: simSplitUsage, Run: simSplit},
	},
}

const simReportUsage = `utipc-lab sim report: what faults do to messages, in simulated clusters.

    utipc-lab sim report [--short] [--seeds N] [--seed N] [--markdown]
    utipc-lab sim report --seed N --steps N [--trace FILE.pcapng]

It prints two tables. Each row of the first is a kind of fault, tried on
clusters of three nodes that do all kinds of things, with every check after each step,
and on one flow of 1400-byte messages that goes as fast as it may:

    messages    accepted, in the clusters and of the flow
    lost        of these, though there was contact all the time
    doubled     read twice
    reordered   read behind a later one of the same sender
    resets      times a link went down
    contacts    times contact between two nodes was lost; what was on its way then is
                lost at most once, and counted:
    with it     messages lost so, in the clusters with those that a crash took
    goodput     of the flow, beside the first row with as many networks

The second table is goodput at a loss both ways, beside no loss: simulated links of
1 Gbit/s and 100 µs there and back. The target stands behind it, or MISS.

The last line is "violations: N". The exit status is 1 when N is not 0.

{flags}

    utipc-lab sim report --short
    utipc-lab sim report --seed 66 --steps 20000 --trace /tmp/66.pcapng
`

const simNamesUsage = `utipc-lab sim names: whether all nodes have the same names, and multicasts arrive.

    utipc-lab sim names [--short] [--seeds N]
    utipc-lab sim names --seed N [--seeds N | --trace FILE]

It boots 100 nodes of 100 bindings, and then runs clusters of 3 to 8 nodes, on
one network or two, that bind and withdraw names and multicast to them all the time, while
networks lose, repeat and reorder frames and split, and nodes crash and come back, some as
other nodes. After each bout the network is left in peace, and then all tables must be
equal to the union of what is bound. The changes that a node tells of a binding must
alternate, and the last must be true. After a node is lost nobody may have a binding of it
for longer than tolerance, two intervals and a second. A multicast must be read once, in
order, by every socket that was bound all the time, while there is contact.

{flags}

    utipc-lab sim names --short
`

const simConnectionsUsage = `utipc-lab sim connections: whether connections carry all, end as they must, and no
call waits for ever.

    utipc-lab sim connections [--short] [--seeds N]
    utipc-lab sim connections --seed N [--seeds N | --trace FILE]

It runs clusters of 2 to 5 nodes as 'utipc-lab sim names' does, in which besides sockets
listen, dial each other by name and by address, within a node too, write, stop reading for a while,
and close or abort from either end; nodes crash and come back, and run short of memory.
What is read must be a prefix of what was written; all of it before a close; a close must
be read as one. Contact that was lost must be heard of in time, and whoever waits must have
a reason. In the end nothing may be left.

{flags}

    utipc-lab sim connections --short
`

const simMonitorUsage = `utipc-lab sim monitor: clusters of up to a thousand nodes, what they say when they idle,
and how soon they notice that nodes have died.

    utipc-lab sim monitor [--short] [--seed N] [--markdown]
    utipc-lab sim monitor --nodes N [--kill N] [--loss PERCENT] [--part] [--seed N]

It boots clusters of 16, 64, 256 and 1000 nodes on one segment, each node with a
name; nobody sends messages. They idle, then 1, 10 and 100 nodes die at once, and come back;
some clusters lose frames, or fall into halves. Each row of the first table is a cluster:

    contact    how long after the last node started all knew all
    messages   that an idle node sends, a second, and bytes of them;
    all watch  messages where every node watches every other, without the ring monitor;
               - where that was not run
    peer       bytes of memory that a node takes for each other one, names and all
    frames     sent by all nodes in all of the run
    simulated  time on the clock of the cluster; real: of this machine

The second is how long it took all survivors to notice all that had died, and how soon all
were back in contact. 99 of 100 must have noticed within the bound: tolerance, two intervals
and a second; below 256 nodes a tolerance and an interval more, for there some hear of it
from too few to take their word. Nobody may ever report a node lost that lives; all tables
must be right. From 64 nodes on, idle traffic may grow by no more than 1.3 times the square
root of the nodes.

{flags}

    utipc-lab sim monitor --nodes 100 --kill 20
`

const simKeysUsage = `utipc-lab sim keys: clusters that encrypt and change keys all the time.

    utipc-lab sim keys [--short] [--seeds N] [--seed N]

It runs clusters of 3 to 6 nodes with a key for all, a key for each, a master key, both,
or a first key that comes when they are at work. Nodes talk, make keys of their own, are given
others, crash and start again, while frames are lost, repeated and reordered, and a stranger
without a key, with another one, or with all that it has heard, tries what it can. All
frames are opened as they leave a node: no nonce may come twice under a key, none may be plain
after the node has one; no link may go down, and no message be lost or come twice, while nodes
live; the stranger may have no effect. When it is over all must be in contact and no key pending.
Each row is a kind of keys:

    with keys  how many keys sealed something
    taken      keys that nodes were handed by others
    in use     times that a new key became the one that a node seals with
    changes    keys made on demand or given by the operator; those by interval come on top
    meddled    frames that the stranger repeated, cut or changed

{flags}

    utipc-lab sim keys --short
`
