// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// The bytes of spec 06 §3.1, asked of a host of either order; the answer is in the
// asker's.
//
// Proves: names.subscriptions
func TestTopologyRecords(t *testing.T) {
	const node = 0x11111111
	little := unhex(t, `c8 49 00 00 00 00 00 00 64 00 00 00 ff ff ff ff 02 00 00 00 01 00 00 00 00 00 00 00`)
	big := unhex(t, `00 00 49 c8 00 00 00 00 00 00 00 64 ff ff ff ff 00 00 00 02 01 00 00 00 00 00 00 00`)
	for _, c := range []struct {
		name   string
		record []byte
		event  string
	}{
		{"little-endian", little, `01 00 00 00 11 00 00 00 11 00 00 00 01 00 00 50 11 11 11 11`},
		{"big-endian", big, `00 00 00 01 00 00 00 11 00 00 00 11 50 00 00 01 11 11 11 11`},
	} {
		for _, native := range []frame.Order{frame.LittleEndian, frame.BigEndian} {
			s := newService(t, node)
			s.topology.native = native
			end := s.connect()
			s.say(end, c.record)
			s.bind(at(18888, 17, 17, 0x50000001, node))
			want := append(unhex(t, c.event), c.record...)
			if len(end.out) != 1 || !bytes.Equal(end.out[0], want) {
				t.Errorf("%s, to a host of order %v: got % x\nwant % x", c.name, native, end.out, want)
			}
		}
	}
}

// What the subscribers of capture 21 printed, with the changes of the table that its
// frames show.
//
// Proves: names.subscriptions
func TestTopologyCapture21(t *testing.T) {
	text, err := os.ReadFile("../../test/testdata/captures/21-topology.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{} // by command
	command := ""
	for line := range strings.Lines(string(text)) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "A# peer subscribe "):
			command, _, _ = strings.Cut(line, "   ")
			want[command] = nil
		case strings.HasPrefix(line, "A: event "):
			want[command] = append(want[command], strings.TrimPrefix(line, "A: "))
		}
	}
	const a, b = 0x1001001, 0x1001002
	s := newService(t, a)
	link := at(naming.LinkState, b, b, 0, a)
	link.Scope, link.Key = frame.NodeScope, 1
	up := func(names ...naming.Binding) {
		link = s.bind(link)
		s.bind(at(naming.NodeState, b, b, 0, b))
		for _, n := range names {
			s.bind(n)
		}
	}
	up()
	p := frame.FilterPorts
	little := func(typ, lower, upper, timeout uint32, f frame.Filter) []byte {
		return ask(frame.LittleEndian, typ, lower, upper, timeout, f)
	}
	const max = 1<<32 - 1
	said := map[string][]byte{
		"A# peer subscribe 7000 0 100":            little(7000, 0, 100, max, p),
		"A# peer subscribe 7000 0 100 -f service": little(7000, 0, 100, max, frame.FilterService),
		"A# peer subscribe 7000 0 100 -w 1000":    little(7000, 0, 100, 1000, p),
		"A# peer subscribe 7000 5 5 -f cancel":    append(little(7000, 5, 5, max, p), little(7000, 5, 5, max, p|frame.FilterCancel)...),
		"A# peer subscribe 0 0 4294967295":        little(0, 0, max, max, p),
		"A# peer subscribe 2 0 4294967295":        little(2, 0, max, max, p),
	}
	ends := map[string]*clientEnd{}
	for c, b := range said {
		ends[c] = s.connect()
		s.say(ends[c], b)
	}
	x := s.bind(at(7000, 1, 5, 1961642578, b))
	y := s.bind(at(7000, 4, 9, 502792836, b))
	s.until(300 * time.Millisecond)
	s.unbind(x)
	s.until(1200 * time.Millisecond)
	s.table.Remove(link)
	s.table.Purge(b)
	s.turn()
	s.until(2200 * time.Millisecond)
	up(y)
	s.until(2800 * time.Millisecond)
	s.unbind(y)
	if len(want) != len(said) {
		t.Errorf("the capture has %d subscriptions, not %d", len(want), len(said))
	}
	for c := range want {
		if got := ends[c].told(t); !slices.Equal(got, want[c]) || ends[c].closed {
			t.Errorf("%s:\n got %q\nwant %q", c, got, want[c])
		}
	}
}

// How much of a message is taken: whole records, or the first, or none and the
// connection ends (spec 06 §2.2).
//
// Proves: names.subscriptions
func TestTopologyMessages(t *testing.T) {
	one, two := allOf(100), allOf(101)
	for _, c := range []struct {
		name   string
		msg    []byte
		subs   int
		closed bool
	}{
		{"empty", nil, 0, true},
		{"27 bytes", one[:27], 0, true},
		{"28 bytes", one, 1, false},
		{"29 bytes", append(bytes.Clone(one), 1), 1, false},
		{"40 bytes", append(bytes.Clone(one), two[:12]...), 1, false},
		{"two", append(bytes.Clone(one), two...), 2, false},
		{"two and a byte", append(append(bytes.Clone(one), two...), 1), 1, false},
		{"a good one and one that breaks a rule", append(bytes.Clone(one), ask(false, 1, 2, 1, 0, frame.FilterPorts)...), 0, true},
	} {
		s := newService(t, ownAddr)
		end := s.connect()
		s.say(end, c.msg)
		if end.closed != c.closed || s.watches.Len() != c.subs {
			t.Errorf("%s: %d subscriptions, closed %v; want %d, %v", c.name, s.watches.Len(), end.closed, c.subs, c.closed)
		}
		if want := map[bool]uint64{true: 1}[c.closed]; s.count.SubscriptionsRefused != want {
			t.Errorf("%s: %d refused", c.name, s.count.SubscriptionsRefused)
		}
		s.sound()
	}
}

// What a client was told before it broke a rule has gone out before its connection is
// closed.
func TestTopologyEndIsBehindEvents(t *testing.T) {
	s := newService(t, ownAddr)
	s.bind(at(100, 1, 1, 5, ownAddr))
	end := s.connect()
	s.say(end, append(allOf(100), ask(false, 1, 2, 1, 0, frame.FilterPorts)...))
	wantLines(t, "told", end.told(t), "event type=published found={100,1,1} port=1001001:5")
	if !end.closed {
		t.Error("not closed")
	}
}

// A subscription is cancelled by its own bytes alone: of equal ones the oldest, and
// nobody is told (spec 06 §2.2).
//
// Proves: names.subscriptions
func TestTopologyCancel(t *testing.T) {
	const port, cancel = frame.FilterPorts, frame.FilterCancel
	for _, o := range []frame.Order{frame.LittleEndian, frame.BigEndian} {
		s := newService(t, ownAddr)
		end, other := s.connect(), s.connect()
		s.say(end, ask(o, 100, 1, 9, 5000, port))
		s.until(time.Second)
		s.say(end, ask(o, 100, 1, 9, 5000, port))
		s.say(other, ask(o, 100, 1, 9, 5000, port))
		handle := ask(o, 100, 1, 9, 5000, port|cancel)
		handle[27]++
		for _, b := range [][]byte{
			ask(!o, 100, 1, 9, 5000, port|cancel), ask(o, 100, 1, 9, 5001, port|cancel), ask(o, 100, 1, 8, 5000, port|cancel),
			ask(o, 101, 1, 9, 5000, port|cancel), ask(o, 100, 1, 9, 5000, cancel), ask(o, 100, 1, 9, 5000, port|cancel|frame.FilterNoStatus), handle,
		} {
			if s.say(end, b); s.watches.Len() != 3 {
				t.Errorf("%v: % x cancels", o, b)
			}
		}
		s.say(end, ask(o, 100, 1, 9, 5000, port|cancel)) // the one that ends at 5 s
		s.until(5500 * time.Millisecond)
		if got := end.told(t); s.watches.Len() != 2 || got != nil {
			t.Errorf("%v: the newer one went: %d left, told %q", o, s.watches.Len(), got)
		}
		s.say(end, ask(o, 100, 1, 9, 5000, port|cancel))
		s.say(end, ask(o, 100, 1, 9, 5000, port|cancel))
		s.until(time.Minute)
		if got := end.told(t); got != nil || end.closed || len(other.out) != 1 {
			t.Errorf("%v: told %q, closed %v, the other %d", o, got, end.closed, len(other.out))
		}
		s.sound()
	}
}

// The end of a subscription's time is told once, behind what was before, and is the
// last that is told (spec 06 §2.3).
//
// Proves: names.subscriptions
func TestTopologyTimeout(t *testing.T) {
	s := newService(t, ownAddr)
	b := s.bind(at(100, 1, 1, 5, ownAddr))
	now, later, big := s.connect(), s.connect(), s.connect()
	s.say(now, ask(frame.LittleEndian, 100, 0, 100, 0, frame.FilterPorts))
	wantLines(t, "0 ms", now.told(t), "event type=published found={100,1,1} port=1001001:5", "event type=timeout found={100,0,100} port=0:0")
	s.say(later, ask(frame.LittleEndian, 100, 0, 100, 700, frame.FilterPorts))
	s.say(big, ask(frame.BigEndian, 100, 0, 100, 700, frame.FilterService))
	if at := s.Deadline(); at != 700*time.Millisecond {
		t.Errorf("due at %v", at)
	}
	s.until(699 * time.Millisecond)
	later.told(t)
	big.told(t)
	s.now = 700 * time.Millisecond
	s.table.Remove(b) // before the engine looks at the time
	s.turn()
	s.bind(b)
	s.until(time.Minute)
	for _, end := range []*clientEnd{later, big} {
		wantLines(t, "700 ms", end.told(t), "event type=withdrawn found={100,1,1} port=1001001:5", "event type=timeout found={100,0,100} port=0:0")
	}
	if s.watches.Len() != 0 || now.closed || len(now.out) != 0 {
		t.Errorf("%d subscriptions, closed %v", s.watches.Len(), now.closed)
	}
	s.sound()
}

// Without one of the bits that show the order a record counts as swapped: nothing
// comes of it, and the connection stays (spec 06 §2.1, tested with a kernel).
func TestFilterZero(t *testing.T) {
	s := newService(t, ownAddr)
	s.bind(at(100, 1, 1, 5, ownAddr))
	end := s.connect()
	for _, f := range []frame.Filter{0, frame.FilterClusterScope, frame.FilterNoStatus} {
		s.say(end, ask(frame.LittleEndian, 100, 0, 100, frame.Forever, f))
	}
	s.bind(at(100, 2, 2, 6, ownAddr))
	if len(end.out) != 0 || end.closed || s.watches.Len() != 3 {
		t.Errorf("told %d events, closed %v, %d subscriptions", len(end.out), end.closed, s.watches.Len())
	}
	s.bind(at(100<<24, 0, 0, 7, ownAddr)) // the type it is taken for
	wantLines(t, "swapped", end.told(t), slices.Repeat([]string{"event type=published found={1677721600,0,0} port=1001001:7"}, 3)...)
}

// Events wait for a connection without room, in their order.
func TestTopologyWaitsForRoom(t *testing.T) {
	s := newService(t, ownAddr)
	end, other := s.connect(), s.connect()
	end.room = 2
	s.say(end, allOf(100))
	s.say(other, allOf(100))
	for i := range uint32(6) {
		s.bind(at(100, i, i, 5, ownAddr))
	}
	if len(end.out) != 2 || len(other.out) != 6 {
		t.Fatalf("%d and %d events", len(end.out), len(other.out))
	}
	end.room = 3
	if s.turn(); len(end.out) != 2 {
		t.Fatal("written without room")
	}
	s.topology.writable(s.now, end)
	s.turn()
	end.room = 100
	s.topology.writable(s.now, end)
	s.turn()
	if got, want := end.told(t), other.told(t); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	s.sound()
}

// A link that fails in a Write takes bindings away: who subscribes in the same turn
// does not hear of the end of what it never heard of.
func TestTopologyWriteChangesTheTable(t *testing.T) {
	s := newService(t, ownAddr)
	b := s.bind(at(100, 1, 1, 5, popAddr))
	first, second := s.connect(), s.connect()
	first.then = func() { s.table.Purge(popAddr) }
	s.topology.message(s.now, first, allOf(100))
	s.topology.message(s.now, second, allOf(100))
	s.turn()
	first.then = nil
	s.bind(b)
	wantLines(t, "the first", first.told(t), "event type=published found={100,1,1} port=1001002:5",
		"event type=withdrawn found={100,1,1} port=1001002:5", "event type=published found={100,1,1} port=1001002:5")
	wantLines(t, "the second", second.told(t), "event type=published found={100,1,1} port=1001002:5")
}

// A connection that is over, whoever says so, leaves nothing.
func TestTopologyForgetsConnections(t *testing.T) {
	for _, c := range []struct {
		name    string
		end     func(s *serviceBed, end *clientEnd)
		aborted bool
	}{
		{"ended", func(s *serviceBed, end *clientEnd) { s.topology.ended(s.now, end) }, false},
		{"ended twice", func(s *serviceBed, end *clientEnd) { s.topology.ended(s.now, end); s.topology.ended(s.now, end) }, false},
		{"ended with records", func(s *serviceBed, end *clientEnd) {
			s.topology.message(s.now, end, allOf(101))
			s.topology.ended(s.now, end)
		}, false},
		{"a write fails", func(s *serviceBed, end *clientEnd) {
			end.fail = errors.New("gone")
			s.topology.writable(s.now, end)
		}, true},
	} {
		s := newService(t, ownAddr)
		end := s.connect()
		end.room = 1
		s.say(end, append(allOf(100), ask(false, 100, 0, 9, 3000, frame.FilterService)...))
		s.bind(at(100, 1, 1, 5, ownAddr))
		s.bind(at(100, 2, 2, 5, ownAddr))
		c.end(s, end)
		s.turn()
		s.topology.message(s.now, end, allOf(100))
		s.topology.writable(s.now, end)
		s.until(time.Minute)
		s.bind(at(100, 3, 3, 5, ownAddr))
		if len(end.out) != 1 || end.closed || end.aborted != c.aborted || s.watches.Len() != 0 || s.topology.waiting != 0 || len(s.topology.clients) != 0 {
			t.Errorf("%s: %d events, closed %v, aborted %v, %d subscriptions, %d events waiting", c.name,
				len(end.out), end.closed, end.aborted, s.watches.Len(), s.topology.waiting)
		}
	}
}

// The service is a name of the node: local programs alone see it, and a datagram to it
// is undeliverable (spec 06 §1).
func TestTopologyIsBound(t *testing.T) {
	p := newScriptedPeer(t)
	defer p.done()
	var got []string
	for b := range p.Bindings {
		got = append(got, fmt.Sprint(b.Range, " ", b.Scope))
	}
	wantLines(t, "bound", got, "0:16781313-16781313 cluster", "1:1-1 node")
	port := p.OpenPort(PortConfig{Returnable: true})
	if err := port.SendService(0, frame.Service{Type: naming.TopologyType, Instance: 1}, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, r, ok := port.Read(nil); !ok || r.Error != frame.NoPort || r.From != p.TopologyAddr() {
		t.Errorf("got %+v", r)
	}
	p.up()
	for _, line := range p.drain() {
		if strings.Contains(line, "1:1-1") {
			t.Errorf("told the peer: %s", line)
		}
	}
	port.Close(0)
}
