// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// sound checks that all that is counted is there.
func (s *serviceBed) sound() {
	s.t.Helper()
	t := &s.topology
	subs, waiting, ending := 0, 0, 0
	for conn, c := range t.clients {
		n, news := 0, 0
		for rec, same := range c.subs {
			for _, x := range same {
				if n++; x.c != c || x.record != rec || !x.Added() {
					s.t.Fatalf("a subscription is not where it belongs: %v", x.Range)
				}
				if x.due < 1<<62 {
					ending++
				}
			}
			if len(same) == 0 {
				s.t.Fatal("a record without a subscription")
			}
		}
		for i := range c.events.Len() {
			if c.events.At(i).news {
				news++
			}
		}
		if c.conn != conn || c.n != n || c.news != news || c.gone || n > clientSubscriptions || news > clientEvents || c.records.Len() > clientRecords {
			s.t.Fatalf("client: %d subscriptions, counted %d; %d news, counted %d; %d records; gone %v", n, c.n, news, c.news, c.records.Len(), c.gone)
		}
		subs, waiting = subs+n, waiting+c.events.Len()
	}
	if t.subs != subs || t.waiting != waiting || waiting > allEvents || subs > naming.MaxSubscriptions || s.watches.Len() != subs+s.watches.own {
		s.t.Fatalf("%d subscriptions, counted %d, %d in the index, %d own; %d events, counted %d", subs, t.subs, s.watches.Len(), s.watches.own, waiting, t.waiting)
	}
	if len(s.watches.ending) < ending {
		s.t.Fatalf("%d subscriptions will end, %d in the heap", ending, len(s.watches.ending))
	}
	for i, w := range s.watches.ending {
		if w.place != i || !w.Added() || i > 0 && s.watches.ending.Less(i, (i-1)/2) {
			s.t.Fatalf("place %d of the heap", i)
		}
	}
}

// wantRefused says one record and wants the connection closed, and others not.
func wantRefused(t *testing.T, record []byte) {
	t.Helper()
	s := newService(t, ownAddr)
	bad, good := s.connect(), s.connect()
	s.say(good, allOf(100))
	s.say(bad, allOf(100))
	s.say(bad, record)
	if !bad.closed || good.closed || s.count.SubscriptionsRefused != 1 || s.watches.Len() != 1 {
		t.Errorf("closed %v, the other %v, %d refused, %d subscriptions", bad.closed, good.closed, s.count.SubscriptionsRefused, s.watches.Len())
	}
	s.say(bad, allOf(100)) // after its end
	s.bind(at(100, 1, 1, 5, ownAddr))
	if len(bad.out) != 0 || len(good.out) != 1 || s.watches.Len() != 1 {
		t.Errorf("told %d, the other %d; %d subscriptions", len(bad.out), len(good.out), s.watches.Len())
	}
	s.sound()
}

// Proves: names.hostile
func TestSubscriptionWithInvertedRange(t *testing.T) {
	wantRefused(t, ask(frame.LittleEndian, 100, 9, 8, frame.Forever, frame.FilterPorts))
	wantRefused(t, ask(frame.BigEndian, 100, 9, 8, frame.Forever, frame.FilterPorts))
}

// Proves: names.hostile
func TestSubscriptionToPortsAndService(t *testing.T) {
	wantRefused(t, ask(frame.LittleEndian, 100, 8, 9, frame.Forever, frame.FilterPorts|frame.FilterService))
	wantRefused(t, ask(frame.BigEndian, 100, 8, 9, frame.Forever, frame.FilterPorts|frame.FilterService|frame.FilterNoStatus))
}

// Proves: names.hostile
func TestSubscriptionCutShort(t *testing.T) {
	for n := range frame.SubscriptionLen {
		wantRefused(t, allOf(100)[:n])
	}
}

// Proves: names.hostile
func TestSubscriptionsOfOneConnection(t *testing.T) {
	s := newService(t, ownAddr)
	end := s.connect()
	for i := range uint32(1024) {
		s.say(end, allOf(100+i%3))
	}
	if end.closed || s.watches.Len() != 1024 {
		t.Fatalf("closed %v, %d subscriptions", end.closed, s.watches.Len())
	}
	s.say(end, ask(frame.LittleEndian, 100, 0, 1<<32-1, frame.Forever, frame.FilterPorts|frame.FilterCancel))
	if s.say(end, allOf(100)); end.closed || s.watches.Len() != 1024 {
		t.Fatalf("after one was cancelled: closed %v, %d subscriptions", end.closed, s.watches.Len())
	}
	s.sound()
	if s.say(end, allOf(100)); !end.closed || s.watches.Len() != 0 {
		t.Errorf("the 1025th: closed %v, %d subscriptions", end.closed, s.watches.Len())
	}
	s.sound()
}

// 65536 subscriptions on one node: the last connection is closed, those before stay,
// and this process subscribes all the same.
//
// Proves: names.hostile
func TestSubscriptionsOfOneNode(t *testing.T) {
	s := newService(t, ownAddr)
	all := bytes.Repeat(ask(frame.LittleEndian, 100, 5, 5, frame.Forever, frame.FilterService), 1024)
	var ends []*clientEnd
	for range 64 {
		ends = append(ends, s.connectFrom(ownAddr))
		s.say(ends[len(ends)-1], all)
	}
	for i, end := range ends {
		if end.closed != (i == 63) {
			t.Errorf("connection %d: closed %v", i, end.closed)
		}
	}
	if got := s.watches.Len(); got != 63*1024 {
		t.Errorf("%d subscriptions are left", got)
	}
	end := s.connectFrom(ownAddr)
	s.say(end, all[:1023*frame.SubscriptionLen])
	if own, err := s.Subscribe(0, SubscriptionConfig{Range: frame.Range{Type: 100, Upper: 9}}); err != nil || end.closed || s.topology.subs != naming.MaxSubscriptions {
		t.Errorf("%v, %v, closed %v, %d over the wire", own, err, end.closed, s.topology.subs)
	}
	s.sound()
}

// A few nodes that subscribe without end leave room for each other, and for others.
//
// Proves: hostile.docs, hostile.bounded
func TestHostileSubscribersLeaveRoom(t *testing.T) {
	s := newService(t, ownAddr)
	all := bytes.Repeat(ask(frame.LittleEndian, 100, 5, 5, frame.Forever, frame.FilterService), 1024)
	for range 64 {
		for a := range frame.NodeAddr(3) {
			s.say(s.connectFrom(0x2000000+a), all)
		}
	}
	for a := range frame.NodeAddr(3) {
		if got := s.topology.of[0x2000000+a]; got < naming.MaxSubscriptions/4-1024 || got > naming.MaxSubscriptions/4+1 {
			t.Errorf("node %d has %d subscriptions", a, got)
		}
	}
	end := s.connect()
	if s.say(end, all); end.closed || s.topology.of[popAddr] != 1024 {
		t.Errorf("closed %v, with %d subscriptions", end.closed, s.topology.of[popAddr])
	}
	s.sound()
	for conn := range s.topology.clients {
		s.topology.ended(s.now, conn)
	}
	if s.turn(); len(s.topology.of) != 0 || s.topology.subs != 0 {
		t.Errorf("%d are left, of %d nodes", s.topology.subs, len(s.topology.of))
	}
}

func TestConnectionsToTopology(t *testing.T) {
	s := newService(t, ownAddr)
	for range maxClients {
		if end := s.connect(); end.closed {
			t.Fatal("closed too early")
		}
	}
	end := s.connect()
	if s.turn(); !end.closed || len(s.topology.clients) != maxClients {
		t.Errorf("closed %v, %d clients", end.closed, len(s.topology.clients))
	}
}

// A subscriber that never reads is cut off after 4096 events, and is told no more of what there
// was when it subscribed meanwhile; others hear everything. Mutation: mayTake without a limit.
//
// Proves: names.hostile
func TestSubscriberThatNeverReads(t *testing.T) {
	s := newService(t, ownAddr)
	const there = 5000
	for i := range uint32(there) {
		s.bind(at(100, i, i, 5, ownAddr))
	}
	dead, good := s.connect(), s.connect()
	dead.room = 10
	s.say(dead, allOf(100))
	s.say(good, allOf(100))
	for i := range uint32(clientEvents) {
		s.bind(at(100, i, i, 6, ownAddr))
	}
	if s.sound(); dead.closed || s.topology.waiting < 2*clientEvents-10 || s.topology.waiting > 2*clientEvents+listingPart {
		t.Fatalf("closed %v, %d wait", dead.closed, s.topology.waiting)
	}
	s.bind(at(100, 1, 1, 7, ownAddr))
	if !dead.closed || len(dead.out) != 10 || s.topology.waiting != 0 || s.count.SubscribersCut != 1 || s.watches.Len() != 1 {
		t.Errorf("closed %v, %d events, %d wait, %d cut off", dead.closed, len(dead.out), s.topology.waiting, s.count.SubscribersCut)
	}
	if len(good.out) != there+clientEvents+1 || good.closed {
		t.Errorf("the other: %d events, closed %v", len(good.out), good.closed)
	}
	s.sound()
}

// Who does not read has its own records wait, and what exists: a part of one subscription's at
// most comes beyond the limit; too many records end the connection.
//
// Proves: names.hostile
func TestRecordsThatAreNotTaken(t *testing.T) {
	s := newService(t, ownAddr)
	for i := range uint32(3000) {
		s.bind(at(100, i, i, 5, ownAddr))
	}
	dead := s.connect()
	dead.room = 0
	many := bytes.Repeat(allOf(100), 1000)
	for range 4 {
		s.say(dead, many)
	}
	if s.sound(); !waitsForReader(s) || s.watches.Len() != 2 || dead.closed {
		t.Errorf("%d events wait, %d subscriptions, closed %v", s.topology.waiting, s.watches.Len(), dead.closed)
	}
	dead.room = 2000 // it reads some, after all
	s.topology.writable(s.now, dead)
	if s.turn(); !waitsForReader(s) || s.watches.Len() != 3 {
		t.Errorf("it has read 2000: %d events wait, %d subscriptions", s.topology.waiting, s.watches.Len())
	}
	if s.say(dead, many); !dead.closed || s.topology.waiting != 0 || s.watches.Len() != 0 {
		t.Errorf("closed %v, %d events wait, %d subscriptions", dead.closed, s.topology.waiting, s.watches.Len())
	}
	s.sound()
}

// waitsForReader reports whether one client has as much waiting as it may, and a part more at
// most.
func waitsForReader(s *serviceBed) bool {
	return s.topology.waiting >= clientEvents && s.topology.waiting <= clientEvents+listingPart
}

// One message of many subscriptions to many bindings does not hold the engine up. Mutation:
// take without mayDo.
func TestWorkIsSpread(t *testing.T) {
	s := newService(t, ownAddr)
	for i := range uint32(6000) {
		s.bind(at(100, i, i, 5, ownAddr))
	}
	end := s.connect()
	hidden := ask(frame.LittleEndian, 100, 0, 1<<32-1, frame.Forever, frame.FilterPorts|frame.FilterNodeScope) // all looked at, none told
	s.topology.message(s.now, end, bytes.Repeat(hidden, 30))
	turns, work, most := 0, 0, 0
	s.cfg.Did = func(_ Work, k int) { work += k }
	for ; s.Deadline() <= s.now; turns++ {
		work = 0
		s.HandleTimeout(s.now)
		most = max(most, work)
	}
	if turns < 30*6000/(3*turnWork) || most > 4*turnWork || s.watches.Len() != 30 {
		t.Errorf("%d turns, %d units in one, %d subscriptions", turns, most, s.watches.Len())
	}
}

// All that waits together is limited: the one with the most is cut off.
func TestEventsOfAllConnections(t *testing.T) {
	s := newService(t, ownAddr)
	for i := range uint32(8000) {
		s.bind(at(100, i, i, 5, ownAddr))
	}
	small := s.connect()
	small.room = 0
	s.say(small, ask(frame.LittleEndian, 100, 0, 9, frame.Forever, frame.FilterPorts))
	var ends []*clientEnd
	for s.count.SubscribersCut == 0 && len(ends) < allEvents/clientEvents+1 {
		end := s.connect()
		end.room = 0
		ends = append(ends, end)
		for s.say(end, allOf(100)); s.Deadline() <= s.now; {
			s.HandleTimeout(s.now)
		}
	}
	for i, end := range ends {
		if end.closed != (i == 0) {
			t.Errorf("connection %d: closed %v", i, end.closed)
		}
	}
	if small.closed || s.count.SubscribersCut != 1 {
		t.Errorf("the small one: closed %v; %d cut off", small.closed, s.count.SubscribersCut)
	}
	s.sound()
}

// FuzzTopologyServer has clients say anything while bindings come and go: nobody
// panics, what is counted is there, and for each subscription to ports the events of a
// binding alternate and none is behind the end of its time.
//
// Proves: names.hostile
func FuzzTopologyServer(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x00\x00\x00\x00\x00\x10\x03\x04\x10\x05\x11\x06\x01\x07\x00\x02"))
	f.Add([]byte("clients say anything while bindings come and go, and time passes"))
	f.Add(append([]byte{9, 0, 28}, allOf(100)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		in := &script{b}
		s := newService(t, ownAddr)
		type seen struct {
			handle [8]byte
			r      frame.Range
			a      frame.SocketAddr
		}
		standing := map[seen]bool{}
		over := map[[8]byte]bool{}
		var ends []*clientEnd
		var bound []naming.Binding
		serial := 0
		for len(in.b) > 0 {
			var end *clientEnd
			if len(ends) > 0 {
				end = ends[int(in.byte())%len(ends)]
			}
			switch op := in.byte() % 12; {
			case op == 0 || end == nil:
				if len(ends) < 8 {
					end = s.connect()
					end.room = int(in.byte() % 8)
					ends = append(ends, end)
				}
			case op < 4: // a sound subscription, recognised by its handle
				serial++
				l := uint32(in.byte() % 8)
				r := frame.SubscriptionFields{
					Order: frame.Order(op == 1), Range: frame.Range{Type: 100, Lower: l, Upper: l + uint32(in.byte()%4)},
					Timeout: []uint32{frame.Forever, 0, 5, 100}[in.byte()%4], Filter: frame.FilterPorts, Handle: [8]byte{byte(serial), 1, 0, 0, byte(serial >> 8)},
				}
				s.say(end, r.Append(nil))
			case op < 6:
				l := uint32(in.byte() % 8)
				bound = append(bound, s.bind(at(100, l, l+uint32(in.byte()%3), s.key, ownAddr)))
			case op < 8 && len(bound) > 0:
				i := int(in.byte()) % len(bound)
				s.unbind(bound[i])
				bound = append(bound[:i], bound[i+1:]...)
			case op == 8:
				end.room += int(in.byte())
				s.topology.writable(s.now, end)
			case op == 9: // anything at all
				s.say(end, in.take(int(in.byte())%100))
			case op == 10:
				s.topology.ended(s.now, end)
			case op == 11:
				s.until(s.now + time.Duration(in.byte())*time.Millisecond)
			}
			s.turn()
			s.sound()
			for i, end := range ends {
				for _, b := range end.out {
					e, err := frame.ParseTopologyEvent(b, frame.LittleEndian)
					if err != nil {
						t.Fatal(err)
					}
					h := e.Subscription().Handle()
					if h[1] != 1 || h[2] != 0 {
						continue // not of a sound one
					}
					h[3] = byte(i)
					if over[h] {
						t.Fatalf("%v behind the end", e.Type())
					}
					k := seen{handle: h, r: e.Found(), a: e.Socket()}
					switch e.Type() {
					case frame.TimedOut:
						over[h] = true
					default:
						if standing[k] != (e.Type() == frame.Withdrawn) {
							t.Fatalf("%v of %v does not alternate", e.Type(), e.Found())
						}
						standing[k] = !standing[k]
					}
				}
				end.out = nil
			}
		}
	})
}
