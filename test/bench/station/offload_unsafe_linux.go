// SPDX-License-Identifier: Apache-2.0

package station

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Requests that switch an offload. Source: linux/ethtool.h.
var offloads = map[string]uint32{
	"TSO": 0x1f, // ETHTOOL_STSO
	"GSO": 0x24, // ETHTOOL_SGSO
	"GRO": 0x2c, // ETHTOOL_SGRO
}

// An ethtoolValue is what they carry.
type ethtoolValue struct{ cmd, data uint32 }

// WithoutOffloads switches TSO, GSO and GRO of an interface of the calling thread's namespace off.
func WithoutOffloads(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for what, cmd := range offloads {
		v := ethtoolValue{cmd: cmd}
		var r struct { // struct ifreq
			name [unix.IFNAMSIZ]byte
			data unsafe.Pointer
			_    [16]byte
		}
		copy(r.name[:unix.IFNAMSIZ-1], name)
		r.data = unsafe.Pointer(&v)
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&r))); errno != 0 {
			return fmt.Errorf("switching %s off: %w", what, errno)
		}
	}
	return nil
}
