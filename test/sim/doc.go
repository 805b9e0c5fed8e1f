// SPDX-License-Identifier: Apache-2.0

// Package sim runs two to five engines on one or two virtual switches and a virtual
// clock, everything from one seed, with faults, and checks after each step that what
// always holds does hold.
//
//	workload ──► Engine ──► Device ──► Switch ──► Device ──► Engine ──► readers
//	                 │  └──► Device ──► Switch ──► Device ──┘   │
//	                 └─────────┴── what was sent, taken, carried, consumed ──► checks
//
// A step is one turn of one node: frames in, timers, frames out. Two runs of one
// Config give the same Report.Hash, which covers all frames and events.
//
//	Run          one cluster, with every check
//	Flow         one node sends to another as fast as it may: goodput; only what is read
//	             is checked
//	Size.Table   many of both, for 'utipc-lab sim report'; Rows says which faults
//	Conversation an observer that holds what is sent to the protocol's rules
//
// Every network has faults of its own (NetworkFaults), and so have nodes and devices
// (Faults): loss, in bursts and one way; reordering by time and by places; duplication;
// partitions; networks that come and go, silently or by a lost carrier; crashes, stopped
// processes, stalled devices, small rings; memory that is refused for a while or now and
// then; wires with a rate, a delay and a queue. In half of the seeds nodes are on two
// networks, and in half of them links begin to count shortly before the wrap.
//
// A Cluster is nodes of which only what programs see is checked, and what every frame
// must be: names and multicasts, and with Connections connections. For these invariants 1
// to 5 are, in cluster_call*.go:
//
//   - What an end reads is a prefix of what the other wrote, byte for byte, and message
//     for message where it reads messages. Who reads a Close or an Abort has read all
//     before. A Close is read as a Close, and nobody reads one that was not done.
//   - What was written is read before a Close, and where anything else ends the call, the
//     writer's end or, if that is closed, its node counts at least the bytes lost: see
//     cluster_unsent.go for when it may lack some.
//   - Nobody is given up because a chunk or a device was refused, except in a failover.
//   - A request is accepted once, by whom it was for, and never refused by who listens.
//     A dial ends within its time.
//   - Contact that was lost ends the connection in the same turn, and a peer that is gone
//     or cut off within tolerance, two intervals and a second; none ends so for nothing.
//   - Whoever waits, to write, read, accept or be answered, has a reason that exists: the
//     window is full, the link has no room, nothing is there to be read. Who could go on
//     was told in the same turn.
//   - Queues are within their limits; when the network has been quiet all is read, both
//     ends stand alike, no more was acknowledged than sent, and there are as many sockets
//     as are open. In the end no alarm, no socket and no chunk is left.
//
// There a node that comes back as another one has another station: messages of
// connections do not say which node they are for, and what is sent again to a station's
// former node would be taken for the new one's.
//
// # The invariants, precisely
//
// The simulation knows every message (its bytes follow from its number), every
// frame a device took, in which session of which life of a node it was made, and
// which frames were handed to which engine. After every call into an engine it
// compares what the engine did with what the rules say it must do.
//
//  1. Order. Whatever links they take, messages of one socket are read by another in the
//     order in which they were accepted; only what was looked up again on its way may come
//     later. This is known from the messages alone. The packets a link consumes (its next-expected number moves over
//     them) are packets 1, 2, 3 … of one session of its peer, byte for byte as they
//     were first sent, acknowledgements aside. Messages leave in the order in which
//     they were accepted, in packets of their own, several in a bundle, or one in
//     fragments that follow each other and join to the message; where nodes
//     make bundles, a message may overtake those of another importance, unless it is
//     a returned one. A message in a port is one of those, its data byte for byte
//     what was sent, and ports are read in the order of arrival. So for each pair of
//     ports and session what is read is what was sent with gaps, and every gap is one
//     of the outcomes in 2.
//  2. Exactly once. A consumed message has exactly one outcome, the one the rules
//     demand: it enters the port, which exists and has room; or it goes back with
//     the reason, counted as returned (or, when it cannot be sent back, under
//     "limit"); or, being droppable or itself a returned one, is counted under "no
//     port" or "overload"; or, looked up again, goes on to another node. While two nodes
//     are in contact, over whichever links, everything accepted is consumed before the
//     end. Contact is not lost while one of its links is in a network that does no
//     harm. When one of two links fails, each packet that it sent and that was not
//     acknowledged, and each message that waited, leaves through a tunnel over the other,
//     as it was before, in order, up to the empty message that ends it; the receiver
//     consumes them in the failed link's order behind what it had. When a second link
//     comes up its first packet says where the first one stands, and nothing behind
//     it is consumed before that point is reached. A returned message
//     follows the same rules on its way back; one that was looked up again goes
//     back to the node that did so, and ends there, counted under "no port".
//  3. At most once. No message is read twice, ever. One that was on its way when
//     contact was lost, or in a node that crashed, may be lost, and is counted.
//  4. Waiting. A sender that was turned away waits only while the link is up and
//     congested at its importance, with the link knowing that somebody waits. When
//     that ends, event Room was given in the same call. At the end nobody waits.
//     Packets wait only behind a full window, or where the node holds messages back
//     until the end of its turn: after that none is held, and never more than
//     engine.HoldFull packets at any time.
//  5. Chunks. Free and distinct held chunks (the engine's queues, the node's frames
//     not yet taken, the device's rings) are all chunks; backlog, unacknowledged
//     packets, deferred packets, ports and nodes are within their limits; a backlog may
//     exceed its own by one message, and by what another link left.
//  6. Frames. Every frame a device takes parses, is of its kind, builds back from
//     its Fields byte for byte, is not larger than the MTU, comes from this
//     station and goes to the right one. No acknowledgement is of a packet that was
//     not handed to this engine, in this session. No packet leaves while a window of
//     others is not acknowledged, by acknowledgements and gap-ack blocks that reached the
//     sender. Session, STATE and packet numbers have no holes, a session's first message
//     is a STATE that acknowledges nothing, its first packet opens the broadcast link, of
//     a second link it is a sync point. The bytes of
//     a frame do not change while a device has it. lint.Check and Conversation find
//     nothing.
//  7. Names. For each binding the table's events are published, withdrawn,
//     published … and what was last published is what the table has.
//
// After the faults end and time has passed (90 s, and longer only while queues get
// shorter: a ring of four frames is slow), all links are up, every table is the
// union of the living bindings, no queue has anything in it, nobody waits; after
// the ports are closed and the nodes have left, all chunks are free.
//
// # What is suspended
//
// Packets carry no session number, so a packet older than one round of coming up
// would be taken for one of the new session (docs/spec/02-link.md §4.3 protects
// link messages only). The network therefore has a longest life of frames, below
// the shortest time in which a link can come up again, and frames of a session that
// has ended, which a stalled device let wait, are not reordered. In hostile mode frames that
// nobody sent are injected: only 4, 5 and "no panic" are checked.
//
// Where memory is refused a node need not begin with a STATE, nor answer probes.
//
// When a call consumes several packets of a looked-up-again kind at once, which of
// them was counted where cannot be told apart from outside; the number is checked.
package sim
