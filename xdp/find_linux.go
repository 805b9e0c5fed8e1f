// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/netlink"
)

// longestAltName is how long an alternative name may be, in bytes. Source: linux/if.h,
// ALTIFNAMSIZ, the final 0 not counted.
const longestAltName = 127

// InterfaceByName finds an interface of the calling thread's network namespace by its
// name or by one of its alternative names ("ip link property add dev eth0 altname lan7").
// Errors: *InterfaceError with ErrMissing; the system's, where it is short of descriptors or
// memory and cannot tell.
func InterfaceByName(name string) (*net.Interface, error) {
	if name == "" || len(name) > longestAltName || strings.ContainsAny(name, "/\x00") {
		return nil, missing(name) // no interface can have such a name
	}
	if len(name) < unix.IFNAMSIZ {
		i, err := net.InterfaceByName(name)
		switch {
		case err == nil:
			return i, nil
		case netlink.Shortage(err):
			return nil, err
		}
	}
	// Kernels before Linux 5.5 have no such names, and refuse the question.
	l, _, err := requestLink(0, netlink.AppendAttribute(nil, unix.IFLA_ALT_IFNAME, append([]byte(name), 0)))
	if err == nil {
		var i *net.Interface
		if i, err = net.InterfaceByIndex(l.Index); err == nil {
			return i, nil
		}
	}
	if netlink.Shortage(err) {
		return nil, err
	}
	return nil, missing(name) // or removed since
}

// findLink finds an interface as InterfaceByName does, and says what routing netlink
// knows of it.
func findLink(name string) (Link, Sizes, error) {
	i, err := InterfaceByName(name)
	if err != nil {
		return Link{}, Sizes{}, err
	}
	l, queues, err := askLink(i.Index)
	if errors.Is(err, unix.ENODEV) {
		err = missing(name) // removed since
	} else if err != nil {
		err = fmt.Errorf("xdp: interface %s: %w", name, err)
	}
	return l, queues, err
}

// findUsable finds an interface that a node can use, under a name that its links can
// have. Errors: an *InterfaceError; the system's.
func findUsable(name string) (Link, error) {
	l, _, err := findLink(name)
	if err != nil {
		return l, err
	}
	if len(name) >= unix.IFNAMSIZ {
		return l, &InterfaceError{name, ErrName, "it is an alternative name of " + l.Name + ": use that"}
	}
	return l, l.unusable()
}
