// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
)

// User-mode-linux sets a process's vector registers by ptrace(PTRACE_SETREGSET) with
// as many bytes as the largest processors had when it was written, 2696. The host
// wants all it has or more, of which it takes its own size; with AMX (Intel, from
// 2023 on) that is 11,008, and the guest's first process fails with "ptrace set fp
// regs failed, errno = 14". So the length in the call is raised. What the host then
// reads behind the guest's registers it ignores: their header says which parts are
// there.
const (
	ptraceSetRegset = 0x4205
	oldXState       = 2696
	newXState       = 1 << 14
)

// widenXState changes the kernel at path accordingly. One that sets the registers
// in some other way is left alone.
func widenXState(path string) error {
	kernel, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	// movq $2696, -8(%rbp) ; mov $PTRACE_SETREGSET, %edi
	was := binary.LittleEndian.AppendUint32([]byte{0x48, 0xc7, 0x45, 0xf8}, oldXState)
	was = binary.LittleEndian.AppendUint32(append(was, 0xbf), ptraceSetRegset)
	switch bytes.Count(kernel, was) {
	case 0:
		return nil
	case 1:
	default:
		return fmt.Errorf("rig: %s sets registers in several places", path)
	}
	binary.LittleEndian.PutUint32(kernel[bytes.Index(kernel, was)+4:], newXState)
	return replace(path, kernel)
}
