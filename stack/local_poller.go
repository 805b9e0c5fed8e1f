// SPDX-License-Identifier: Apache-2.0

package stack

import "net"

// NewPoller implements nodeBackend.
func (n *localNode) NewPoller() (*Poller, error) {
	n.loop.Lock()
	defer n.loop.Unlock()
	if n.closing {
		return nil, opError("poll", "tipc", nil, nil, net.ErrClosed)
	}
	p := &Poller{n: n}
	if n.pollers == nil {
		n.pollers = map[*Poller]struct{}{}
	}
	n.pollers[p] = struct{}{}
	return p, nil
}

// addTo makes p hand out the socket of n that r is of.
func (r *readHalf) addTo(p *Poller, n *localNode, owner any) *Polled {
	if n != p.n {
		panic(errOtherNode)
	}
	n.loop.Lock()
	defer n.loop.Unlock()
	if r.polled != nil {
		panic("stack: the socket has a Poller")
	}
	r.polled = &Polled{Owner: owner, p: p}
	r.polled.note()
	return r.polled
}
