// SPDX-License-Identifier: Apache-2.0

package local

import (
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack/engine"
)

// A nodeLocker is the lock of a node.
type nodeLocker struct{ n *Node }

func (l nodeLocker) Lock()   { l.n.loop.Lock() }
func (l nodeLocker) Unlock() { l.n.loop.Unlock() }

// NewAccount implements backend.Node.
func (n *Node) NewAccount(c hosting.AccountConfig) *hosting.Account {
	return hosting.OpenAccount(nodeLocker{n}, c)
}

// hold is hosting.Hold for the socket of a port.
func (n *Node) hold(p *engine.Port, k int) {
	n.loop.Lock()
	defer n.loop.Unlock()
	if p == nil {
		return
	}
	now := n.loop.Now()
	p.Hold(now, k)
	if k > 0 {
		n.pollOnce(now, false) // what was ended is told
	}
}
