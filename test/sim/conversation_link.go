// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
)

// An endKey names an endpoint: the way its frames go, and the node they go to.
type endKey struct {
	way
	to frame.NodeAddr
}

// An ahead is what a STATE told of packets that were not heard.
type ahead struct {
	at         time.Duration
	next, want frame.Seq
}

// reverse names the other end.
func (k endKey) reverse() endKey { return endKey{way{k.to, k.dst, k.src}, k.from} }

// An endpoint is what one end of a link said in its session.
type endpoint struct {
	endKey
	known   bool // session counts
	began   bool // the session was heard from its beginning
	session frame.Seq
	earlier []frame.Seq // sessions announced lately, the present one too
	up      bool        // it sent a STATE or a packet
	stale   bool        // the other end left a session it was up in: this one may acknowledge that, or come up with it

	stateNext  frame.Seq // number of the next STATE
	stateKnown bool
	next       frame.Seq // number of the next packet
	nextKnown  bool
	told       *ahead // a STATE told of packets that did not come yet
	sums       map[frame.Seq]uint32
	ack        frame.Seq
	stateAck   frame.Seq // of the last STATE
	bcastAck   frame.Seq
	maxPacket  int // largest packet it takes; 0 is not known

	probes   int           // sent since the other end's last STATE
	probed   time.Duration // when the first of them was
	talking  bool          // it sent packets since its own last STATE
	talks    time.Duration // since when
	bulkDone bool
	pieces   pieces

	bearer      uint8 // as it numbers it
	bearerKnown bool
	synched     bool      // it said where the other link stands
	failed      bool      // what it had left goes through a tunnel: nothing new comes here
	passage     passage   // of the other link's packets
	before      *endpoint // the session before, which was up
}

// end returns the endpoint of a key, new if need be.
func (c *Conversation) end(k endKey) *endpoint {
	e := c.ends[k]
	if e == nil {
		e = &endpoint{endKey: k}
		c.ends[k] = e
	}
	return e
}

// begin is a new session of e, whose other end is r.
func (c *Conversation) begin(e, r *endpoint, session frame.Seq, began bool) {
	wasUp, earlier, before := e.up, append(e.earlier, session), e.before
	if wasUp {
		x := *e
		x.before, before = nil, &x
	}
	*e = endpoint{
		endKey: e.endKey, before: before, bearer: e.bearer, bearerKnown: e.bearerKnown, known: true, began: began, session: session, maxPacket: e.maxPacket,
		earlier: earlier[max(0, len(earlier)-8):],
	}
	if began {
		e.next, e.nextKnown, e.stateNext, e.stateKnown = c.first(), true, 1, true
		e.ack, e.stateAck = c.first()-1, c.first()-1
	}
	r.stale = r.up || wasUp
	if wasUp {
		c.talking.forget(e.from, e.to)
	}
	c.station(e.from).mayRestart = true
	if r.stale { // else it is the first link, or one more
		c.contact(e.from, e.to).known = false
		c.unlistened(e)
	}
}

// link holds a message of the link protocol from e to r to the rules.
func (c *Conversation) link(e, r *endpoint, p frame.LinkMessage) {
	if st, ok := p.State(); ok {
		c.state(e, r, st)
		return
	}
	x, _ := p.Reset()
	s := p.Session()
	switch {
	case !e.known || s != e.session:
		c.begin(e, r, s, true)
	case e.up:
		c.add("session-up", "w5 31:16", "session %d was up", s)
		c.begin(e, r, s, true)
	}
	e.maxPacket = x.MaxPacket()
	e.bearer, e.bearerKnown = p.Info().Bearer, true
	d, ok := x.DestSession()
	if !ok {
		return
	}
	if d == r.session {
		e.stale = false
	}
	announced := slices.Contains(r.earlier, d) || slices.Contains(r.earlier, d+1)
	c.addIf(len(r.earlier) > 0 && !announced, "activate-session", "w1 15:0", "answers session %d of %d", d, r.earlier)
}

// state holds a STATE from e to r to the rules.
func (c *Conversation) state(e, r *endpoint, st frame.State) {
	s := st.Session()
	if e.known && s != e.session {
		c.add("session", "w5 31:16", "%d, announced %d", s, e.session)
	}
	if !e.known || s != e.session {
		c.begin(e, r, s, false)
	}
	if e.began && !e.up {
		c.addIf(st.Ack() != c.first()-1, "state-first", "w2 31:16", "acknowledges %d", st.Ack())
	}
	e.up = true
	if caps, ok := c.caps(r.from); ok && caps.Has(frame.CapLinkProtoSeqno) {
		c.addIf(e.stateKnown && st.Seq() != e.stateNext, "state-seq", "w2 15:0", "%d, want %d", st.Seq(), e.stateNext)
		e.stateNext, e.stateKnown = st.Seq()+1, true
	} else if !ok {
		e.stateKnown = false
	}
	c.nextSent(e, st.NextSent())
	c.wentOn(e)
	if !e.nextKnown {
		e.next, e.nextKnown = st.NextSent(), true
	}
	c.acks(e, r, st.Message, !st.BcastAckInvalid())
	if !e.stale && r.nextKnown {
		end := st.Ack() + frame.Seq(st.Gap())
		c.addIf(st.Gap() > 0 && !end.Before(r.announced()), "gap", "w1 28:16", "up to %d of packets up to %d", end, r.announced()-1)
	}
	if b := c.station(r.from); !e.stale && !st.BcastAckInvalid() && b.nextKnown && b.listening(e.from) {
		end := st.BcastAck() + frame.Seq(st.BcastGap())
		c.addIf(st.BcastGap() > 0 && end.After(b.most()), "bcast-gap", "w8 9:0", "up to %d of packets up to %d", end, b.most())
	}
	c.lastBcast(e.from, st.LastBcast(), c.networks(e.from) > 1, st.BcastAckInvalid())
	c.reported(e, r, st)
	c.record(e, r, st)
	c.probe(e, r, st.Probe())
}

// nextSent holds the number of the next packet that a STATE of e tells to the rules.
func (c *Conversation) nextSent(e *endpoint, next frame.Seq) {
	c.goesOn(e)
	switch {
	case !e.nextKnown || e.failed || next == e.next:
	case c.TakesBack && next.After(e.next):
		if e.told == nil {
			e.told = &ahead{c.now, next, e.next}
		} else if next.After(e.told.next) {
			e.told.next = next
		}
	default:
		c.add("next-sent", "w4 15:0", "%d, want %d", next, e.next)
	}
}

// announced is the number behind the last packet that e sent, or told of in a STATE: packets
// that wait for its device may be missed by the other end.
func (e *endpoint) announced() frame.Seq {
	if e.told != nil && e.told.next.After(e.next) {
		return e.told.next
	}
	return e.next
}

// goesOn is called for what e sends: it did not go down at once after what it told. What waited
// for its device may be older than that, and it may be down by now.
func (c *Conversation) goesOn(e *endpoint) {
	if t := e.told; t != nil && c.now-t.at > c.Slack {
		e.told = nil
		c.add("next-sent", "w4 15:0", "%d was told %v ago, want %d", t.next, c.now-t.at, t.want)
	}
}

// record holds the gap-ack record of a STATE to the rules.
func (c *Conversation) record(e, r *endpoint, st frame.State) {
	mine, ok := c.caps(e.from)
	theirs, ok2 := c.caps(r.from)
	if !ok || !ok2 {
		return
	}
	both := (mine & theirs).Has(frame.CapGapAckBlock)
	has := len(st.Data()) > 0 && st.GuessRecord()
	if both != has {
		c.add("record", "+40", "a record: %v, want %v", has, both)
		return
	}
	g, _, err := st.GapAcks(both)
	if err != nil || !both {
		return
	}
	for i := range g.Unicast().Len() {
		b := g.Unicast().At(i)
		c.addIf(!e.stale && r.nextKnown && !b.Ack.Before(r.next), "blocks", "+44", "block %v of packets up to %d", b, r.next-1)
	}
	n := c.station(r.from)
	for i := range g.Bcast().Len() {
		b := g.Bcast().At(i)
		c.addIf(!e.stale && n.nextKnown && n.listening(e.from) && b.Ack.After(n.most()), "blocks", "+44", "block %v of broadcasts up to %d", b, n.most())
	}
}

// probe counts the probes of e, which r answers by any STATE.
func (c *Conversation) probe(e, r *endpoint, probe bool) {
	r.probes, e.talking = 0, false
	if !probe {
		return
	}
	if e.probes == 0 {
		e.probed = c.now
	}
	e.probes++
}

// unanswered is called for a packet of e: who sends packets is there to answer,
// and none of several probes is answered only where none arrives; a link's timer
// says a STATE by itself before that is over.
func (c *Conversation) unanswered(e, r *endpoint) {
	if !e.talking {
		e.talking, e.talks = true, c.now
	}
	late := r.probes >= 4 && c.now-max(r.probed, e.talks) > 2*time.Second+c.Slack
	if late && !e.stale {
		c.add("probe-answer", "w0", "%d probes since %v without a STATE", r.probes, c.now-r.probed)
		r.probes = 0
	}
}

// acks holds the acknowledgements in m, from e to r, to the rules.
func (c *Conversation) acks(e, r *endpoint, m frame.Message, bcast bool) {
	ack, last := m.Ack(), e.ack
	if c.Slack > 0 {
		last = e.stateAck
	}
	c.addIf(ack.Before(last), "ack-order", "w2 31:16", "%d after %d", ack, last)
	e.ack = ack
	if m.User() == frame.UserLink {
		e.stateAck = ack
	}
	if !e.stale && r.nextKnown {
		c.addIf(!ack.Before(r.next), "link-ack", "w2 31:16", "%d of packets up to %d", ack, r.next-1)
	}
	if !bcast {
		return
	}
	ack = m.BcastAck()
	if n := c.station(r.from); !e.stale && n.nextKnown && ack != 0 && n.listening(e.from) {
		c.addIf(ack.After(n.most()), "bcast-ack", "w1 15:0", "%d of broadcasts up to %d", ack, n.most())
	}
	if c.Slack == 0 || m.User() == frame.UserLink {
		c.addIf(e.bcastAck != 0 && ack.Before(e.bcastAck), "bcast-ack-order", "w1 15:0", "%d after %d", ack, e.bcastAck)
		e.bcastAck = ack
	}
	c.heardBy(e, r, ack)
}
