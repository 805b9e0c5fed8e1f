// SPDX-License-Identifier: Apache-2.0

package engine

import "time"

// An Account limits how many bytes the sockets and subscriptions of one owner hold
// together: what waits in them to be read, what they have taken and not sent yet, and what
// the owner keeps beside them. It may be within another, as the account of a process is
// within that of its user; what it holds counts there too, and the limit of each binds.
//
//	datagrams, events, requests with data ── refused beyond three quarters of a limit
//	connections, groups, other requests   ── taken, as was promised to a peer; beyond the limit
//	                                         the connection or group that holds most is ended
//	windows of connections                ── beyond the least, from what no one holds
//
// So a connection that is read goes on whatever else its owner leaves unread, and a new one
// begins; and no account holds more than its limit and one message for each socket.
type Account struct {
	AccountConfig
	held     int // bytes, of it and those within
	firm     int // of these, of connections and groups
	promised int // of windows of connections, beyond the least
	refused  uint64
	ended    uint64
	closed   bool

	within []*Account // those that hold anything, or may
	ports  []*Port    // of connections and groups
	place  int        // in Of.within
}

// An AccountConfig describes an Account.
type AccountConfig struct {
	Limit int      // bytes
	Of    *Account // that it is within, or nil
	Full  error    // of calls that it refuses
}

// AccountStats are how an Account stands, with all that are within it.
type AccountStats struct {
	Held    int    // bytes
	Refused uint64 // messages, requests and events there was no room for
	Ended   uint64 // connections and groups that held most when there was no room
}

// NewAccount makes an Account.
func NewAccount(c AccountConfig) *Account {
	a := &Account{AccountConfig: c}
	if of := c.Of; of != nil {
		a.place = len(of.within)
		of.within = append(of.within, a)
	}
	return a
}

// Close ends an Account: nothing new is to be charged to it. What it holds counts until it
// is given back.
func (a *Account) Close() {
	if a != nil {
		a.closed = true
		a.leave()
	}
}

// leave forgets an account that holds nothing any more.
func (a *Account) leave() {
	of := a.Of
	if of == nil || !a.closed || a.held != 0 || len(a.ports) > 0 || len(a.within) > 0 || a.place < 0 {
		return
	}
	last := len(of.within) - 1
	of.within[a.place] = of.within[last]
	of.within[a.place].place = a.place
	of.within[last] = nil
	of.within = of.within[:last]
	a.place = -1
	of.leave()
}

// Stats returns a snapshot.
func (a *Account) Stats() AccountStats { return AccountStats{a.held, a.refused, a.ended} }

// hold counts k bytes more, or fewer; firm says whether they are of a connection or group.
func (a *Account) hold(k int, firm bool) {
	for x := a; x != nil; x = x.Of {
		x.held += k
		if firm {
			x.firm += k
		}
		if k < 0 {
			x.leave()
		}
	}
}

// soft is what may be held of what can be refused.
func (a *Account) soft() int { return a.Limit - a.Limit/4 }

// beyond returns the first account that has no room for k bytes more, or nil.
func (a *Account) beyond(k int) *Account {
	for x := a; x != nil; x = x.Of {
		if x.held > x.Limit-k {
			return x
		}
	}
	return nil
}

// room is what may be held more of what can be refused.
func (a *Account) room() int {
	most := int(^uint(0) >> 1)
	for x := a; x != nil; x = x.Of {
		most = min(most, x.soft()-x.held)
	}
	return max(0, most)
}

// Affords reports whether k bytes more may be held of what can be refused. What there is
// no room for is counted.
func (a *Account) Affords(k int) bool { return a.refuse(k) == nil }

// refuse is Affords that says why not.
func (a *Account) refuse(k int) error {
	for x := a; x != nil; x = x.Of {
		if x.held > x.soft()-k {
			for y := a; y != nil; y = y.Of {
				y.refused++
			}
			return x.Full
		}
	}
	return nil
}

// Charge counts k bytes that the owner keeps beside its sockets. Errors: the Full of an
// account without room, with nothing counted.
func (a *Account) Charge(k int) error {
	if err := a.refuse(k); err != nil {
		return err
	}
	a.hold(k, false)
	return nil
}

// Release gives k bytes of Charge back.
func (a *Account) Release(k int) { a.hold(-k, false) }

// A share of what is left is the most that one connection's window gets of it.
const windowShare = 8

// spare is what one connection's window may take beyond the least.
func (a *Account) spare() int {
	most := int(^uint(0) >> 1)
	for x := a; x != nil; x = x.Of {
		most = min(most, (x.Limit-x.held-x.promised)/windowShare)
	}
	return max(0, most)
}

func (a *Account) promise(k int) {
	for x := a; x != nil; x = x.Of {
		x.promised += k
	}
}

// heaviest is the connection or group that holds most, of the account within that holds
// most; nil where none holds anything.
func (a *Account) heaviest() *Port {
	for len(a.within) > 0 {
		most := a.within[0]
		for _, x := range a.within {
			if x.firm > most.firm {
				most = x
			}
		}
		a = most
	}
	var p *Port
	for _, x := range a.ports {
		if x.charged > 0 && (p == nil || x.charged > p.charged) {
			p = x
		}
	}
	return p
}

// relieve ends connections and groups until there is room for k bytes more for p. It
// reports false when p is the one to end: nothing holds more, and it is not ended yet.
func (p *Port) relieve(now time.Duration, k int) bool {
	for a := p.Account.beyond(k); a != nil; a = p.Account.beyond(k) {
		heaviest := a.heaviest()
		if heaviest == nil || heaviest == p || heaviest.Account == p.Account && heaviest.charged < p.charged+k {
			return false
		}
		heaviest.overdraw(now)
	}
	return true
}

// overdraw ends the connection or group of a port that holds most of an account without
// room. What waits to be read is dropped: both sides learn of an end that is none in order.
func (p *Port) overdraw(now time.Duration) {
	for x := p.Account; x != nil; x = x.Of {
		x.ended++
	}
	defer p.exit() // also of what its owner keeps beside it, and gives back next
	if p.conn != nil {
		p.conn.overdraw(now)
	} else {
		p.group.overdraw(now)
	}
}

// enter makes the port's account know it.
func (p *Port) enter() {
	if a := p.Account; a != nil && (p.conn != nil || p.group != nil) {
		p.accountPlace = len(a.ports)
		a.ports = append(a.ports, p)
	}
}

// exit gives back all that the port has of its account.
func (p *Port) exit() {
	a := p.Account
	if a == nil {
		return
	}
	p.promise(0)
	p.Account = nil
	if p.conn != nil || p.group != nil {
		last := len(a.ports) - 1
		a.ports[p.accountPlace] = a.ports[last]
		a.ports[p.accountPlace].accountPlace = p.accountPlace
		a.ports[last] = nil
		a.ports = a.ports[:last]
	}
	k := p.charged
	p.charged = 0
	a.hold(-k, p.conn != nil || p.group != nil)
	a.leave()
}

// promise makes k bytes what the port has promised its peer beyond the least.
func (p *Port) promise(k int) {
	p.Account.promise(k - p.promised)
	p.promised = k
}

// Hold counts k bytes more, or fewer, that the owner keeps for a connection, a group or a
// port beside it. It may end connections and groups, this one too.
func (p *Port) Hold(now time.Duration, k int) {
	if p.Account == nil {
		return
	}
	if k > 0 && (p.conn != nil || p.group != nil) && !p.relieve(now, k) {
		p.overdraw(now)
		if p.Account == nil {
			return
		}
	}
	p.aside += k
	p.recount()
}

// recount charges what the port holds now.
func (p *Port) recount() {
	if p.Account != nil {
		p.charge()
	}
}

func (p *Port) charge() {
	holds := p.queued + p.aside
	switch {
	case p.conn != nil:
		holds += p.conn.nagle.Held() + len(p.conn.goesBack())
	case p.group != nil:
		holds += p.group.lagging
	case p.listener != nil:
		holds += p.listener.bytes
	case p.barrier != nil:
		holds += p.barrier.bytes
	}
	if k := holds - p.charged; k != 0 {
		p.charged = holds
		p.Account.hold(k, p.conn != nil || p.group != nil)
	}
}

// Port is the socket inside the connection.
func (c *Conn) Port() *Port { return &c.port }

// Port is the socket inside the group.
func (g *Group) Port() *Port { return &g.port }
