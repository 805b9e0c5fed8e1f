// SPDX-License-Identifier: Apache-2.0

// Package software runs programs of others, as Debian has them, that know AF_TIPC of the
// kernel: with the preload library, and in a guest with a kernel's TIPC. Both print the same.
//
// A program plays both parts on one node, or one on each of two. The counters of the nodes say
// whether what it did went through them.
package software
