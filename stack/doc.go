// SPDX-License-Identifier: Apache-2.0

// Package stack makes a process a node of a TIPC cluster and gives it sockets, in
// the manner of package net.
//
//	Open ──► Node ──► ListenPacket ──► PacketConn   messages to and from names
//	          │
//	          ├─────► Listen, Dial ──► Listener, Conn   connections: a stream, or messages
//	          ├─────► Join ──────────► Group            messages among members
//	          ├─────► Handle ────────► ActivePort       a handler that answers; Call asks and waits
//	          ├─────► Subscribe ─────► Subscription  names that come and go, here or At another node
//	          └─────► Admin ─────────► admin.Admin  how it stands, and what it is told: package admin
//
// A call that waits turns the protocol's engine itself: it takes frames from the devices and
// writes what there is to send. The node's own goroutine does so only when no call waits
// (docs/explanation/architecture.md).
//
// A node with a single waiting reader takes a message from the wire to that reader
// without a wake-up. Config.Wait says whether the reader spins, sleeps, or does
// what has lately paid off.
//
// A sender that sends without pause lets small messages share frames and the calls that send
// them; nothing waits for a clock. After its last message the rest goes out with the next call
// that looks for frames, or with the node's goroutine: at once where a processor is free, within
// 10 ms in a process with a single one that computes on. Config.NoBundles ends that.
//
// A node has up to three bearers. Between two nodes there are two links at most: of
// equal priority they share the sockets, else the one of higher priority carries all
// and the other stands by. When one fails, what was under way on it goes over the
// other: nothing is lost, doubled or out of order. Bearers can be enabled and disabled
// while the node runs, see below.
//
// Handle makes an active port: its Handler takes each message in the very turn that
// brought it, before anybody is woken, and answers in it. A node with active ports spins
// for them as Config.Wait says, when no call waits. Node.Call asks and waits for the
// answer, with one turn of the lock for both. A handler that is too slow too often gets a
// goroutine of its own, see ActivePort.
//
// What is long need not be copied: NewBuffer and WriteBuffer write a message where it is
// sent from, ReadBuffer hands out the memory it came in. ReadBatch and WriteBatch take
// the lock once for many messages.
//
// Where a link, or the node's memory, has no room a write waits: writes of one
// importance in the order they began to, none overtaken. Waits lists them, a log entry
// tells of one that waits for a second, and BlockedError why its deadline passed.
//
// A message to a Range is multicast: it goes to every socket bound to what overlaps the
// range, once to each, in fragments as well. It travels once, on the node's broadcast
// link, or as a copy to each node that has receivers, whichever fits their number,
// or as SocketConfig.Multicast says; receivers keep the order across a change. Nobody
// holds a sender back for a receiver that does not read: what has no room there is lost,
// and counted in Stats. BroadcastLink tells how the broadcast link stands, and a write
// that waits for it names the node that acknowledges last.
//
// Changes of names travel on the broadcast link too, so a name may be published later than the
// data that refers to it arrives. A message from another node for a name that nobody has bound
// is kept for Config.NamePark, 100 ms by default, and delivered when the name appears; messages
// to one name keep their order. A send to a name that is not known here fails with
// ErrUnreachable, or waits for it as long as Config.NameWait or SocketConfig.NameWait says;
// Waits lists it. Before data to a node, the names that it may not have heard of go to it on
// the same link, unless Config.NoNamesAhead.
//
// A socket that joins a group is a Group: what it writes comes to all members, or some,
// each gets it once and in order, and a slow reader holds the writer up, or is left behind,
// as that has chosen.
//
// # Attached nodes
//
// Attach returns a Node that is the daemon's of this host, utipc daemon: programs have sockets
// on it, and everything above works, by the protocol of docs/reference/attach.md. Names and connections
// wait for the daemon; data does not, unless AttachConfig.SyncErrors says so. When the daemon
// ends, connections end with a *GoneError, and other sockets wait for the next daemon.
//
// # A running node
//
// With Config.NoBearers a node begins without any bearer. If it has no address then, and no
// identity, its first bearer gives it both; before, it has no sockets (ErrNoAddress), and can
// be given them by Admin.SetAddress, SetIdentity and SetNetID. Package admin enables and
// disables bearers, and gets and sets what tipc(8) does.
//
// Done and Err tell that the node has ended.
//
// # Encryption
//
// A node with keys (Config.Encryption, Admin.SetKey) sends everything sealed, and drops what
// comes plain, unless it is told to migrate. All nodes must be given keys within a link's
// tolerance of each other, or contact is lost in between. Packets are 32 bytes shorter; a node
// that is to be given its first key later says so (Encryption.Expected), else its links restart
// then.
package stack
