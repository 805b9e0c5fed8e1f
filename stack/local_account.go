// SPDX-License-Identifier: Apache-2.0

package stack

import "github.com/utipc/utipc/stack/engine"

// NewAccount implements nodeBackend.
func (n *localNode) NewAccount(c AccountConfig) *Account {
	n.mu.Lock()
	defer n.unlock()
	return &Account{n, engine.NewAccount(engine.AccountConfig{Limit: c.Limit, Of: c.Of.account(), Full: c.Full})}
}

// lock implements nodeLock.
func (n *localNode) lock() { n.mu.Lock() }

// hold is Hold for the socket of a port.
func (n *localNode) hold(p *engine.Port, k int) {
	n.mu.Lock()
	defer n.unlock()
	if p == nil {
		return
	}
	now := n.now()
	p.Hold(now, k)
	if k > 0 {
		n.lap(now, false) // what was ended is told
	}
}
