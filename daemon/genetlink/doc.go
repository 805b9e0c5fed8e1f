// SPDX-License-Identifier: Apache-2.0

// Package genetlink answers what programs ask of the kernel's family TIPCv2 of generic netlink,
// as tipc(8) of iproute2 does, from a node's management.
//
//	message ──► parse ──► table of commands ──► *admin.Admin ──► attributes ──► messages
//
// A request has one answer: messages, and then an acknowledgement, or the end of a list. What
// fails is an errno, and a sentence for those who want it. Nothing is kept between requests, and
// no answer is held in memory as a whole: it is written in pieces as large as a kernel's.
//
// Source: linux/netlink.h, linux/genetlink.h, linux/tipc_netlink.h; docs/spec/10-management.md.
// What attributes an answer has, in which order, and the errnos are those of a kernel 6.1.176,
// as seen.
package genetlink
