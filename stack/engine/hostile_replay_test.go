// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A replayBed is two nodes with keys that live more than once, and an attacker who has
// every frame of all lives.
type replayBed struct {
	*bed
	t        *testing.T
	cfg      [2]Config
	keys     func(i int) []Key
	rekey    bool
	lives    uint64
	life     int // of the conversation, which is in each message
	from, to *Port
	recorded [][]byte
	sent     int // in this life
	got      int
	old      int // messages of lives before that were delivered
	svc      frame.Service
}

// master, cluster and node keys, by what a cluster is given.
var replayKinds = map[string]func(t *testing.T) (keys func(i int) []Key, rekey bool){
	"cluster": func(t *testing.T) (func(int) []Key, bool) {
		return func(int) []Key { return []Key{{Key: testKey(t, frame.ClusterKey, 3)}} }, false
	},
	"master": func(t *testing.T) (func(int) []Key, bool) {
		return func(int) []Key { return []Key{{Key: testKey(t, frame.ClusterKey, 5), Master: true}} }, true
	},
	"node": func(t *testing.T) (func(int) []Key, bool) {
		return func(i int) []Key {
			return []Key{
				{Key: testKey(t, frame.NodeKey, byte(20+i))},
				{Key: testKey(t, frame.NodeKey, byte(21-i)), Node: frame.AddrIdentity(sealedAddrs[1-i])},
			}
		}, false
	},
}

func newReplayBed(t *testing.T, kind string, change func(i int, c *Config)) *replayBed {
	s := &replayBed{bed: newBed(t, 0), t: t, svc: frame.Service{Type: 18888, Instance: 17}}
	s.keys, s.rekey = replayKinds[kind](t)
	s.record(&s.recorded, 0, 1)
	for i, a := range sealedAddrs {
		s.cfg[i] = Config{Address: a, Sealed: true}
		if change != nil {
			change(i, &s.cfg[i])
		}
		s.add(s.cfg[i], s.seed())
		s.equip(i)
	}
	s.meet()
	if s.rekey {
		s.newKeys()
	}
	return s
}

func (s *replayBed) seed() uint64 { s.lives++; return s.lives }

// equip gives node i its keys, and what it binds.
func (s *replayBed) equip(i int) {
	for _, k := range s.keys(i) {
		s.nodes[i].setKey(s.t, s.now, k)
	}
	if i == 1 {
		s.to = s.nodes[1].OpenPort(PortConfig{})
		if err := s.to.Bind(s.now, s.svc.Range(), frame.ClusterScope); err != nil {
			s.t.Fatal(err)
		}
	} else {
		s.from = s.nodes[0].OpenPort(PortConfig{})
	}
}

// restart ends node i without a word, and starts it again.
func (s *replayBed) restart(i int) {
	c := s.cfg[i]
	n := s.nodes[i]
	s.begin(n, c, s.seed())
	s.attach(n, BearerConfig{MTU: 1500})
	s.equip(i)
	s.life++
	s.sent, s.got = 0, 0
}

func (s *replayBed) contact() bool {
	x, y := s.nodes[0].byAddr[sealedAddrs[1]], s.nodes[1].byAddr[sealedAddrs[0]]
	return x != nil && y != nil && x.contact == UpUp && y.contact == UpUp && s.nodes[0].knows(s.svc.Range())
}

func (s *replayBed) meet() {
	s.t.Helper()
	if !s.until(10*time.Second, s.contact) {
		s.t.Fatal("the two make no contact")
	}
}

// newKeys lets both make keys of their own, and use them.
func (s *replayBed) newKeys() {
	for _, n := range s.nodes {
		if err := n.Rekey(s.now); err != nil {
			s.t.Fatal(err)
		}
	}
	s.pass(25 * time.Second)
}

// ping sends a message and reads what there is.
func (s *replayBed) ping() {
	if s.from.SendService(s.now, s.svc, fmt.Appendf(nil, "%d/%d", s.life, s.sent)) == nil {
		s.sent++
	}
	s.settle()
	s.read()
}

func (s *replayBed) read() {
	var b [100]byte
	for n, _, ok := s.to.Read(b[:]); ok; n, _, ok = s.to.Read(b[:]) {
		var life, number int
		if _, err := fmt.Sscanf(string(b[:n]), "%d/%d", &life, &number); err != nil {
			s.t.Fatalf("got %q", b[:n])
		}
		switch {
		case life != s.life:
			s.old++
		case number != s.got:
			s.t.Errorf("got message %d of life %d, want %d", number, life, s.got)
			s.got = number + 1
		default:
			s.got++
		}
	}
}

// replay gives the stations a frame of before.
func (s *replayBed) replay(b []byte) {
	eth, _, _ := frame.ParseEthernet(b)
	for i, n := range s.nodes {
		if eth.Src() == n.macs[0] || !eth.Dst().IsGroup() && eth.Dst() != n.macs[0] {
			continue
		}
		f := n.arena.Get(len(b), netdev.Control)
		if f == nil {
			s.t.Fatalf("node %d has no chunk", i)
		}
		copy(f.Extend(len(b)), b)
		n.HandleFrame(s.now, 0, f)
		f.Release()
	}
	s.settle()
	s.read()
}

// attack lets 40 s pass in which all that was recorded comes again: in order, shuffled, or
// each frame between two pings. It returns the pings that were sent, after contact first was there.
func (s *replayBed) attack(how string, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	tape := append([][]byte(nil), s.recorded...)
	const rounds = 800
	for i := range rounds {
		if how == "shuffled" && i%100 == 0 {
			r.Shuffle(len(tape), func(i, j int) { tape[i], tape[j] = tape[j], tape[i] })
		}
		for k := range len(tape) * 4 / rounds {
			s.replay(tape[(i*(len(tape)*4/rounds)+k)%len(tape)])
			if how == "mixed" && s.contact() {
				s.ping()
			}
		}
		if s.contact() {
			s.ping()
		}
		s.pass(50 * time.Millisecond)
		s.read()
	}
}

// A node that has started again, or whose peer has, takes nothing that was sealed before,
// whatever the key is, in whatever order an attacker repeats it: no old message arrives,
// contact is made and stays, and every message of now arrives once, in order. Caught by
// this: proves that returns true for every frame; HandleEcho that does not begin the window.
func TestReplaysAfterRestart(t *testing.T) {
	seed := uint64(0)
	for kind := range replayKinds {
		for _, who := range [][]int{{1}, {0}, {0, 1}} {
			for _, how := range []string{"in order", "shuffled", "mixed"} {
				t.Run(fmt.Sprint(kind, who, how), func(t *testing.T) {
					seed++
					s := newReplayBed(t, kind, nil)
					for range 200 {
						s.ping()
						s.pass(20 * time.Millisecond)
					}
					if s.got != 200 {
						t.Fatalf("%d of 200 messages in the first life", s.got)
					}
					for _, i := range who {
						s.restart(i)
					}
					first := s.now
					s.attack(how, seed)
					if s.old != 0 {
						t.Errorf("%d old messages were delivered", s.old)
					}
					if s.sent < 700 || s.got != s.sent {
						t.Errorf("%d of %d messages arrived", s.got, s.sent)
					}
					for i, n := range s.nodes {
						ups := 0
						for _, ev := range n.events {
							if ev.Kind == PeerUp {
								ups++
							}
						}
						if ups == 0 || ups > 2 {
							t.Errorf("node %d made contact %d times since %v", i, ups, first)
						}
					}
					if s.rekey { // and once they have keys of their own again
						s.newKeys()
						s.attack(how, seed)
						if s.old != 0 || s.got != s.sent {
							t.Errorf("with new keys: %d old messages, %d of %d arrived", s.old, s.got, s.sent)
						}
					}
				})
			}
		}
	}
}

// Recorded challenges that come again have an echo each, of the same length, and no more: the
// link stays, and nothing is kept.
//
// Proves: hostile.docs
func TestHostileChallengesAreAnswered(t *testing.T) {
	s := newSealedBed(t)
	var challenges [][]byte
	for _, b := range s.recorded {
		if frame.MAC(b) == s.y.macs[0] && frame.UserOf(b[frame.EthernetLen:]) == frame.UserDiscovery {
			challenges = append(challenges, b)
		}
	}
	if len(challenges) == 0 {
		t.Fatal("no challenge was recorded")
	}
	s.pass(10 * time.Second)
	in, out := 0, 0
	s.lose = func(from int, b []byte) bool {
		if from == 1 && frame.UserOf(b[frame.EthernetLen:]) == frame.UserDiscovery {
			out += len(b)
		}
		return false
	}
	for i := range 1000 {
		b := challenges[i%len(challenges)]
		in += len(b)
		s.inject(s.y, b)
		s.settle()
	}
	if out > in {
		t.Errorf("%d bytes for %d", out, in)
	}
	s.unharmed("challenged")
}

// A node whose mark was made up, without a key, is none that has to prove itself: a kernel loses
// nothing by it.
func TestForgedMarkHarmsNoKernel(t *testing.T) {
	for _, plain := range []bool{false, true} {
		s := newSealedBed(t, func(c *Config) {
			c.AsKernel = c.Address == sealedAddrs[1] // y
			c.Migration = plain
		})
		n := s.x.byAddr[sealedAddrs[1]]
		if n.has(Proofs) || n.crypt.Required() {
			t.Fatal("a kernel bears a mark")
		}
		f := frame.DiscoveryFields{
			Type: frame.Request, Capabilities: Capabilities, Signature: 0x1234, Prev: sealedAddrs[1], NetID: frame.DefaultNetID,
			MAC: s.y.macs[0], Identity: n.identity,
		}
		f.NetHash = frame.Mark(f.Identity, f.Signature, Version)
		for range 50 {
			s.inject(s.x, ether(frame.BroadcastMAC, s.y.macs[0], f.Append(nil)))
			s.say()
			s.pass(100 * time.Millisecond)
		}
		s.unharmed("a forged mark")
		s.y.lose(s.now, s.y.byAddr[sealedAddrs[0]]) // and while there is no contact
		s.settle()
		s.inject(s.x, ether(frame.BroadcastMAC, s.y.macs[0], f.Append(nil)))
		if !s.until(10*time.Second, func() bool { return s.apart(0) && s.apart(1) && s.x.knows(s.svc.Range()) }) {
			t.Errorf("migrating %v: no contact any more", plain)
		}
		s.say()
		s.until(time.Second, func() bool { return s.to.Pending() > 0 || s.got == s.sent })
		if s.say(); s.got != s.sent {
			t.Errorf("migrating %v: %d of %d messages", plain, s.got, s.sent)
		}
	}
}
