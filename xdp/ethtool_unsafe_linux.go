// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Questions to a driver, as ethtool(8) asks them. fd is any socket of the
// interface's network namespace. Source: linux/ethtool.h.

// An ethtoolChannels is struct ethtool_channels.
type ethtoolChannels struct {
	command                                     uint32
	maxRx, maxTx, maxOther, maxCombined         uint32
	rxCount, txCount, otherCount, combinedCount uint32
}

// receiveQueues asks how many receive queues an interface has; 0 when the driver does not tell.
// The error is a shortage.
func receiveQueues(fd int, ifname string) (int, error) {
	c := ethtoolChannels{command: unix.ETHTOOL_GCHANNELS}
	told, err := ethtool(fd, ifname, unsafe.Pointer(&c))
	if !told {
		return 0, err
	}
	return int(c.rxCount + c.combinedCount), nil
}

// stripsTags asks whether the driver takes VLAN tags out of the frames received. The error is
// a shortage.
func stripsTags(fd int, ifname string) (bool, error) {
	const rxVLAN = 1 << 8 // ETH_FLAG_RXVLAN
	// struct ethtool_value.
	value := struct{ command, data uint32 }{unix.ETHTOOL_GFLAGS, 0}
	told, err := ethtool(fd, ifname, unsafe.Pointer(&value))
	return told && value.data&rxVLAN != 0, err
}

// ethtool asks a driver. told is false when it does not answer such a question, and where
// descriptors or memory are short, which is the error: then nobody knows.
func ethtool(fd int, ifname string, command unsafe.Pointer) (told bool, err error) {
	// struct ifreq of linux/if.h with a pointer.
	var request struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}
	copy(request.name[:unix.IFNAMSIZ-1], ifname)
	request.data = command
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request)))
	return e == 0, shortage("ioctl SIOCETHTOOL", e)
}
