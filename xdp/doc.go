// SPDX-License-Identifier: Apache-2.0

// Package xdp connects a node to an Ethernet interface of Linux. It moves frames
// between the interface and the node's arena as they are; no header is read here
// beyond the EtherType the kernel's filter looks at.
//
// There are two drivers of equal rank. Open probes the host and the interface (Probe),
// takes what serves best by a table (Choose, docs/reference/drivers.md), and tells why. What it
// returns is a netdev.Device, and so are the drivers by themselves.
//
// # AF_XDP
//
//	              arena ═ memory shared with the kernel
//	Transmit ──► transmit ring ──► kernel ───────────────────► interface ──► wire
//	             completion ring ◄──┘
//	Receive  ◄── receive ring  ◄── kernel ◄─ program ◄─ 0x88CA ◄──┘
//	             fill ring ───────► (everything else goes on to the kernel's own stack)
//
// OpenXSK binds a socket to each queue of the interface. A small XDP program, attached by
// a link so that it vanishes with the process, steers TIPC's frames there; in native
// mode it runs in the card's driver, without a copy where that can do so, in generic
// mode behind the driver. Frames lie in the arena's chunks, where they are built and
// read. It takes CAP_NET_RAW, and CAP_BPF and CAP_NET_ADMIN for the program; Install
// lets a process that has these serve others that have only the first.
//
// A VLAN tag that the card or the kernel has moved out of a frame is invisible to the
// program, so that such a frame looks untagged. Where the card strips tags the interface
// is refused unless XSKConfig.StrippedTags says that this does no harm; the tags that
// the other end of a veth pair puts beside its frames cannot be seen at all: there the
// network must not carry tagged TIPC. AF_PACKET tells them apart.
//
// # AF_PACKET
//
//	                 arena                      kernel
//	Transmit ──► Buffer.Bytes ── sendto ──► socket, protocol 0 ─────────► interface ──► wire
//	Receive  ◄── Buffer.Space ◄─ recvfrom ─ socket ◄─ filter ◄─ 0x88CA ◄──┘
//	             one copy, no allocation
//
// OpenPacket opens two plain, non-blocking packet sockets, with a system call for each
// frame received, and for up to 16 frames sent, without rings. Frames may be as long as
// the interface takes, up to 65,535 bytes and the header; only long ones use the
// arena's large chunks. That is what measured best where frames are longer than about
// 2 KB, and what works where AF_XDP is not allowed. It needs CAP_NET_RAW while opening,
// and no privilege later.
//
// # Whose interface it is
//
// One node owns an interface. Opening binds a packet socket that receives nothing to
// it, which stands in /proc/net/packet, and holds it until Close; a
// second one finds it there, asks the owner over an abstract UNIX socket
// ("@utipc/eth/<interface>/<inode of the packet socket>") who it is, and fails with an
// *OwnedError. The claim ends with the process, so it is never stale, follows the interface
// when that is renamed, and takes CAP_NET_RAW, as opening does: users without it keep
// nobody off. It needs /proc. A TIPC
// bearer of the kernel on the interface is refused with a *KernelError; one that
// is enabled later is not noticed. The interface stays shared with all other
// protocols.
//
// # When the interface changes
//
//	up --(ip link set down)--> down --(up)--> up           frames flow again by themselves
//	up --(other end down)----> no carrier --> up           likewise
//	any --(removed or moved to another namespace)--> removed, for good
//
// A goroutine listens to the kernel's news of the interface (rtnetlink), and MTU
// follows them: 0 in every state but up. When it changes, the device calls wake. See
// Receive and Transmit for the errors. The address is read once, when the device is
// opened. A claim whose owner has been killed and is about to end is waited for, up
// to a second.
//
// Not implemented: VLAN tags (tagged frames are not ours: open the VLAN interface
// itself); following a change of address; AF_PACKET's fan-out.
package xdp
