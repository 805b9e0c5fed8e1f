// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"syscall"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// NetID implements backend.Node.
func (n *Node) NetID() uint32 {
	n.loop.Lock()
	defer n.loop.Unlock()
	return n.eng.NetID()
}

// SetAddress implements backend.Node.
func (n *Node) SetAddress(a frame.NodeAddr) error {
	return n.beforeAddress(func(now time.Duration) error { return n.eng.SetAddress(now, a) })
}

// SetIdentity implements backend.Node.
func (n *Node) SetIdentity(id frame.Identity) error {
	return n.beforeAddress(func(time.Duration) error { return n.eng.SetIdentity(id) })
}

// SetNetID implements backend.Node.
func (n *Node) SetNetID(id uint32) error {
	return n.beforeAddress(func(time.Duration) error { return n.eng.SetNetID(id) })
}

func (n *Node) beforeAddress(change func(now time.Duration) error) error {
	n.loop.Lock()
	defer n.loop.Unlock()
	now := n.loop.Now()
	err := n.running()
	if err == nil || errors.Is(err, socket.ErrNoAddress) {
		err = change(now)
		n.pollOnce(now, false)
	}
	if errors.Is(err, engine.ErrSettled) {
		err = &admin.Refusal{Errno: syscall.EPERM, Err: err}
	}
	return backend.ManageError("set", err)
}

// RemovePeer implements backend.Node.
func (n *Node) RemovePeer(a frame.NodeAddr) error {
	return n.manage("remove", func() error {
		err := n.eng.RemovePeer(a)
		if errors.Is(err, engine.ErrContact) {
			err = &admin.Refusal{Errno: syscall.EBUSY, Err: err}
		}
		return err
	})
}

// RemovePeerIdentity implements backend.Node.
func (n *Node) RemovePeerIdentity(id frame.Identity) error {
	return n.manage("remove", func() error {
		a, contact := n.eng.ByIdentity(id)
		if a == 0 || contact {
			return engine.ErrNoNode
		}
		return n.eng.RemovePeer(a)
	})
}
