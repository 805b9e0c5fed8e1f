// SPDX-License-Identifier: Apache-2.0

// Package plain makes TIPC sockets for programs that know nothing of the daemon: the
// preload library calls it, see docs/reference/attach.md, "Plain sockets".
//
// A plain socket is a pair of connected UNIX sockets, a stream for SOCK_STREAM and a
// seqpacket for the others. The program has one end, P; the daemon has the other, D. What
// passes between them is data alone, so that read, poll, dup, fork, exec and the passing of
// descriptors are the kernel's own. All else is asked for over a connection to the daemon
// that carries P: whoever has P may ask.
//
//	open ──(listen)──► listening ──(accept)──► another socket
//	  └───(connect)──► connecting ──► connected: two goroutines copy between D and the node
//	                            └──► direct: D is the other program's P
//	any state ──(P is closed, the peer ends, the daemon ends)──► ended
//
// Where both programs of a connection are on this host, D of the one that connected is
// passed to the one that accepted, and the daemon has no part in it any more.
//
// Both ends have abstract names that say what they are, see name. By them the library
// recognises P, and finds its own address and the peer's, with getsockname and getpeername.
package plain
