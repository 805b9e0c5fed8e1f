// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"encoding/binary"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
)

// What an XDP program is given, and answers. Source: linux/bpf.h.
const (
	mdData    = 0  // struct xdp_md: where the frame begins
	mdDataEnd = 4  // where what can be seen of it ends
	mdQueue   = 16 // the receive queue it came by
	xdpPass   = 2  // to the kernel, as if there were no program
)

// stationProgram takes out what stationFilter keeps, on the same grounds, and
// leaves all else to the kernel: TIPC's frames to the station mac, to a group or
// to all, untagged. One with VLAN number 0 has a priority and no network; its tag
// is taken off, as the kernel does for its own TIPC. A frame whose queue has no
// socket in the map, an XSKMAP, passes too.
//
// The program sees the frame's bytes only, not a tag beside them: one that a card
// has taken off, see tagsHidden, or that a VLAN interface at the other end of a
// veth has given along. The kernel's function that tells
// (bpf_xdp_metadata_rx_vlan_tag, Linux 6.8) is for native mode and programs under
// the GPL only.
// Source: docs/spec/01-wire.md §1.1.
func stationProgram(mac frame.MAC, sockets *ebpf.Map) asm.Instructions {
	const (
		ctx, start, end, tagged = asm.R6, asm.R7, asm.R8, asm.R9
		addresses               = 12 // bytes before the EtherType
	)
	// check goes to pass unless the first n bytes can be seen.
	check := func(n int32) asm.Instructions {
		return asm.Instructions{
			asm.Mov.Reg(asm.R1, start),
			asm.Add.Imm(asm.R1, n),
			asm.JGT.Reg(asm.R1, end, "pass"),
		}
	}
	// All loads are of two bytes, which are aligned on every machine.
	load := func(offset int16) asm.Instruction { return asm.LoadMem(asm.R2, start, offset, asm.Half) }
	p := asm.Instructions{
		asm.Mov.Reg(ctx, asm.R1),
		asm.LoadMem(start, ctx, mdData, asm.Word),
		asm.LoadMem(end, ctx, mdDataEnd, asm.Word),
		asm.Mov.Imm(tagged, 0),
	}
	p = append(p, check(frame.EthernetLen)...)
	p = append(p,
		load(12),
		asm.JEq.Imm(asm.R2, wire16(frame.EtherType), "destination"),
		asm.JEq.Imm(asm.R2, wire16(unix.ETH_P_8021Q), "tag"),
		asm.JNE.Imm(asm.R2, wire16(unix.ETH_P_8021AD), "pass"),
	)
	// The low 12 bits of the tag are the VLAN's number.
	tag := check(frame.EthernetLen + tagLen)
	tag[0] = tag[0].WithSymbol("tag")
	p = append(p, tag...)
	p = append(p,
		load(16),
		asm.JNE.Imm(asm.R2, wire16(frame.EtherType), "pass"),
		load(14),
		asm.And.Imm(asm.R2, wire16(0x0fff)),
		asm.JNE.Imm(asm.R2, 0, "pass"),
		asm.Mov.Imm(tagged, 1),
	)
	p = append(p,
		asm.LoadMem(asm.R2, start, 0, asm.Byte).WithSymbol("destination"),
		asm.And.Imm(asm.R2, 1),
		asm.JNE.Imm(asm.R2, 0, "ours"), // a group, or all
	)
	for i := int16(0); i < 6; i += 2 {
		p = append(p, load(i), asm.JNE.Imm(asm.R2, int32(binary.NativeEndian.Uint16(mac[i:])), "pass"))
	}
	p = append(p, asm.JEq.Imm(tagged, 0, "redirect").WithSymbol("ours"))
	// Both addresses move up over the tag.
	for i := int16(0); i < addresses; i += 2 {
		p = append(p, load(i), asm.StoreMem(asm.RFP, i-addresses, asm.R2, asm.Half))
	}
	p = append(p,
		asm.Mov.Reg(asm.R1, ctx),
		asm.Mov.Imm(asm.R2, tagLen),
		asm.FnXdpAdjustHead.Call(),
		asm.JNE.Imm(asm.R0, 0, "pass"),
		asm.LoadMem(start, ctx, mdData, asm.Word),
		asm.LoadMem(end, ctx, mdDataEnd, asm.Word),
	)
	p = append(p, check(addresses)...)
	for i := int16(0); i < addresses; i += 2 {
		p = append(p, asm.LoadMem(asm.R2, asm.RFP, i-addresses, asm.Half), asm.StoreMem(start, i, asm.R2, asm.Half))
	}
	return append(p,
		asm.LoadMapPtr(asm.R1, sockets.FD()).WithSymbol("redirect"),
		asm.LoadMem(asm.R2, ctx, mdQueue, asm.Word),
		asm.Mov.Imm(asm.R3, xdpPass), // when the queue has no socket
		asm.FnRedirectMap.Call(),
		asm.Return(),
		asm.Mov.Imm(asm.R0, xdpPass).WithSymbol("pass"),
		asm.Return(),
	)
}

// wire16 is what a two-byte load makes of v in network byte order.
func wire16(v uint16) int32 { return int32(htons(v)) }
