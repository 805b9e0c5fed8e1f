// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"net"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/netdev"
)

// TakeClaim is takeClaim.
func TakeClaim(ifname string) (release func(), err error) {
	c, err := takeClaim(ifname)
	if err != nil {
		return nil, err
	}
	return c.release, nil
}

// ClaimSilently claims an interface of the calling thread's network namespace without a word.
// It returns where newcomers ask for one.
func ClaimSilently(ifname string) (ask *net.UnixAddr, release func(), err error) {
	ifi, err := net.InterfaceByName(ifname)
	if err != nil {
		return nil, nil, err
	}
	fd, inode, err := bindClaim(ifi.Index)
	if err != nil {
		return nil, nil, err
	}
	return introductionName(ifname, inode), func() { unix.Close(fd) }, nil
}

// Registrations counts how often an arena's memory is registered with the kernel.
func Registrations(arena *netdev.Arena) (n int) {
	umems.Lock()
	defer umems.Unlock()
	for _, u := range umems.all {
		if u.arena == arena {
			n++
		}
	}
	return n
}
