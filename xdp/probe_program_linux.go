// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// tryProgram loads what AF_XDP needs in the kernel, an XDP program and a map of
// sockets, and unloads both. The program passes every frame on, and is attached
// nowhere.
func tryProgram() Trial {
	m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.XSKMap, KeySize: 4, ValueSize: 4, MaxEntries: 1})
	if err != nil {
		return programTrial("a map of AF_XDP sockets", err)
	}
	defer m.Close()
	const pass = 2 // XDP_PASS, linux/bpf.h
	p, err := ebpf.NewProgramWithOptions(&ebpf.ProgramSpec{
		Type:         ebpf.XDP,
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, pass), asm.Return()},
		License:      "Apache-2.0",
	}, ebpf.ProgramOptions{LogDisabled: true})
	if err != nil {
		return programTrial("an XDP program", err)
	}
	p.Close()
	return Trial{Result: Works}
}

func programTrial(what string, err error) Trial {
	says := err
	if errno := unix.Errno(0); errors.As(err, &errno) {
		says = errno // without the guesses of the library
	}
	t := trial(fmt.Errorf("loading %s: %w", what, says))
	if errors.Is(err, ebpf.ErrNotSupported) {
		t.Result = Absent
	}
	return t
}
