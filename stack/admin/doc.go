// SPDX-License-Identifier: Apache-2.0

// Package admin is how a node is managed: its bearers and links, its keys, what it knows of
// its cluster and what it has counted, by the names that tipc(8) uses.
//
//	links, err := node.Admin().Links(ctx)
//	err = node.Admin().SetBearer(ctx, "eth0", admin.BearerConfig{LinkConfig: admin.LinkConfig{Tolerance: time.Second}})
//
// A node in this process, of stack.Open, answers at once. Of an attached one, of
// stack.Attach, the daemon does, which may refuse a program that lacks the right
// (syscall.EPERM); such a call ends with ctx, and fails with a *stack.GoneError while no daemon
// is there. Unless it says otherwise the errors of a call are inside *net.OpError.
//
// What is refused is a *Refusal, with the errno that a kernel answers.
//
// AddDevice and DisableBearer take devices in and out of a running node, under load and of any
// kind. While a device is attached the node stands still, 20 ms for AF_XDP, which registers the
// node's memory. EnableBearer asks for a bearer in words, of whatever stack.Config.OpenBearer
// can open, as a program does that is attached to another's node.
//
// Capture copies the frames of a running node, with a comment on each that was dropped or sent
// again; Watch reports bearers, links and peers that come and go. Both have queues of limited
// size that delay nobody, and report what they have lost.
package admin
