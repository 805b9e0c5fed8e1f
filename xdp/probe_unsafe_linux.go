// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An ifreqData is struct ifreq with a pointer in it. Its rest, up to the longest
// member of the union, is never read.
type ifreqData struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [24 - unsafe.Sizeof(uintptr(0))]byte
}

// ethtoolNumbers asks the interface's driver one question whose answer is a
// structure of so many 32-bit words, the command the first of them.
func ethtoolNumbers(fd int, ifname string, command uint32, words int) ([]uint32, error) {
	// Room behind it for what a later kernel might add.
	answer := make([]uint32, words+64)
	answer[0] = command
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&answer[0])
	req := ifreqData{data: unsafe.Pointer(&answer[0])}
	copy(req.name[:len(req.name)-1], ifname)
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&req))); e != 0 {
		return nil, e
	}
	return answer[:words], nil
}
