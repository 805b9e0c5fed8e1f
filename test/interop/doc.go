// SPDX-License-Identifier: Apache-2.0

// Package interop tests this stack against the Linux kernel's own TIPC: a kernel
// started as an ordinary process (package rig) at one end of a cable, a node of
// ours at the other. Everything but the tests against AF_PACKET works without
// privileges.
package interop
