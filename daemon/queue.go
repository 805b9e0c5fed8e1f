// SPDX-License-Identifier: Apache-2.0

package daemon

// queue counts what waits for a program that does not read, and makes the socket refuse
// what comes when that is too much. The record that is left counts: it can be the last,
// and as long as the socket refuses nobody is to see that nothing waits.
func (p *port) queue() {
	e := p.is()
	bytes := e.stats().Bytes + int(p.leftBytes.Load())
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
		p.applyLimit()
	}
}

// applyLimit makes the socket take, or refuse, what comes, as things stand: whoever calls
// it last sees the last change.
func (p *port) applyLimit() error {
	p.limiting.Lock()
	defer p.limiting.Unlock()
	p.mu.Lock()
	limit, c := p.limit, p.now.packet
	if p.refusing {
		limit = 1
	}
	p.mu.Unlock()
	if c == nil {
		return nil
	}
	return c.SetReceiveLimit(limit)
}

// settle ends that.
func (p *port) settle() {
	p.mu.Lock()
	if p.state.Load() == stalled && !p.closed { // again, and somebody else's to end
		p.mu.Unlock()
		return
	}
	queued, refusing := p.queued, p.refusing
	p.queued, p.refusing = 0, false
	p.mu.Unlock()
	if refusing { // before anybody can see that nothing waits
		p.applyLimit()
	}
	if queued != 0 {
		p.x.client.move(queuedBytes, -queued)
	}
}
