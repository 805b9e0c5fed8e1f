// SPDX-License-Identifier: Apache-2.0

package link

import (
	"errors"
	"fmt"
	"math"
	"net"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"

	"github.com/utipc/utipc/internal/bed"
)

// A dropper loses a share of the frames that arrive at an interface, before anybody sees
// them: an XDP program in generic mode, so that TCP's frames and ours meet the same fate at the
// same cost. It takes the place that AF_XDP would need, so ours go over AF_PACKET.
type dropper struct {
	share   *ebpf.Map // one number: of 2^32 frames so many are lost
	program *ebpf.Program
	link    link.Link
}

// What an XDP program answers. Source: linux/bpf.h.
const (
	xdpDrop = 1
	xdpPass = 2
)

// newDropper puts one on an interface of the calling thread's namespace; it loses nothing yet.
func newDropper(name string) (_ *dropper, err error) {
	d := &dropper{}
	defer func() {
		if err != nil {
			d.close()
			err = fmt.Errorf("a program that loses frames of %s: %w", name, err)
		}
	}()
	if d.share, err = ebpf.NewMap(&ebpf.MapSpec{Name: "utipc_share", Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 1}); err != nil {
		return nil, err
	}
	if d.program, err = ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "utipc_lose", Type: ebpf.XDP, AttachType: ebpf.AttachXDP, License: "Apache-2.0",
		Instructions: asm.Instructions{
			asm.StoreImm(asm.RFP, -4, 0, asm.Word),
			asm.LoadMapPtr(asm.R1, d.share.FD()),
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, -4),
			asm.FnMapLookupElem.Call(),
			asm.JEq.Imm(asm.R0, 0, "pass"),
			asm.LoadMem(asm.R6, asm.R0, 0, asm.Word),
			asm.FnGetPrandomU32.Call(),
			asm.JGE.Reg(asm.R0, asm.R6, "pass"),
			asm.Mov.Imm(asm.R0, xdpDrop),
			asm.Return(),
			asm.Mov.Imm(asm.R0, xdpPass).WithSymbol("pass"),
			asm.Return(),
		},
	}); err != nil {
		return nil, err
	}
	i, err := net.InterfaceByName(name)
	if err != nil {
		return nil, err
	}
	d.link, err = link.AttachXDP(link.XDPOptions{Program: d.program, Interface: i.Index, Flags: link.XDPGenericMode})
	return d, err
}

// set sets the share that is lost, 0 to 1.
func (d *dropper) set(share float64) error {
	return d.share.Put(uint32(0), uint32(math.Round(min(max(share, 0), 1)*math.MaxUint32)))
}

func (d *dropper) close() {
	if d.link != nil {
		d.link.Close()
	}
	d.program.Close() // a nil one has nothing to close
	d.share.Close()
}

// newDroppers puts one at each end of a cable.
func newDroppers(b *bed.Bed) (d [2]*dropper, err error) {
	for end := range d {
		if err := b.Do(end, func() (err error) { d[end], err = newDropper(b.Name(end)); return err }); err != nil {
			closeDroppers(d)
			return [2]*dropper{}, err
		}
	}
	return d, nil
}

func setDroppers(d [2]*dropper, share float64) (err error) {
	for _, x := range d {
		err = errors.Join(err, x.set(share))
	}
	return err
}

func closeDroppers(d [2]*dropper) {
	for _, x := range d {
		if x != nil {
			x.close()
		}
	}
}
