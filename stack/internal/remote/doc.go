// SPDX-License-Identifier: Apache-2.0

// Package remote is the node of this host's daemon as the backend of package stack, over the
// protocol of docs/reference/attach.md.
//
//	Node ──► clientConn            management calls
//	Socket ──► session ──► clientConn, a ring   one at each daemon that comes, one after the other
//
// Each socket has a connection of its own. What is kept over the end of a daemon is made again
// at the next one, see reattach.
package remote
