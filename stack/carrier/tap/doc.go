// SPDX-License-Identifier: Apache-2.0

// Package tap records frames in a pcapng file, which Wireshark and tcpdump read.
//
//	engine ── Tap ── device      each frame, with its time and direction
//	           └── Writer ── io.Writer
//
// A Tap wraps any device; with AF_XDP there is no other way to see the traffic,
// since the kernel's own captures miss it. A Writer is of use alone to whoever
// has frames, a time of its own and something to remark about them: a frame may
// carry a comment, such as why it was dropped.
//
// What is not here: reading captures, filters, and rotation of files. A slow
// io.Writer slows the device: put a bufio.Writer between, and flush it after
// Close.
package tap
