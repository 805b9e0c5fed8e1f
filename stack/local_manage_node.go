// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"errors"
	"syscall"
	"time"

	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

// NetID implements nodeBackend.
func (n *localNode) NetID() uint32 {
	n.loop.Lock()
	defer n.loop.Unlock()
	return n.eng.NetID()
}

// SetAddress implements nodeBackend.
func (n *localNode) SetAddress(a NodeAddr) error {
	return n.beforeAddress(func(now time.Duration) error { return n.eng.SetAddress(now, a) })
}

// SetIdentity implements nodeBackend.
func (n *localNode) SetIdentity(id Identity) error {
	return n.beforeAddress(func(time.Duration) error { return n.eng.SetIdentity(id) })
}

// SetNetID implements nodeBackend.
func (n *localNode) SetNetID(id uint32) error {
	return n.beforeAddress(func(time.Duration) error { return n.eng.SetNetID(id) })
}

func (n *localNode) beforeAddress(change func(now time.Duration) error) error {
	n.loop.Lock()
	defer n.loop.Unlock()
	now := n.loop.Now()
	err := n.running()
	if err == nil || errors.Is(err, ErrNoAddress) {
		err = change(now)
		n.pollOnce(now, false)
	}
	if errors.Is(err, engine.ErrSettled) {
		err = &admin.Refusal{Errno: syscall.EPERM, Err: err}
	}
	return manageError("set", err)
}

// RemovePeer implements nodeBackend.
func (n *localNode) RemovePeer(a NodeAddr) error {
	return n.manage("remove", func() error {
		err := n.eng.RemovePeer(a)
		if errors.Is(err, engine.ErrContact) {
			err = &admin.Refusal{Errno: syscall.EBUSY, Err: err}
		}
		return err
	})
}

// RemovePeerIdentity implements nodeBackend.
func (n *localNode) RemovePeerIdentity(id Identity) error {
	return n.manage("remove", func() error {
		a, contact := n.eng.ByIdentity(id)
		if a == 0 || contact {
			return ErrUnreachable
		}
		return n.eng.RemovePeer(a)
	})
}
