// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"net/netip"
	"syscall"

	"github.com/utipc/utipc/stack/admin"
)

// AddRemote implements nodeBackend.
func (n *localNode) AddRemote(bearer string, remote netip.AddrPort) error {
	n.loop.Lock()
	defer n.loop.Unlock()
	a := n.bearer(bearer)
	if a == nil {
		return manageError("add", errNoBearer())
	}
	d, ok := as[remoteAdder](a.Device)
	if !ok {
		return manageError("add", fmt.Errorf("%w: %s has no remotes", ErrConfig, bearer))
	}
	if err := d.AddRemote(remote); err != nil {
		return manageError("add", &admin.Refusal{Errno: syscall.EINVAL, Err: err})
	}
	return nil
}

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
