// SPDX-License-Identifier: Apache-2.0

// Package layers reads packet captures and teaches gopacket what TIPC is. It is
// for tools and tests; nothing that carries traffic imports it.
//
//	pcap, pcapng ── Reader ──► Frame ── Unwrap ──► a TIPC message ──► frame.Parse
//
//	gopacket.NewPacket ── Ethernet, UDP ── Hook ──► TIPC, a gopacket layer
//
// Importing the package adds one layer type to gopacket's list, LayerTypeTIPC,
// under a number of its own. Only Hook, when called, makes gopacket's decoders of
// Ethernet and UDP use it.
//
// Not read: link types other than Ethernet, IP datagrams in fragments, IPv6
// extension headers, UDP ports other than 6118, encrypted messages.
package layers
