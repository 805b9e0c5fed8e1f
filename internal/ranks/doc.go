// SPDX-License-Identifier: Apache-2.0

// Package ranks lets the processes of a parallel program talk, as MPI does: there are so
// many ranks, each sends to and receives from the others by their numbers. What carries the
// messages is either a node of this stack or the kernel's TCP; a program does not see which.
//
//	Place ── Connect ──► Comm   Send, Recv, Exchange           with one other rank
//	  │                         Barrier, Sum, Gather, Alltoall  with all of them
//	  └───── Listen, Dial       a net.Conn to another rank, for what is no rank's message
//
// Between two ranks there is one connection, over either: a stream ("tipc") under the name
// of the lower rank, or TCP with NODELAY. RDM would need no connection and takes 5 to 10 %
// less for a small message, but nobody holds its sender back for a receiver that computes;
// SEQPACKET takes as long as a stream for these messages, and less of it fits a write.
//
// A message is a tag, a length, and its bytes. One rank is one goroutine: a Comm is not safe
// for concurrent use.
package ranks
