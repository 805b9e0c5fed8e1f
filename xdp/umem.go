// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// The memory shared with the kernel (its UMEM) is the arena's, cut into chunks of
// one size: an arena's small chunk is one of them, a jumbo chunk several.
const (
	// chunkSize is the size of a chunk, in bytes.
	chunkSize = netdev.SmallChunk
	// chunkFront is the room the kernel leaves before a frame it has received, in
	// bytes: XDP_PACKET_HEADROOM of linux/bpf.h.
	chunkFront = 256
	// chunkRoom is the longest frame that is received in one piece, in bytes.
	chunkRoom = chunkSize - chunkFront
	// tagLen is the length of a VLAN tag, in bytes. A frame with a priority tag is
	// longer by it until the program takes the tag off.
	tagLen = 4
)

// Sizes of frames, as MTUs in bytes. One of up to onePieceMTU is always received
// in one piece.
const (
	onePieceMTU = chunkRoom - frame.EthernetLen - tagLen
	longestMTU  = 65535 // of all interfaces
	// mostPieces is how many pieces the kernel takes for one frame: 17 beside the
	// first, but for some cards. The longest frame is 17 in a fresh chunk.
	mostPieces = 17
	// pageMTU is the largest MTU at which every driver of native mode puts a
	// frame into one page, with what the program and the kernel add.
	pageMTU = 3506
)
