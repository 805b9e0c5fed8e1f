// SPDX-License-Identifier: Apache-2.0

// Package packaged tests the Debian package as an administrator meets it: built by its
// command, installed on two hosts, started as its unit says, used beside a Linux kernel,
// removed.
//
//	      north              south              kernel
//	+---------------+  +---------------+  +----------------+
//	| utipc daemon  |  | utipc daemon  |  | tipc.ko        |
//	| utipc, tools  |  | utipc, tools  |  | tipc, peer     |
//	+-----tipc0-----+  +-----tipc0-----+  +------eth0------+
//	        |                  |                   |
//	        +------------- a bridge ---------------+
//
// A host is this machine seen through an overlay of its files, in namespaces of its own:
// what is installed there, and whatever a script of the package does, goes with the test.
// The kernel is that of package rig. The test stands in for systemd: it reads the unit,
// gives the daemon the user, the capabilities and the socket to notify that are said
// there, and expects what Type=notify expects. What the sandbox of the unit forbids is
// not forbidden here.
//
// The dialogue of TestPackage is docs/tutorials/transcript.md; go test ./test/package -update writes
// it.
package packaged
