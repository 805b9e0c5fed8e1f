// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"
	"net/netip"
	"syscall"

	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
)

// AddRemote implements backend.Node.
func (n *Node) AddRemote(bearer string, remote netip.AddrPort) error {
	n.loop.Lock()
	defer n.loop.Unlock()
	a := n.bearer(bearer)
	if a == nil {
		return backend.ManageError("add", errNoBearer())
	}
	d, ok := as[remoteAdder](a.Device)
	if !ok {
		return backend.ManageError("add", fmt.Errorf("%w: %s has no remotes", engine.ErrConfig, bearer))
	}
	if err := d.AddRemote(remote); err != nil {
		return backend.ManageError("add", &admin.Refusal{Errno: syscall.EINVAL, Err: err})
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

// An explainer is a device that was chosen of several: it names the one that was, and says
// why, as package xdp's.
type explainer interface {
	Explain() (driver, why string)
}

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
