// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/bench/load/kernel"
)

// congestion is the congestion control of every connection: the kernel's default
// differs from host to host.
const congestion = "cubic"

// port is where end 1 listens.
const port = 7100

// A Config says which end this is.
type Config struct {
	End   int    // 1 listens
	Addr  string // end 1's IPv4 address
	Wait  Wait
	Nagle bool // without TCP_NODELAY
}

// Open listens, at end 1.
func Open(c Config) (*kernel.Stream, error) {
	at := &unix.SockaddrInet4{Port: port}
	ip := net.ParseIP(c.Addr).To4()
	if ip == nil {
		return nil, fmt.Errorf("%q is no IPv4 address", c.Addr)
	}
	copy(at.Addr[:], ip)
	name := "TCP, " + string(c.Wait)
	if c.Nagle {
		name += ", without NODELAY"
	}
	return kernel.OpenStream(kernel.StreamConfig{Name: name, End: c.End, Wait: c.Wait, Family: unix.AF_INET, Addr: at, Options: c.options})
}

// options are those of every socket.
func (c Config) options(fd int) error {
	if !c.Nagle {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
			return os.NewSyscallError("setsockopt TCP_NODELAY", err)
		}
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, congestion)
	if err == unix.EPERM {
		err = nil // who has no privilege has the system's, where that is another
	}
	return os.NewSyscallError("setsockopt TCP_CONGESTION "+congestion, err)
}
