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
//	          ├─────► Audit ─────────► AuditReport   whether all nodes know the same names
//	          ├─────► EnableBearer, SetLink, RemovePeer, …  what a running node is told
//	          ├─────► Capture, Watch ► Capture, Watch       its frames, and what happens to it
//	          └─────► Names, Links, Bearers, Waits, Stats   how things stand
//
// A Node turns one engine (package engine) behind one lock, in laps: take a batch
// of frames from the devices, feed it, write what it has for them. Whoever needs
// progress turns it, a sender in its own call, a receiver while it waits; the
// node's own goroutine only when nobody does. The rules stand in lap.go, who
// drives is decided in handover.go.
//
// A node with a single waiting reader takes a message from the wire to that reader
// without a wake-up. Config.Wait says whether the reader spins, sleeps, or does
// what has lately paid off.
//
// When a busy program leaves the engine to itself, by computing without waiting,
// frames that arrive in the first two milliseconds may wait that long for the node's
// goroutine; after that they are taken at once.
//
// A sender that sends without pause lets small messages wait for each other, and
// share frames and the calls that send them; nothing waits for a clock. After its
// last message the rest goes out with the next call that looks for frames, or with
// the node's goroutine as soon as that gets a processor: at once where one is free,
// within 10 ms in a process with a single one (GOMAXPROCS) that computes on
// without a pause. Config.NoBundles gives every message a frame of its own.
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
// A message to another node may be 66000 bytes long; above what a packet of the link
// carries it is cut into fragments.
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
// Changes of names travel on the broadcast link too.
// A name may be published later than the data that refers to it arrives: the two come
// over links that do not wait for each other, or from different nodes. A kernel then
// fails the reply, or returns the message. Here a message that arrives for a name
// nobody has bound is parked for Config.NamePark, 100 ms unless told otherwise, and goes on
// when the name appears: a peer sees of it only that a message for a name that never
// comes is returned later. Messages to one name keep their order; what their sender
// sends meanwhile to another name, or to a socket, may overtake them.
// With Config.NameWait, or SocketConfig.NameWait, a send to a name that is
// not known here waits for it, as long as the write deadline allows; Waits lists it.
// Without, which is the default, such a send fails at once with ErrUnreachable, as a
// kernel's does. A send with a lookup node of another address waits for nothing: its
// name is looked up there. And before data to a node, what it may not have heard of the
// own names yet goes to it on the same link as the data, unless Config.NoNamesAhead.
//
// A socket that joins a group is a Group: what it writes comes to all members, or some,
// each gets it once and in order, and a slow reader holds the writer up, or is left behind,
// as that has chosen.
//
// # Attached nodes
//
// Attach returns a Node that is the daemon's of this host, utipc daemon: programs have
// sockets on it, and everything above works, by the protocol of docs/attach.md. Names and
// connections wait for the daemon, data does not unless AttachConfig.SyncErrors says so. A
// call that reads reads the daemon's socket itself, without a goroutine in between; an
// active port's handler has one, outside of the daemon's laps. With AttachConfig.Ring data
// goes through memory that is shared with the daemon. When that ends, connections end with a
// *GoneError, and other sockets wait: a goroutine makes them again at the next daemon
// (remote_reattach.go).
//
//	            remote*.go                               daemon
//	Node ─────► remoteNode ── management calls (control*.go) ──► ServeControl
//	Conn, … ──► remoteSocket ── clientConn, a UNIX socket each ───► a socket of its node
//
// # What a running node is told
//
// EnableBearer and DisableBearer take devices in and out between two laps, under load and
// of any kind. With Config.NoBearers a node begins without any. If it has no address then,
// and no identity, its first bearer gives it both; before, it has no sockets (ErrNoAddress),
// and can be given them by SetAddress, SetIdentity and SetNetID. While a device is attached
// the node stands still, 20 ms for AF_XDP, which registers the node's memory.
// RequestBearer asks for a bearer in words, of whatever Config.OpenBearer can open, as a
// program does that is attached to another's node.
//
// What tipc(8) gets and sets is there by the names that it uses: LinkProperty,
// BearerProperty, MediumProperty, BroadcastMethod, RemovePeer and so on. What is refused is
// a *Refusal, with the errno that a kernel answers.
//
// Capture begins to copy the frames of a running node, with a comment on each that was
// dropped or sent again; Watch tells of bearers, links and peers that come and go. Both
// have queues of limited size that delay nobody, and tell what they lost. Done and Err tell
// that the node has ended.
//
// # Encryption
//
// A node with keys (Config.Encryption, Node.SetKey) sends everything sealed, and drops what
// comes plain, unless it is told to migrate. Keys are the cluster's, of single nodes, or a
// master key, under which nodes exchange keys that they make themselves; those change every
// day, the first time a day after the start (Encryption.Rekey), or by Node.Rekey, without a
// message lost. All nodes must be given keys within a link's tolerance of each other, or
// contact is lost in between: a node without keys understands nothing of one with keys.
// Packets are 32 bytes shorter; a node that is to be given its first key later says so
// (Encryption.Expected), else its links restart then.
package stack
