// SPDX-License-Identifier: Apache-2.0

package seal

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// A desk is one node's ring, with what it keeps of node 2, and keys of node 2 to
// seal packets with.
type desk struct {
	t    *testing.T
	r    *Ring
	p    *Peer
	keys map[string]*Sender
}

const (
	desk1 frame.NodeAddr = 0x01001001
	desk2 frame.NodeAddr = 0x01001002
)

func newDesk(t *testing.T) *desk {
	d := &desk{t, NewRing(0, true), NewPeer(desk2), map[string]*Sender{}}
	d.r.SetSelf(desk1, frame.AddrIdentity(desk1))
	for i, mode := range []frame.KeyMode{frame.ClusterKey, frame.NodeKey} {
		for j := range 5 {
			s, err := NewSender(testKey(t, mode, byte(10*(i+1)+j)), 100)
			if err != nil {
				t.Fatal(err)
			}
			d.keys[fmt.Sprint("cn"[i:i+1], j)] = s
		}
	}
	return d
}

// key is the key of a name: c0 to c4 of the cluster, n0 to n4 of node 2.
func (d *desk) key(name string) *Key {
	if name[0] == 'c' {
		return testKey(d.t, frame.ClusterKey, 10+name[1]-'0')
	}
	return testKey(d.t, frame.NodeKey, 20+name[1]-'0')
}

// packet is a STATE from node 2 to node 1.
func packet() []byte {
	f := frame.StateFields{LinkInfo: frame.LinkInfo{Orig: desk2, Dest: desk1}}
	f.Prev = desk2
	return f.Append(nil, nil)
}

// open lets a packet come under a key of node 2 in one of its slots.
func (d *desk) open(now time.Duration, key string, slot uint8) (Opened, error) {
	d.t.Helper()
	b := make([]byte, 200)
	n, err := d.keys[key].Seal(b, packet(), &Header{TX: slot, Destined: true, Dest: desk1, RX: 3})
	if err != nil {
		d.t.Fatal(err)
	}
	plain, o, err := d.r.Open(now, b[:n], d.p)
	if err == nil && !bytes.Equal(plain, packet()) {
		d.t.Fatalf("got %x inside", plain)
	}
	return o, err
}

func (d *desk) handleKey(now time.Duration, key string, gen frame.Seq) error {
	f := frame.KeyFields{Generation: gen, Mode: frame.NodeKey}
	m, err := frame.Parse(f.Append(nil, d.key(key).Append(nil)))
	if err != nil {
		d.t.Fatal(err)
	}
	k, err := frame.ParseKey(m)
	if err != nil {
		d.t.Fatal(err)
	}
	return d.r.HandleKey(now, d.p, k)
}

// state is the peer's: slots pending, active, passive; N; which slots are filled.
func (d *desk) state() string {
	s := fmt.Sprintf("%d%d%d", d.p.pending, d.p.active, d.p.passive)
	for i, k := range d.p.rx {
		if (k != nil) != (d.p.pending == uint8(i+1) || d.p.active == uint8(i+1) || d.p.passive == uint8(i+1)) {
			d.t.Fatalf("slot %d: key there %v, state %s", i+1, k != nil, s)
		}
	}
	if d.p.noKey {
		s += " N"
	}
	return s
}

// TestPeerSlots has the transitions drawn above Peer, as transcripts: what happens
// at which second, and pending, active and passive slot after it.
//
// Proves: keys.restart, seal.rules, seal.nonce
func TestPeerSlots(t *testing.T) {
	type step struct {
		at   float64
		do   string // "open key slot", "key key generation", "timer", "lost", "cluster key", "node key", "master key"
		err  error
		want string
	}
	repeat := func(n int, s step) (l []step) {
		for range n {
			l = append(l, s)
		}
		return l
	}
	join := func(parts ...[]step) (l []step) {
		for _, p := range parts {
			l = append(l, p...)
		}
		return l
	}
	for name, steps := range map[string][]step{
		"no key at all": {
			{0, "open c0 1", ErrNoKey, "000 N"},
			{0, "open c0 0", ErrNoKey, "000 N"},
		},
		"the cluster's key is copied to the slot the node uses": {
			{0, "cluster c0", nil, "000"},
			{0, "open c0 3", nil, "030"},
			{0, "open c0 3", nil, "030"},
			{1, "timer", nil, "030"},
		},
		"a new cluster key: pending is tried before active": {
			{0, "cluster c0", nil, "000"},
			{0, "open c0 1", nil, "010"},
			{0, "switch", nil, "010"},
			{1, "cluster c1", nil, "010"},
			{1, "open c1 2", nil, "021"}, // 2 active, 1 passive
			{2, "open c0 1", nil, "021"},
			{2, "timer", nil, "021"},
			{4, "open c1 2", nil, "021"},
			{10, "open c1 2", nil, "021"},
			{601.9, "open c1 2", nil, "021"},
			{601.9, "timer", nil, "021"},
			{602, "timer", nil, "020"}, // passive for 10 minutes
		},
		"another's cluster key": {
			{0, "cluster c0", nil, "000"},
			{0, "open c1 1", ErrNoKey, "000 N"},
			{0, "open c0 1", nil, "010"}, // N is over
		},
		"a session key becomes active at the timer": {
			{0, "master c4", nil, "000"},
			{0, "open c4 0", nil, "000"},
			{0, "key n0 7", nil, "100"},
			{1, "timer", nil, "100"}, // not before it has worked
			{1, "open n0 1", nil, "100"},
			{1, "timer", nil, "010"},
			{1, "key n0 7", ErrDouble, "010"},
			{1, "key n1 8", nil, "210"},
			{1, "key n2 9", nil, "210"}, // the one before never worked
			{1, "open n1 2", ErrTag, "210"},
			{1, "open n1 3", ErrNoKey, "210"}, // no N while a key waits to be used
			{1, "open n2 2", nil, "210"},
			{1, "open n0 1", nil, "210"},
			{1, "timer", nil, "021"},
			{2, "open n0 1", nil, "021"}, // still under way
			{2, "key n3 10", nil, "321"},
			{2, "open n3 3", nil, "321"},
			{2, "timer", nil, "032"},
			{2, "open n4 1", ErrNoKey, "032 N"}, // a newer one
			{2, "open n3 3", nil, "032"},
		},
		"an old slot makes no N": {
			{0, "master c4", nil, "000"},
			{0, "key n0 7", nil, "100"},
			{0, "open n0 2", nil, "200"},
			{0, "timer", nil, "020"},
			{1, "open n4 1", ErrNoKey, "020"},
			{1, "open n4 3", ErrNoKey, "020 N"},
		},
		"a session key finds its slot": {
			{0, "master c4", nil, "000"},
			{0, "key n0 7", nil, "100"},
			{0, "open n1 2", ErrNoKey, "100"}, // not with another; no N while a key waits to be used
			{0, "open n0 2", nil, "200"},
			{0, "timer", nil, "020"},
			{0, "open n0 3", ErrNoKey, "020 N"}, // not once it has worked
			{0, "open n0 2", nil, "020"},
		},
		"silence": {
			{0, "master c4", nil, "000"},
			{0, "key n0 7", nil, "100"},
			{1, "open n0 1", nil, "100"},
			{1, "timer", nil, "010"},
			{3.9, "timer", nil, "010"},
			{4, "timer", nil, "100"}, // silent for 3 s
			{9, "timer", nil, "100"},
			{9, "open n0 1", nil, "100"}, // back
			{9, "timer", nil, "010"},
			{10, "key n1 8", nil, "210"},
			{12, "timer", nil, "201"}, // one waits: it is passive
			{13, "open n0 1", nil, "201"},
			{13, "timer", nil, "210"}, // none else is active
			{14, "open n1 2", nil, "210"},
			{14, "timer", nil, "021"},
			{17, "timer", nil, "201"}, // the newer one is silent too
			{613, "timer", nil, "200"},
		},
		"a silent key makes room for a new one": {
			{0, "master c4", nil, "000"},
			{0, "key n0 7", nil, "100"},
			{1, "open n0 1", nil, "100"},
			{1, "timer", nil, "010"},
			{4, "timer", nil, "100"},
			{4, "key n1 8", nil, "201"},
			{4, "open n1 2", nil, "201"},
			{4, "timer", nil, "021"},
			{4, "key n2 9", nil, "321"},
			{7, "timer", nil, "302"}, // three, none of which works: the oldest goes
		},
		"failures delete what has not worked": join([]step{
			{0, "master c4", nil, "000"},
			{0, "key n0 7", nil, "100"},
		}, repeat(20, step{2.9, "open n1 1", ErrTag, "100"}), []step{
			{2.9, "open n0 1", nil, "100"}, // strangers took nothing away
			{2.9, "timer", nil, "010"},
		}, repeat(20, step{5.8, "open n1 1", ErrTag, "010"}), []step{
			{5.9, "timer", nil, "100"},
			{6, "open n1 1", ErrTag, "000"}, // those before count
			{6, "open n1 1", ErrNoKey, "000 N"},
			{6, "key n0 7", nil, "100"}, // the same generation again
		}),
		"nine failures delete nothing": join([]step{
			{0, "master c4", nil, "000"},
			{0, "key n0 7", nil, "100"},
		}, repeat(9, step{4, "open n1 1", ErrTag, "100"}), []step{
			{4, "open n0 1", nil, "100"},
		}, repeat(9, step{8, "open n1 1", ErrTag, "100"}), []step{
			{8, "open n1 1", ErrTag, "000"},
		}),
		"failures delete a passive key": join([]step{
			{0, "master c4", nil, "000"},
			{0, "key n0 7", nil, "100"},
			{0, "open n0 1", nil, "100"},
			{0, "timer", nil, "010"},
			{0, "key n1 8", nil, "210"},
			{5, "open n1 2", nil, "210"},
			{5, "timer", nil, "021"},
		}, repeat(9, step{5, "open n4 1", ErrTag, "021"}), []step{
			{5, "open n4 1", ErrTag, "020"},
		}),
		"a node that started again with another key at the same slot": {
			{0, "master c4", nil, "000"},
			{0, "key n0 7", nil, "100"},
			{0, "open n0 1", nil, "100"},
			{0, "timer", nil, "010"},
			{1, "open c4 0", nil, "010"},
			{2, "key n1 900", nil, "210"},
			{3, "timer", nil, "201"},
			{3, "open n1 1", nil, "100"}, // the pending key found its slot and took the old one's place
			{3, "timer", nil, "010"},
		},
		"a key the node was given": {
			{0, "cluster c0", nil, "000"},
			{0, "node n0", nil, "000"},
			{0, "open n0 1", nil, "010"},
			{0, "open n0 2", nil, "021"},
			{0, "open n1 3", ErrNoKey, "021 N"},
			{1000, "timer", nil, "200 N"},
			{1000, "open n0 1", nil, "210"}, // never lost
			{1000, "open c0 3", nil, "213"}, // the slot before: an older one
		},
		"the place of a pending key is given to another": {
			{0, "cluster c0", nil, "000"},
			{0, "key n0 7", nil, "100"},
			{0, "open n0 1", nil, "100"},
			{0, "timer", nil, "010"}, // which the node may not have heard when it
			{0, "key n1 8", nil, "210"},
			{0, "open n1 1", nil, "100"},
			{0, "timer", nil, "010"},
			{0, "open n0 1", ErrTag, "010"},
		},
		"an older key is heard for the first time": {
			{0, "cluster c0", nil, "000"},
			{0, "key n0 7", nil, "100"},
			{0, "open n0 2", nil, "200"},
			{0, "timer", nil, "020"},
			{0, "open c0 1", nil, "021"},
			{0, "open n0 2", nil, "021"},
			{4, "open c0 1", nil, "021"},
			{4, "timer", nil, "201"}, // and the newer one no more
			{4.4, "timer", nil, "210"},
		},
		// Mutations of the four that follow: Lost does not call doubt; doubt does not call rest;
		// HandleKey returns after a known key as it does after one that is a double; unopened takes
		// the slot before the pending key for an old one, as it does that before the active
		// key; awaits has no limit.
		"after contact was lost another key at the same slot": {
			{0, "master c4", nil, "000"},
			{0, "cluster c0", nil, "000"},
			{0, "key n0 7", nil, "100"},
			{0, "open n0 1", nil, "100"},
			{0, "timer", nil, "010"},
			{1, "open c0 1", ErrTag, "010"}, // its key works: no other is tried
			{1, "lost", nil, "100"},
			{1, "open c0 1", nil, "010"},
			{1, "timer", nil, "010"},
		},
		"after contact was lost the same key": {
			{0, "master c4", nil, "000"},
			{0, "key n0 7", nil, "100"},
			{0, "open n0 1", nil, "100"},
			{0, "timer", nil, "010"},
			{1, "key n1 8", nil, "210"},
			{1, "lost", nil, "201"},
			{1, "timer", nil, "201"},
			{1, "open n0 1", nil, "201"},
			{1, "timer", nil, "210"},
		},
		"a key of the life before at another slot": {
			{0, "master c4", nil, "000"},
			{0, "key n0 7", nil, "100"},
			{0, "open n0 2", nil, "200"},
			{0, "timer", nil, "020"},
			{5, "timer", nil, "200"},
			{5, "open n0 1", ErrNoKey, "200 N"}, // which is no old one: nothing works
			{6, "key n0 900", nil, "302"},       // the answer
			{6, "open n0 1", nil, "102"},
			{6, "timer", nil, "012"},
		},
		"a key that was given to the node twice": {
			{0, "master c4", nil, "000"},
			{0, "key n0 7", nil, "100"},
			{0, "open n0 1", nil, "100"},
			{0, "timer", nil, "010"},
			{1, "key n0 8", nil, "210"},
			{1, "key n0 8", ErrDouble, "210"},
			{1, "open n0 1", nil, "210"}, // of the active key, the pending one's first
			{1, "open n0 2", nil, "210"},
			{1, "timer", nil, "021"},
		},
		"a key that came and is never used": {
			{0, "master c4", nil, "000"},
			{0, "key n0 7", nil, "100"},
			{9.9, "open n1 2", ErrNoKey, "100"},
			{10, "open n1 2", ErrNoKey, "100 N"}, // it started again without that
		},
		"exchange off": {
			{0, "key n0 7", ErrNoKey, "000"}, // no keys, so nothing is sealed
			{0, "cluster c0", nil, "000"},
			{0, "off", nil, "000"},
			{0, "key n0 7", ErrNoKey, "000"},
		},
		"a key of zeros": {
			{0, "cluster c0", nil, "000"},
			{0, "key 00 7", ErrKey, "000"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			for i, s := range steps {
				now := time.Duration(s.at * float64(time.Second))
				var verb, key string
				var n int
				fmt.Sscan(s.do, &verb, &key, &n)
				var err error
				switch verb {
				case "open":
					_, err = d.open(now, key, uint8(n))
				case "key":
					if key == "00" {
						f := frame.KeyFields{Mode: frame.NodeKey}
						m, _ := frame.Parse(f.Append(nil, make([]byte, 20)))
						k, _ := frame.ParseKey(m)
						err = d.r.HandleKey(now, d.p, k)
					} else {
						err = d.handleKey(now, key, frame.Seq(n))
					}
				case "timer":
					d.p.HandleTimeout(now)
				case "lost":
					d.r.Lost(now, d.p)
				case "cluster":
					_, err = d.r.SetKey(now, d.key(key), 0)
				case "switch":
					d.r.active, d.r.pending = d.r.pending, 0
				case "master":
					err = d.r.SetMaster(now, d.key(key), 0)
				case "node":
					err = d.p.Configure(d.key(key))
				case "off":
					d.r.SetExchange(false)
				default:
					t.Fatal(s.do)
				}
				if got := d.state(); err != s.err || got != s.want {
					t.Fatalf("step %d, %vs, %s: got %v, %s, want %v, %s", i, s.at, s.do, err, got, s.err, s.want)
				}
			}
		})
	}
}

// TestBits has the rows of docs/spec/09-security.md §4.4: who is heeded, and what follows.
//
// Proves: seal.rules
func TestBits(t *testing.T) {
	const now = time.Minute
	long := frame.PayloadFields{Type: frame.DirectMsg, OrigNode: desk2, DestNode: desk1}
	long.Prev = desk2
	other := long
	other.DestNode = 0x01001003
	short := frame.PayloadFields{Type: frame.ConnMsg}
	short.Prev = desk2
	for _, c := range []struct {
		why      string
		plain    []byte
		h        Header
		needs    bool
		reported uint8
		master   bool
		grace    bool
	}{
		{"all bits", long.Append(nil, nil), Header{Destined: true, RX: 2, NoKey: true, Master: true}, true, 2, true, true},
		{"no bits", long.Append(nil, nil), Header{Destined: true}, false, 0, false, false},
		{"RX alone", long.Append(nil, nil), Header{Destined: true, RX: 3}, false, 3, false, false},
		{"N alone", long.Append(nil, nil), Header{Destined: true, NoKey: true}, true, 0, false, true},
		{"not for one node", long.Append(nil, nil), Header{Master: true}, false, 1, true, false},
		{"for another node inside", other.Append(nil, nil), Header{Destined: true, RX: 2, NoKey: true, Master: true}, false, 1, true, false},
		{"header too short to say", short.Append(nil, []byte("12345678")), Header{Destined: true, RX: 2, NoKey: true, Master: true}, false, 1, true, false},
	} {
		d := newDesk(t)
		if _, err := d.r.SetKey(now-1, d.key("c0"), 0); err != nil {
			t.Fatal(err)
		}
		d.r.report(now-1, d.p, 1)
		c.h.TX, c.h.Dest = 1, desk1
		b := make([]byte, 300)
		n, err := d.keys["c0"].Seal(b, c.plain, &c.h)
		if err != nil {
			t.Fatal(err)
		}
		_, o, err := d.r.Open(now, b[:n], d.p)
		if err != nil {
			t.Fatal(err)
		}
		if o.Needs != c.needs || d.p.reported != c.reported || d.p.master != c.master || (d.r.grace == now+Grace) != c.grace {
			t.Errorf("%s: got needs %v, RX %d, master %v, grace until %v", c.why, o.Needs, d.p.reported, d.p.master, d.r.grace)
		}
		if (d.r.legacy > now) == c.master {
			t.Errorf("%s: got legacy until %v", c.why, d.r.legacy)
		}
		if changed := d.r.changed == now; changed != (c.reported != 1) {
			t.Errorf("%s: users changed: got %v", c.why, changed)
		}
		if got := d.r.users[c.reported]; got != 1 && c.reported != 0 {
			t.Errorf("%s: got %d users of slot %d", c.why, got, c.reported)
		}
		if !o.Activated || o.Slot != 1 {
			t.Errorf("%s: got %+v, want slot 1 activated", c.why, o)
		}
	}
}
