// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// A sealedBed is two nodes with a cluster key, that exchange numbered messages, and
// whoever else a test adds.
type sealedBed struct {
	*bed
	from, to *Port
	svc      frame.Service
	sent     int
	got      int
	recorded [][]byte // every frame of the two
}

var sealedAddrs = [2]frame.NodeAddr{0x1001001, 0x1001002}

func newSealedBed(t testing.TB, change ...func(*Config)) *sealedBed {
	t.Helper()
	return newSealedBedOf(t, 0, change...)
}

// newSealedBedOf is newSealedBed with other chances for another seed.
func newSealedBedOf(t testing.TB, seed uint64, change ...func(*Config)) *sealedBed {
	t.Helper()
	s := &sealedBed{bed: newKeyedBed(t, seed, Key{Key: testKey(t, frame.ClusterKey, 3)}, change...), svc: frame.Service{Type: 18888, Instance: 17}}
	s.record(&s.recorded, 0, 1)
	s.to = s.y.OpenPort(PortConfig{})
	if err := s.to.Bind(0, s.svc.Range(), frame.ClusterScope); err != nil {
		t.Fatal(err)
	}
	if !s.until(5*time.Second, func() bool { return s.x.knows(s.svc.Range()) && s.apart(0) && s.apart(1) }) {
		t.Fatal("the two make no contact")
	}
	s.from = s.x.OpenPort(PortConfig{})
	s.say()
	return s
}

// newKeyedBed makes two nodes with a key, whose chances are those of a seed.
func newKeyedBed(t testing.TB, seed uint64, k Key, change ...func(*Config)) *bed {
	t.Helper()
	b := &bed{t: t, seed: seed}
	b.grow(2, append([]func(*Config){sealed}, change...)...)
	for _, n := range b.nodes {
		n.setKey(t, 0, k)
	}
	return b
}

// record keeps every frame that nodes send.
func (b *bed) record(frames *[][]byte, of ...int) {
	b.lose = func(from int, f []byte) bool {
		if slices.Contains(of, from) {
			*frames = append(*frames, bytes.Clone(f))
		}
		return false
	}
}

// apart reports whether a node has contact with the other of the two, and knows nobody else.
func (s *sealedBed) apart(i int) bool {
	n := s.nodes[i].byAddr[sealedAddrs[1-i]]
	return len(s.nodes[i].nodes) == 1 && n != nil && n.contact == UpUp
}

// say sends the next message.
func (s *sealedBed) say() {
	s.t.Helper()
	if err := s.from.SendService(s.now, s.svc, []byte(fmt.Sprint("message number ", s.sent))); err != nil {
		s.t.Fatal(err)
	}
	s.sent++
	s.settle()
	var b [100]byte
	for n, r, ok := s.to.Read(b[:]); ok; n, r, ok = s.to.Read(b[:]) {
		if want := fmt.Sprint("message number ", s.got); string(b[:n]) != want || r.From != s.from.Addr() {
			s.t.Fatalf("got %q of %v, want %q", b[:n], r.From, want)
		}
		s.got++
	}
}

// unharmed checks that the two still have contact, that it was not lost meanwhile, and that
// every message has arrived once.
func (s *sealedBed) unharmed(what string) {
	s.t.Helper()
	s.say()
	s.until(time.Second, func() bool { return s.to.Pending() > 0 || s.got == s.sent })
	s.say()
	s.until(5*time.Second, func() bool { return s.x.arena.Free() == s.x.arena.Total() && s.y.arena.Free() == s.y.arena.Total() })
	if s.got != s.sent {
		s.t.Errorf("%s: %d of %d messages arrived", what, s.got, s.sent)
	}
	for i, n := range s.nodes[:2] {
		for _, ev := range n.events {
			if ev.Kind == PeerLost || ev.Kind == LinkDown {
				s.t.Errorf("%s: node %d: %v", what, i, ev)
			}
		}
		if !s.apart(i) {
			s.t.Errorf("%s: node %d knows %d nodes", what, i, len(n.nodes))
		}
		if n.Kept() != 0 || n.arena.Free() != n.arena.Total() {
			s.t.Errorf("%s: node %d keeps %d bytes, %d of %d chunks are free", what, i, n.Kept(), n.arena.Free(), n.arena.Total())
		}
	}
}

// A node without the key, or with another, gets no contact with those that have it, no
// answer, and is not remembered; nor does it learn a name.
//
// Proves: hostile.docs
func TestIntruderMakesNoContact(t *testing.T) {
	for _, c := range []struct {
		name string
		key  byte
		drop Drop
	}{{"no key", 0, DropPlain}, {"another key", 7, DropNoKey}} {
		s := newSealedBed(t)
		z := s.add(Config{Address: 0x1001003, Sealed: c.key != 0}, 9)
		if c.key != 0 {
			z.setKey(t, s.now, Key{Key: testKey(t, frame.ClusterKey, c.key)})
		}
		answers := 0
		s.lose = func(from int, b []byte) bool {
			if from < 2 && frame.MAC(b) == z.macs[0] {
				answers++
			}
			return false
		}
		for range 60 {
			s.pass(500 * time.Millisecond)
			s.say()
		}
		s.unharmed(c.name)
		if answers != 0 || len(z.nodes) != 0 || z.knows(s.svc.Range()) {
			t.Errorf("%s: %d answers; the intruder knows %d nodes", c.name, answers, len(z.nodes))
		}
		for i, n := range s.nodes[:2] {
			if n.Engine.count.Drops[c.drop] < 20 {
				t.Errorf("%s: node %d dropped %v", c.name, i, n.Engine.count.Drops)
			}
		}
	}
}

// Frames that claim to be sealed by a node, of every slot, from its own station, at line
// rate, open nothing, keep nothing and take no key away, not while keys are changed either.
//
// Proves: hostile.docs, hostile.forged
func TestIntruderAtLineRate(t *testing.T) {
	s := newSealedBed(t)
	r := rand.New(rand.NewPCG(1, 2))
	const frames = 60_000
	for i := range frames {
		b := make([]byte, frame.EthernetLen+60+r.IntN(200))
		frame.PutEthernet(b, s.y.macs[0], s.x.macs[0])
		h := b[frame.EthernetLen:]
		for k := range h {
			h[k] = byte(r.Uint32())
		}
		h[0] = 7<<5 | []byte{0, 7, 13}[i%3]<<1 | byte(i&1)
		h[1] = byte(i%4<<6 | r.IntN(64)&^1)
		h[2], h[3] = 0, 0
		copy(h[12:], []byte{1, 0, 0x10, 1})
		s.inject(s.y, b)
		switch {
		case i == frames/3:
			if err := s.x.Rekey(s.now); err != nil {
				t.Fatal(err)
			}
		case i%200 == 0:
			s.say()
			s.pass(200 * time.Millisecond)
		}
	}
	s.unharmed("line rate")
	bad := s.y.Engine.count.Drops[DropTag] + s.y.Engine.count.Drops[DropNoKey] + s.y.Engine.count.Drops[DropMalformed]
	if bad != frames {
		t.Errorf("of %d frames %d were refused: %v", frames, bad, s.y.Engine.count.Drops)
	}
	used := false
	for _, ev := range s.x.events {
		used = used || ev.Kind == KeyInUse
	}
	if !used {
		t.Error("the new key was not taken up")
	}
	if told := s.x.Engine.count.Drops[DropTag]; told != 0 {
		t.Errorf("the other dropped %d", told)
	}
	notes := 0
	for _, ev := range s.y.events {
		if ev.Kind == NotOpened {
			notes++
		}
	}
	if most := int(s.now/logGap) + 1; notes > most || notes == 0 {
		t.Errorf("told of it %d times in %v", notes, s.now)
	}
}

// A sealed frame of which any bit is changed, or that is cut anywhere, does nothing.
//
// Proves: hostile.docs
func TestIntruderChangesBits(t *testing.T) {
	s := newSealedBed(t)
	s.recorded = nil
	s.lose = func(from int, b []byte) bool { // the message does not come, but what was made of it
		s.recorded = append(s.recorded, bytes.Clone(b))
		return frame.MAC(b) == s.y.macs[0]
	}
	s.say()
	s.lose = nil
	if len(s.recorded) != 1 {
		t.Fatalf("%d frames", len(s.recorded))
	}
	b := s.recorded[0]
	before := s.y.Engine.count
	tries := 0
	for i := frame.EthernetLen; i < len(b); i++ {
		for bit := range 8 {
			x := bytes.Clone(b)
			x[i] ^= 1 << bit
			s.inject(s.y, x)
			tries++
		}
		s.inject(s.y, b[:i])
		tries++
	}
	s.settle()
	if s.to.Pending() != 0 || s.y.Engine.count.MessagesIn != before.MessagesIn {
		t.Errorf("%d messages of changed frames", s.to.Pending())
	}
	dropped := 0
	for i := range s.y.Engine.count.Drops {
		dropped += int(s.y.Engine.count.Drops[i] - before.Drops[i])
	}
	if dropped != tries {
		t.Errorf("%d of %d were dropped and counted", dropped, tries)
	}
	s.pass(time.Second) // it is sent again
	s.unharmed("changed")
}

// What was recorded and comes again brings no message twice, no name back, and ends no
// contact; TestReplaysAfterRestart is of nodes that were restarted meanwhile.
//
// Proves: hostile.docs
func TestIntruderReplays(t *testing.T) {
	for _, rekey := range []bool{false, true} {
		s := newSealedBed(t)
		other := frame.Range{Type: 19999, Lower: 1, Upper: 9}
		if rekey {
			s.pass(20 * time.Second) // the keys are taken up
			if err := s.x.Rekey(s.now); err != nil {
				t.Fatal(err)
			}
			if err := s.y.Rekey(s.now); err != nil {
				t.Fatal(err)
			}
			s.pass(30 * time.Second)
		}
		if err := s.to.Bind(s.now, other, frame.ClusterScope); err != nil {
			t.Fatal(err)
		}
		for range 200 {
			s.say()
		}
		s.until(time.Second, func() bool { return s.x.knows(other) })
		s.to.Unbind(s.now, other, frame.ClusterScope)
		if !s.until(time.Second, func() bool { return !s.x.knows(other) }) {
			t.Fatal("the name is not withdrawn")
		}
		again := s.recorded
		s.lose = nil
		for round := range 3 {
			for _, b := range again {
				for _, n := range s.nodes[:2] {
					if eth, _, _ := frame.ParseEthernet(b); eth.Src() != n.macs[0] && (eth.Dst().IsGroup() || eth.Dst() == n.macs[0]) {
						s.inject(n, b)
					}
				}
				s.settle()
			}
			s.pass(time.Duration(round+1) * 100 * time.Millisecond)
		}
		s.unharmed("replayed")
		if s.x.knows(other) {
			t.Error("a withdrawn name is back")
		}
		replays := s.x.Engine.count.Drops[DropReplay] + s.y.Engine.count.Drops[DropReplay]
		if replays < 100 {
			t.Errorf("session keys %v: %d replays were seen as such", rekey, replays)
		}
	}
}

// What encryption cannot give beside kernels, where a key stays the same: a RESET that was
// recorded before they were restarted may end a link, once; contact is made again. Among
// nodes that prove themselves it ends none.
func TestReplayedResetOfAnotherLife(t *testing.T) {
	for _, kernel := range []bool{true, false} {
		as := func(c *Config) { c.AsKernel = kernel && c.Address == sealedAddrs[1] }
		old := newSealedBed(t, as)
		old.y.lose(old.now, old.y.byAddr[sealedAddrs[0]])
		old.until(5*time.Second, func() bool { return old.apart(0) && old.apart(1) })
		s := newSealedBedOf(t, 51, as)
		x := s.x.byAddr[sealedAddrs[1]].links[0]
		ended := false
		for _, b := range old.recorded {
			if frame.MAC(b) == s.x.macs[0] {
				s.inject(s.x, b)
				ended = ended || !x.IsUp()
			}
		}
		if ended != kernel {
			t.Errorf("kernel %v: the link ended: %v; docs/explanation/security.md says otherwise", kernel, ended)
		}
		if !s.until(30*time.Second, func() bool { return s.apart(0) && s.apart(1) }) {
			t.Error("contact is not made again")
		}
	}
}

// While a cluster migrates, plain frames are taken: who has no key makes contact, and may
// do what he may without encryption.
func TestMigrationTakesPlain(t *testing.T) {
	for _, m := range []struct{ from, to bool }{{false, false}, {true, true}, {true, false}, {false, true}} {
		migrate := m.to
		s := newSealedBed(t, func(c *Config) { c.Migration = m.from })
		if m.from != m.to {
			s.x.Engine.SetMigration(m.to)
		}
		l := s.x.byAddr[sealedAddrs[1]].links[0]
		k := frame.KeyFields{Common: frame.Common{Prev: sealedAddrs[1]}, Generation: 7, Mode: frame.NodeKey, Orig: sealedAddrs[1], Dest: sealedAddrs[0]}
		s.inject(s.x, ether(s.x.macs[0], s.y.macs[0], k.Append(nil, make([]byte, 20))))
		if got := s.x.Engine.count.Drops[DropPlainKey] == 1; got != migrate || s.x.Engine.crypt.count.KeysTaken != 0 {
			t.Errorf("migration %v: of a plain key: %v", migrate, s.x.Engine.count.Drops)
		}
		f := frame.ResetFields{
			Common: frame.Common{Prev: sealedAddrs[1]}, MaxPacket: 1400,
			LinkInfo: frame.LinkInfo{Session: 0, Orig: sealedAddrs[1], Dest: sealedAddrs[0]},
		}
		for session := range 4 { // one in four is a newer one
			f.Session = frame.Seq(session << 14)
			s.inject(s.x, ether(s.x.macs[0], s.y.macs[0], f.Append(nil)))
		}
		if l.IsUp() == migrate {
			t.Errorf("migration %v: after plain RESETs the link is up: %v", migrate, l.IsUp())
		}
	}
}

// What a sealed frame shows: the stations, the sender's address, whether it is discovery or
// link protocol, and its length; nothing of what is inside.
func TestWhatSealedFramesShow(t *testing.T) {
	s := newSealedBed(t)
	kinds := map[frame.User]int{}
	for _, b := range s.recorded {
		e, err := frame.ParseEncrypted(b[frame.EthernetLen:])
		if err != nil {
			t.Fatal(err)
		}
		kinds[frame.UserOf(b[frame.EthernetLen:])]++
		if a, ok := e.Source(); ok && a != sealedAddrs[0] && a != sealedAddrs[1] {
			t.Errorf("source %v", a)
		}
		if bytes.Contains(b, []byte("message")) {
			t.Error("a message shows")
		}
	}
	if kinds[frame.UserDiscovery] == 0 || kinds[frame.UserLink] == 0 || len(kinds) != 3 {
		t.Errorf("kinds %v", kinds)
	}
	lengths := map[int]bool{}
	for n := range 8 {
		s.recorded = nil
		s.from.SendService(s.now, s.svc, make([]byte, 40+n))
		s.settle()
		for _, b := range s.recorded {
			if frame.MAC(b) == s.y.macs[0] {
				lengths[len(b)] = true
			}
		}
		s.to.Read(make([]byte, 100))
	}
	if len(lengths) != 3 { // in steps of 4
		t.Errorf("lengths %v", lengths)
	}
}

// Who has the cluster's key is one of the cluster: contact is made and names are told.
func TestInsider(t *testing.T) {
	s := newSealedBed(t)
	z := s.add(Config{Address: 0x1001003, Sealed: true}, 9)
	z.setKey(t, s.now, Key{Key: testKey(t, frame.ClusterKey, 3)})
	if !s.until(5*time.Second, func() bool { return z.knows(s.svc.Range()) }) {
		t.Error("who has the key should be told names")
	}
}

// A node that is started again with the same key seals with other numbers.
func TestRestartRepeatsNoNonce(t *testing.T) {
	seen := map[string]int{}
	frames := 0
	for life := range 20 {
		b := newBed(t, 0)
		n := b.add(Config{Address: sealedAddrs[0], Sealed: true}, uint64(life))
		n.setKey(t, 0, Key{Key: testKey(t, frame.ClusterKey, 3)})
		b.lose = func(_ int, f []byte) bool {
			frames++
			seen[string(f[frame.EthernetLen+4:frame.EthernetLen+16])]++ // number and source
			return true
		}
		b.pass(20 * time.Second)
	}
	if frames < 200 || len(seen) != frames {
		t.Errorf("%d frames with %d numbers", frames, len(seen))
	}
}
