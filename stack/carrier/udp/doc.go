// SPDX-License-Identifier: Apache-2.0

// Package udp carries TIPC in UDP datagrams, as the kernel's UDP bearer does
// (docs/spec/01-wire.md §1.2): for networks that route, and for people without
// privileges. A *Device is a netdev.Device.
//
//	node ── Buffer: |14 B| message |          datagram: | message |
//	          Transmit ──► station ──► run ── sendmmsg, UDP_SEGMENT ──► network
//	          Receive  ◄── station ◄── cut ◄─ recvmmsg, UDP_GRO ◄──────┘
//
// The engine thinks in Ethernet frames. On this network there is no Ethernet, so
// the device gives each address and port it deals with a station address of its
// own making, takes the 14 bytes off on the way out and puts them on, towards its
// own address, on the way in. The station address is a hash: an endpoint has the
// same in the recordings of all nodes. The device tells the engine what is
// behind one (Remote), because on UDP discovery speaks of addresses and ports.
//
// # Who gets a broadcast
//
// With Config.Multicast, a group. The device then has two sockets, one bound to
// its own address and one to the group, so that any number of nodes may live on
// one host at addresses of their own, and FD is an epoll descriptor for both. Own
// datagrams that come back are ignored. Without a group, each of Config.Remotes,
// and whoever else has a link to us, gets a datagram of its own.
//
// # Strangers
//
// Anybody may send a datagram, from any number of made-up ports. The table of
// stations has a limit (maxStations). Configured remotes stay for good, and those
// with a link while it is up: the engine says so (Keep). The others make room for
// each other: first those we never sent anything, the oldest first, then those
// that we sent something longest ago. So garbage displaces garbage only.
//
// # Many frames a call
//
// Consecutive frames to one station, equal in size but for a shorter last one, go
// out as one large datagram that the kernel, or the card, cuts up (UDP_SEGMENT);
// what the kernel has put together on the way in comes as one large datagram too
// and is cut up here (UDP_GRO). Everything else is batched by sendmmsg and
// recvmmsg. Each has its fallback when the kernel or the interface lacks it;
// String and Stats tell.
//
// Received datagrams lie in memory of the device and are copied once, into chunks
// that fit: a copy costs a tenth of the system call before it, and the long
// frames of this medium do not take up long chunks when they are not long.
//
// # When the interface changes
//
// An interface that is made anew takes the membership in the group with it. Joined tells,
// and Rejoin joins by the interface that has the address now. The device does neither by
// itself: the daemon does, which looks after its bearers (package daemon/bearers).
//
// Not implemented: following changes of the local address (a
// peer that is not reached falls silent, and the link notices); authentication of
// any kind (TIPC's own encryption is the place for that).
package udp
