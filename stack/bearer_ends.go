// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"net/netip"
	"syscall"
)

// A device over UDP may have these methods beside, as carrier/udp's.
type (
	// ender tells the own address, and where broadcasts go.
	ender interface {
		Ends() (local, remote netip.AddrPort)
	}
	// remoteAdder makes one more host get the broadcasts; port 0 is TIPC's. It is safe
	// for concurrent use.
	remoteAdder interface {
		AddRemote(netip.AddrPort) error
	}
)

// as finds a part of a device that has it, or of one within.
func as[T any](d any) (part T, ok bool) {
	for {
		if p, ok := d.(T); ok {
			return p, true
		}
		w, ok := d.(interface{ Unwrap() any })
		if !ok {
			return part, false
		}
		d = w.Unwrap()
	}
}

// AddRemote makes one more host get what goes to all, over the bearer of that name,
// "UDP1" or "udp:UDP1". The address's port 0 is TIPC's, 6118. Errors, inside
// *net.OpError: a *Refusal with EINVAL, "Bearer not found.", or where the bearer has a
// multicast group, is not over UDP, or takes no such address.
func (n *Node) AddRemote(bearer string, remote netip.AddrPort) error {
	if n.far != nil {
		return tellFar(n, "add-remote", remoteWords{bearer, remote})
	}
	n.mu.Lock()
	defer n.unlock()
	a := n.bearer(bearer)
	if a == nil {
		return manageError("add", errNoBearer())
	}
	d, ok := as[remoteAdder](a.dev)
	if !ok {
		return manageError("add", fmt.Errorf("%w: %s has no remotes", ErrConfig, bearer))
	}
	if err := d.AddRemote(remote); err != nil {
		return manageError("add", &Refusal{Errno: syscall.EINVAL, Err: err})
	}
	return nil
}
