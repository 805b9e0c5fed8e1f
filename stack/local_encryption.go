// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"net"
	"time"

	"github.com/utipc/utipc/stack/admin"
)

// SetKey implements nodeBackend.
func (n *localNode) SetKey(k Key) error {
	return n.onKeys("set key", func(now time.Duration) error { return n.eng.SetKey(now, k) })
}

// FlushKeys implements nodeBackend.
func (n *localNode) FlushKeys() error {
	return n.onKeys("flush keys", func(now time.Duration) error {
		n.eng.FlushKeys(now)
		return nil
	})
}

// Rekey implements nodeBackend.
func (n *localNode) Rekey() error {
	return n.onKeys("rekey", n.eng.Rekey)
}

// SetRekeying implements nodeBackend.
func (n *localNode) SetRekeying(interval time.Duration) error {
	return n.onKeys("set rekeying", func(now time.Duration) error {
		n.eng.SetRekeying(now, interval)
		return nil
	})
}

// SetMigration implements nodeBackend.
func (n *localNode) SetMigration(on bool) error {
	return n.onKeys("set migration", func(time.Duration) error {
		n.eng.SetMigration(on)
		return nil
	})
}

// onKeys lets change work on the engine, and sends what follows.
func (n *localNode) onKeys(op string, change func(now time.Duration) error) error {
	n.loop.Lock()
	defer n.loop.Unlock()
	err := net.ErrClosed
	if !n.closing {
		now := n.loop.Now()
		err = change(now)
		n.pollOnce(now, false)
	}
	if err != nil {
		return opError(op, "tipc", nil, nil, err)
	}
	return nil
}

// Encryption implements nodeBackend.
func (n *localNode) Encryption() admin.EncryptionStatus {
	n.loop.Lock()
	defer n.loop.Unlock()
	return n.eng.Encryption()
}
