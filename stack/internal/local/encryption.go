// SPDX-License-Identifier: Apache-2.0

package local

import (
	"net"
	"time"

	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
)

// SetKey implements backend.Node.
func (n *Node) SetKey(k engine.Key) error {
	return n.onKeys("set key", func(now time.Duration) error { return n.eng.SetKey(now, k) })
}

// FlushKeys implements backend.Node.
func (n *Node) FlushKeys() error {
	return n.onKeys("flush keys", func(now time.Duration) error {
		n.eng.FlushKeys(now)
		return nil
	})
}

// Rekey implements backend.Node.
func (n *Node) Rekey() error {
	return n.onKeys("rekey", n.eng.Rekey)
}

// SetRekeying implements backend.Node.
func (n *Node) SetRekeying(interval time.Duration) error {
	return n.onKeys("set rekeying", func(now time.Duration) error {
		n.eng.SetRekeying(now, interval)
		return nil
	})
}

// SetMigration implements backend.Node.
func (n *Node) SetMigration(on bool) error {
	return n.onKeys("set migration", func(time.Duration) error {
		n.eng.SetMigration(on)
		return nil
	})
}

// onKeys lets change work on the engine, and sends what follows.
func (n *Node) onKeys(op string, change func(now time.Duration) error) error {
	n.loop.Lock()
	defer n.loop.Unlock()
	err := net.ErrClosed
	if !n.closing {
		now := n.loop.Now()
		err = change(now)
		n.pollOnce(now, false)
	}
	if err != nil {
		return backend.OpError(op, "tipc", nil, nil, err)
	}
	return nil
}

// Encryption implements backend.Node.
func (n *Node) Encryption() admin.EncryptionStatus {
	n.loop.Lock()
	defer n.loop.Unlock()
	return n.eng.Encryption()
}
