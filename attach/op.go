// SPDX-License-Identifier: Apache-2.0

package attach

import "strconv"

// An Op says what a record is. A program sends requests; the daemon answers each
// request that has an ID with a record of the same Op and ID that has FlagReply, and
// sends the others of itself.
type Op uint16

// Operations. The numbers are part of the protocol and never change their meaning.
// Whose Addr, Addr2 and arguments mean what is said in docs/reference/attach.md.
const (
	// Of every connection.
	OpHello  Op = 1 // first of all: protocol version and features
	OpPing   Op = 2 // answered, no more
	OpCancel Op = 3 // ends the request whose ID is in Arg0; that is answered with ECANCELED
	OpGone   Op = 4 // from the daemon: it ends, the data is a text that says why
	OpCall   Op = 5 // a management call, or one about this socket: see AppendCall

	// What a connection becomes: the first of these that succeeds decides.
	OpSocket    Op = 16 // a TIPC socket
	OpSubscribe Op = 17 // topology events: OpEvent
	OpStream    Op = 18 // what a management verb gives item by item: OpItem

	// Of a TIPC socket.
	OpBind      Op = 32 // to a service or a range
	OpUnbind    Op = 33 // the same back
	OpListen    Op = 34 // takes connections from now on
	OpAccept    Op = 35 // answered when there is a connection, with its descriptor
	OpConnect   Op = 36 // answered when there is a connection, or none
	OpShutdown  Op = 37 // the end of a connection: in order, or with Arg0 ShutdownAbort a reset
	OpSetOption Op = 38
	OpGetOption Op = 39
	OpJoin      Op = 40 // makes the socket a member of a group
	OpLeave     Op = 41 // ends that
	OpRing      Op = 42 // asks for a ring in shared memory

	// Data.
	OpSend    Op = 64 // from the program: a message, or a piece of a stream
	OpMessage Op = 65 // from the daemon: the same
	OpFailed  Op = 66 // from the daemon: sends without FlagAnswer that failed
	OpEnd     Op = 67 // from the daemon: nothing comes any more, and why
	OpEvent   Op = 68 // from the daemon: topology events
	OpItem    Op = 69 // from the daemon: an item of a stream
	OpReadEnd Op = 70 // from the daemon: the peer writes no more, and reads on; of a program that has FeatureHalfClose
	OpLost    Op = 71 // from the daemon: a socket with OptExclusive has lost a name, and why
	OpAck     Op = 72 // from the program: a message of a socket with OptManualAck was taken

	// Of plain sockets: each is the first record of a connection, without OpHello, and has the
	// socket's descriptor with it, but for the first and the last.
	OpPlainSocket    Op = 96 // makes one; the answer has its descriptor
	OpPlainBind      Op = 97
	OpPlainListen    Op = 98
	OpPlainConnect   Op = 99
	OpPlainState     Op = 100
	OpPlainShutdown  Op = 101
	OpPlainSetOption Op = 102
	OpPlainGetOption Op = 103
	OpPlainAccept    Op = 104 // on the connection that came through a listening socket
	OpPlainSend      Op = 105 // of a connectionless socket
	OpPlainPair      Op = 106 // makes another, connected to this one; the answer has its descriptor
	OpPlainInfo      Op = 107 // what SIOCGETNODEID and SIOCGETLINKNAME ask for
	OpPlainJoin      Op = 108 // makes it a member of a group
	OpPlainLeave     Op = 109
	OpPlainClosed    Op = 110 // the program has closed a descriptor; with one: it is about to, and something waits in it
	OpPlainNetlink   Op = 111 // makes one in place of a generic netlink socket, which goes with it; the answer has its descriptor
	OpPlainKernel    Op = 112 // the answer has that netlink socket
	OpPlainTCP       Op = 113 // asks for the prefix of TCP, without a descriptor
	OpPlainTCPSocket Op = 114 // makes a socket of TCP; the answer has its descriptor
	OpPlainTCPAt     Op = 115 // says at which node of its own a program has it, and asks that of another
)

var opNames = map[Op]string{
	OpHello: "hello", OpPing: "ping", OpCancel: "cancel", OpGone: "gone", OpCall: "call",
	OpSocket: "socket", OpSubscribe: "subscribe", OpStream: "stream",
	OpBind: "bind", OpUnbind: "unbind", OpListen: "listen", OpAccept: "accept",
	OpConnect: "connect", OpShutdown: "shutdown", OpSetOption: "setoption",
	OpGetOption: "getoption", OpJoin: "join", OpLeave: "leave", OpRing: "ring",
	OpSend: "send", OpMessage: "message", OpFailed: "failed", OpEnd: "end",
	OpEvent: "event", OpItem: "item", OpReadEnd: "read-end", OpLost: "lost", OpAck: "ack",
	OpPlainSocket: "plain-socket", OpPlainBind: "plain-bind", OpPlainListen: "plain-listen", OpPlainConnect: "plain-connect",
	OpPlainState: "plain-state", OpPlainShutdown: "plain-shutdown", OpPlainSetOption: "plain-setoption",
	OpPlainGetOption: "plain-getoption", OpPlainAccept: "plain-accept",
	OpPlainSend: "plain-send", OpPlainPair: "plain-pair", OpPlainInfo: "plain-info",
	OpPlainJoin: "plain-join", OpPlainLeave: "plain-leave", OpPlainClosed: "plain-closed",
	OpPlainNetlink: "plain-netlink", OpPlainKernel: "plain-kernel", OpPlainTCP: "plain-tcp", OpPlainTCPSocket: "plain-tcpsocket",
	OpPlainTCPAt: "plain-tcpat",
}

// String returns the operation's name in docs/reference/attach.md, or its number.
func (o Op) String() string {
	if s, ok := opNames[o]; ok {
		return s
	}
	return "op " + strconv.Itoa(int(o))
}

// Known reports whether the operation has a meaning in this version.
func (o Op) Known() bool { _, ok := opNames[o]; return ok }

// Plain reports whether it is a request of plain sockets.
func (o Op) Plain() bool { return o >= OpPlainSocket && o <= OpPlainTCPAt }

// FromDaemon reports whether only the daemon sends it, beside answers.
func (o Op) FromDaemon() bool {
	switch o {
	case OpGone, OpMessage, OpFailed, OpEnd, OpEvent, OpItem, OpReadEnd, OpLost:
		return true
	}
	return false
}

// What OpShutdown does, in Arg0; with 0 the connection ends in order.
const (
	ShutdownAbort = 1 // it ends with a reset; of a daemon that grants FeatureCounts
	ShutdownWrite = 2 // the program sends no more, and reads on; of a connection with CanCloseWrite
)

// CanCloseWrite in Arg1 of the answer to OpConnect and OpAccept says that the peer's node knows
// what ShutdownWrite does.
const CanCloseWrite = 1 << 0

// Flags say more about a record.
type Flags uint16

// Flags. Bits that have no name here are 0, and ignored by who gets them.
const (
	FlagReply    Flags = 1 << 0 // an answer
	FlagMore     Flags = 1 << 1 // the data goes on in the next record of this Op and ID
	FlagAnswer   Flags = 1 << 2 // of OpSend: it is answered, also when it succeeds
	FlagPrivate  Flags = 1 << 3 // of OpMessage from a group: to this socket alone
	FlagRanges   Flags = 1 << 4 // of OpSubscribe: the first and the last binding of a range alone
	FlagChanges  Flags = 1 << 5 // of OpSubscribe: not what exists already
	FlagComplete Flags = 1 << 7 // of OpSubscribe: EventComplete behind what exists
)

// A Kind is the kind of socket that OpSocket makes, by the number that Linux has for
// it on most machines (SOCK_STREAM and so on).
type Kind uint32

// Kinds.
const (
	KindStream    Kind = 1 // SOCK_STREAM, "tipc"
	KindDatagram  Kind = 2 // SOCK_DGRAM, "tipcgram"
	KindRDM       Kind = 4 // SOCK_RDM, "tipcrdm"
	KindSeqPacket Kind = 5 // SOCK_SEQPACKET, "tipcpacket"
)

// Network is the name that package stack has for sockets of the kind; empty for
// what is none.
func (k Kind) Network() string {
	switch k {
	case KindStream:
		return "tipc"
	case KindDatagram:
		return "tipcgram"
	case KindRDM:
		return "tipcrdm"
	case KindSeqPacket:
		return "tipcpacket"
	}
	return ""
}

// KindOf is the kind of a network of package stack; ok is false for what is none.
func KindOf(network string) (k Kind, ok bool) {
	switch network {
	case "tipc":
		return KindStream, true
	case "tipcgram":
		return KindDatagram, true
	case "tipcrdm":
		return KindRDM, true
	case "tipcpacket":
		return KindSeqPacket, true
	}
	return 0, false
}

// Connected reports whether sockets of the kind have connections.
func (k Kind) Connected() bool { return k == KindStream || k == KindSeqPacket }

// String returns the name of the kind's network, or its number.
func (k Kind) String() string {
	if s := k.Network(); s != "" {
		return s
	}
	return "kind " + strconv.Itoa(int(k))
}
