// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// setReceiveQueues gives an interface of the calling thread's network namespace so many receive
// queues; its driver keeps the number of the others. Source: linux/ethtool.h.
func setReceiveQueues(ifname string, n uint32) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	var channels struct { // struct ethtool_channels
		command                                     uint32
		maxRx, maxTx, maxOther, maxCombined         uint32
		rxCount, txCount, otherCount, combinedCount uint32
	}
	var request struct { // struct ifreq
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}
	copy(request.name[:unix.IFNAMSIZ-1], ifname)
	request.data = unsafe.Pointer(&channels)
	for _, command := range []uint32{unix.ETHTOOL_GCHANNELS, unix.ETHTOOL_SCHANNELS} {
		channels.command = command
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request))); errno != 0 {
			return os.NewSyscallError("ethtool", errno)
		}
		channels.rxCount = n
	}
	return nil
}
