// SPDX-License-Identifier: Apache-2.0

package genetlink

import (
	"slices"
	"syscall"

	"github.com/utipc/utipc/internal/netlink"
	"github.com/utipc/utipc/internal/tipcshow"
	"github.com/utipc/utipc/stack/admin"
)

// putRange tells what a socket is bound to.
func putRange(a *attributes, b *admin.Binding) {
	a.number(publicationType, b.Range.Type)
	a.number(publicationLower, b.Range.Lower)
	a.number(publicationUpper, b.Range.Upper)
}

func dumpNames(r *request) error {
	all, err := r.node.Admin().Names(r.ctx)
	if err != nil {
		return err
	}
	all = tipcshow.Sorted(all)
	for i := range all {
		b := &all[i]
		r.item(nameTableGet, ofNameTable, func(a *attributes) {
			a.nest(1, func(a *attributes) {
				putRange(a, b)
				a.number(publicationScope, uint32(b.Scope))
				a.number(publicationNode, uint32(b.Socket.Node))
				a.number(publicationPort, b.Socket.Port)
				a.number(publicationKey, b.Key)
			})
		})
		if r.failed != nil {
			return r.failed
		}
	}
	return nil
}

// sockets are those of the node, with their bindings.
func (r *request) sockets() ([]admin.Socket, error) {
	all, err := r.node.Admin().Sockets(r.ctx)
	if err != nil {
		return nil, err
	}
	names, err := r.node.Admin().Names(r.ctx)
	if err != nil {
		return nil, err
	}
	tipcshow.Bound(all, names)
	return all, nil
}

func dumpSockets(r *request) error {
	all, err := r.sockets()
	if err != nil {
		return err
	}
	for i := range all {
		s := &all[i]
		r.item(socketGet, ofSocket, func(a *attributes) {
			a.number(socketPort, s.Addr.Port)
			a.number(socketAddr, uint32(r.node.Addr()))
			if !tipcshow.Connected(s) {
				a.flag(socketBound, len(s.Bindings) > 0)
				return
			}
			a.nest(socketConnection, func(a *attributes) {
				a.number(connectionNode, uint32(s.Peer.Node))
				a.number(connectionPort, s.Peer.Port)
				if s.Service.Type != 0 {
					a.flag(connectionNamed, true)
					a.number(connectionType, s.Service.Type)
					a.number(connectionInstance, s.Service.Instance)
				}
			})
		})
		if r.failed != nil {
			return r.failed
		}
	}
	return nil
}

// dumpPublications tells what one socket is bound to, the newest first.
func dumpPublications(r *request) error {
	port, ok := number(netlink.Attribute(r.attrs, ofSocket), socketPort)
	if !ok {
		return syscall.EINVAL
	}
	all, err := r.sockets()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(s admin.Socket) bool { return s.Addr.Port == port })
	if i < 0 {
		return syscall.EINVAL
	}
	for _, b := range slices.Backward(all[i].Bindings) {
		r.item(publicationGet, ofPublication, func(a *attributes) {
			a.number(publicationKey, b.Key)
			putRange(a, &b)
		})
	}
	return nil
}
