// SPDX-License-Identifier: Apache-2.0

// Package layers reads packet captures and teaches gopacket what TIPC is. It is
// for tools and tests; nothing that carries traffic imports it.
//
//	pcap, pcapng ── Reader ──► Frame ── Unwrap ──► a TIPC message ──► frame.Parse
//
//	gopacket.NewPacket ── Ethernet, UDP ──► TIPC, a gopacket layer
//
// Importing the package adds one layer type to gopacket's list, LayerTypeTIPC, whose
// number is TIPC's EtherType, and makes gopacket's decoders of Ethernet (EtherType
// 0x88CA) and UDP (port 6118) use it. A program that only wants that imports it for
// its effect:
//
//	import _ "github.com/utipc/utipc/frame/layers"
//
// Not read: link types other than Ethernet, IPv6 extension headers but that of
// fragments (which a Joiner puts together), UDP ports other than 6118, encrypted messages.
package layers
