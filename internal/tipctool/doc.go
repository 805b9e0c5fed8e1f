// SPDX-License-Identifier: Apache-2.0

// Package tipctool shows and steers a node in the words of tipc(8): bearer, link, media,
// nametable, node, peer and socket, with its abbreviations, output, errors and status.
//
//	words ──► verb tree ──► run ──► *stack.Node ──► tipcshow ──► text or JSON
//
// What is wrong with the words is told before the node is looked for. It works on every
// *stack.Node, of its own process or attached to a daemon.
//
// Unlike tipc(8) it prints help that was asked for to the standard output with status 0,
// JSON wherever there is output, and lines of its own below tipc(8)'s. All differences
// stand in docs/reference/tools.md. Source: docs/spec/10-management.md.
package tipctool
