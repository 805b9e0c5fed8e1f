// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"errors"
	"syscall"
	"time"

	"github.com/utipc/utipc/stack/engine"
)

// NetID is the cluster's number.
func (n *Node) NetID() uint32 {
	if n.far != nil {
		return showFar[uint32](n, "net-id")
	}
	n.mu.Lock()
	defer n.unlock()
	return n.eng.NetID()
}

// SetAddress gives a node that was opened with NoBearers, and has had none, its address.
// It is settled at once. Errors, inside *net.OpError: a *Refusal with EPERM once the node
// has an address, with EINVAL for address 0.
func (n *Node) SetAddress(a NodeAddr) error {
	if n.far != nil {
		return tellFar(n, "set-address", a)
	}
	return n.beforeAddress(func(now time.Duration) error { return n.eng.SetAddress(now, a) })
}

// SetIdentity names such a node. Its address follows from that, when it has a bearer.
// Errors as of SetAddress.
func (n *Node) SetIdentity(id Identity) error {
	if n.far != nil {
		return tellFar(n, "set-identity", id)
	}
	return n.beforeAddress(func(time.Duration) error { return n.eng.SetIdentity(id) })
}

// SetNetID sets the cluster's number of such a node, 1 to 9999. Errors as of SetAddress.
func (n *Node) SetNetID(id uint32) error {
	if n.far != nil {
		return tellFar(n, "set-net-id", id)
	}
	return n.beforeAddress(func(time.Duration) error { return n.eng.SetNetID(id) })
}

func (n *Node) beforeAddress(change func(now time.Duration) error) error {
	n.mu.Lock()
	defer n.unlock()
	now := n.now()
	err := n.running()
	if err == nil || errors.Is(err, ErrNoAddress) {
		err = change(now)
		n.lap(now, false)
	}
	if errors.Is(err, engine.ErrSettled) {
		err = &Refusal{Errno: syscall.EPERM, Err: err}
	}
	return manageError("set", err)
}

// RemovePeer forgets another node that there is no contact with: it is no longer among
// Peers and Links. Else that happens five minutes after contact was lost. Errors, inside
// *net.OpError: a *Refusal with EBUSY while there is contact, with ENXIO for a node that
// is not known.
func (n *Node) RemovePeer(a NodeAddr) error {
	if n.far != nil {
		return tellFar(n, "remove-peer", a)
	}
	return n.manage("remove", func() error {
		err := n.eng.RemovePeer(a)
		if errors.Is(err, engine.ErrContact) {
			err = &Refusal{Errno: syscall.EBUSY, Err: err}
		}
		return err
	})
}

// RemovePeerIdentity is RemovePeer by identity. As a kernel's, it finds nodes that there
// is no contact with only: the answer is ENXIO for any other.
func (n *Node) RemovePeerIdentity(id Identity) error {
	if n.far != nil {
		return tellFar(n, "remove-peer-identity", id)
	}
	return n.manage("remove", func() error {
		a, contact := n.eng.ByIdentity(id)
		if a == 0 || contact {
			return ErrUnreachable
		}
		return n.eng.RemovePeer(a)
	})
}
