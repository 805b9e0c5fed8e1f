// SPDX-License-Identifier: Apache-2.0

package worker

// Drivers by name; UDP is one as well.
const (
	Auto    = "auto"    // what the stack itself would choose for the interface
	Packet  = "packet"  // AF_PACKET
	XDP     = "xdp"     // AF_XDP, in the mode that is tried first
	Generic = "generic" // AF_XDP in generic mode
	Native  = "native"  // AF_XDP in native mode, with or without a copy, as the interface's driver can
	Zero    = "zero"    // AF_XDP in native mode without a copy, or not at all; never chosen
	Whole   = "whole"   // UDP without segmentation and receive offload; never chosen
)
