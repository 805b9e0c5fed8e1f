// SPDX-License-Identifier: Apache-2.0

// Package xdp connects a node to an Ethernet interface of Linux. It moves frames
// between the interface and the node's arena as they are; no header is read here
// beyond the EtherType the kernel's filter looks at.
//
//	                 arena                      kernel
//	Transmit ──► Buffer.Bytes ── sendto ──► socket, protocol 0 ─────────► interface ──► wire
//	Receive  ◄── Buffer.Space ◄─ recvfrom ─ socket ◄─ filter ◄─ 0x88CA ◄──┘
//	             one copy, no allocation
//
// OpenPacket opens the AF_PACKET driver: two plain, non-blocking packet sockets
// and a system call for each frame received, and for up to 16 frames sent, without
// rings. Frames may be as long as the interface takes, up to 65,535 bytes and the
// header; only long ones use the arena's large chunks. That is what measured best where
// frames are longer than about 2 KB, and what works where AF_XDP is not allowed.
// A *Packet is a stack.Device. It needs the privilege CAP_NET_RAW while opening,
// and none later.
//
// # Whose interface it is
//
// One node owns an interface. OpenPacket takes the abstract UNIX socket
// "@utipc/eth/<interface>" of the network namespace and holds it until Close; a
// second OpenPacket connects to it, reads who the owner is, and fails with an
// *OwnedError. The claim ends with the process, so it is never stale. It keeps
// honest programs apart and is no lock against others: whoever can run a program
// in the namespace can hold it (the error then names that user), and an
// interface that is renamed takes its claim along under the old name. A TIPC
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
// Not implemented: AF_XDP; VLAN tags (tagged frames are dropped: open the VLAN
// interface itself); several queues or fan-out; following a change of address.
package xdp
