// SPDX-License-Identifier: Apache-2.0

// Package netlink builds and reads the messages of Linux's netlink sockets, and sends requests
// to rtnetlink.
//
// It has what its users need: interfaces and routes (rtnetlink), and attributes for two
// families of generic netlink. It does not number requests: a socket has one request under way.
//
// Source: netlink(7), rtnetlink(7), linux/netlink.h.
package netlink
