// SPDX-License-Identifier: Apache-2.0

package daemon

// queue counts what waits for a program that does not read, and makes the socket refuse
// what comes when that is too much.
func (p *port) queue() {
	e := p.is()
	bytes := e.stats().Bytes
	p.mu.Lock()
	more := bytes - p.queued
	refuse := false
	if p.state.Load() == stalled && !p.closed {
		p.queued = bytes
		refuse = !p.x.client.move(queuedBytes, more) && more > 0 && e.packet != nil && !p.refusing
		p.refusing = p.refusing || refuse
	}
	p.mu.Unlock()
	if refuse {
		p.x.client.overQueue.Add(1)
		p.x.srv.counters.overQueue.Add(1)
		e.packet.SetReceiveLimit(1)
	}
}

// settle ends that.
func (p *port) settle() {
	p.mu.Lock()
	if p.state.Load() == stalled && !p.closed { // again, and somebody else's to end
		p.mu.Unlock()
		return
	}
	queued, refusing, e := p.queued, p.refusing, p.now
	p.queued, p.refusing = 0, false
	limit := p.limit
	p.mu.Unlock()
	if queued != 0 {
		p.x.client.move(queuedBytes, -queued)
	}
	if refusing && e.packet != nil {
		e.packet.SetReceiveLimit(limit)
	}
}

func (p *port) refuses() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refusing
}
