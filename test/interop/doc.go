// SPDX-License-Identifier: Apache-2.0

// Package interop tests this stack against the Linux kernel's own TIPC: a kernel
// started as an ordinary process (package rig) at one end of a cable, a node of
// ours at the other; two kernels at the ends of the same line, for comparison; or two
// kernels and two nodes of ours in one segment. Everything but the tests against
// AF_PACKET works without privileges.
package interop
