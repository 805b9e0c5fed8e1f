// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Questions to a driver, as ethtool(8) asks them. fd is any socket of the
// interface's network namespace. Source: linux/ethtool.h.

// receiveQueues asks how many receive queues an interface has; ok is false when
// the driver does not tell.
func receiveQueues(fd int, ifname string) (n int, ok bool) {
	// struct ethtool_channels.
	var channels struct {
		command                                     uint32
		maxRx, maxTx, maxOther, maxCombined         uint32
		rxCount, txCount, otherCount, combinedCount uint32
	}
	channels.command = unix.ETHTOOL_GCHANNELS
	if !ethtool(fd, ifname, unsafe.Pointer(&channels)) {
		return 0, false
	}
	n = int(channels.rxCount + channels.combinedCount)
	return n, n > 0
}

// stripsTags asks whether the driver takes VLAN tags out of the frames received.
func stripsTags(fd int, ifname string) bool {
	const rxVLAN = 1 << 8 // ETH_FLAG_RXVLAN
	// struct ethtool_value.
	value := struct{ command, data uint32 }{unix.ETHTOOL_GFLAGS, 0}
	return ethtool(fd, ifname, unsafe.Pointer(&value)) && value.data&rxVLAN != 0
}

func ethtool(fd int, ifname string, command unsafe.Pointer) bool {
	// struct ifreq of linux/if.h with a pointer.
	var request struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}
	copy(request.name[:unix.IFNAMSIZ-1], ifname)
	request.data = command
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request)))
	return e == 0
}
