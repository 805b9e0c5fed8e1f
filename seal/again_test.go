// SPDX-License-Identifier: Apache-2.0

package seal

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// TestNodeStartsAgain: a key that a node was given by its owner, and that it also handed
// over in a message, begins with other numbers when the node starts again. They are no
// repetitions, wherever the copies came from.
//
// Proves: seal.nonce, keys.restart
func TestNodeStartsAgain(t *testing.T) {
	const low, high = 1, 1 << 40
	type step struct {
		at     time.Duration // s
		do     string        // "key": a message with n0; "own": n0 is given as the node's; "open": a packet under it
		number uint64        // generation of the message, number of the packet
		want   error
	}
	for name, steps := range map[string][]step{
		"given before":              {{0, "own", 0, nil}, {0, "key", 5, ErrDouble}, {1, "open", high, nil}, {2, "open", low, nil}},
		"given afterwards":          {{0, "key", 5, nil}, {1, "open", high, nil}, {1, "own", 0, nil}, {2, "open", low, nil}},
		"only handed over":          {{0, "key", 5, nil}, {1, "open", high, nil}, {2, "open", low, ErrReplay}},
		"handed over again":         {{0, "key", 5, nil}, {1, "open", high, nil}, {2, "key", 9, nil}, {3, "open", low, nil}, {4, "open", low, ErrReplay}},
		"the same message repeated": {{0, "key", 5, nil}, {1, "open", high, nil}, {2, "key", 5, ErrDouble}, {3, "open", low, ErrReplay}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			if err := d.r.SetMaster(0, d.key("c4"), 0); err != nil {
				t.Fatal(err)
			}
			for i, s := range steps {
				var err error
				switch s.do {
				case "key":
					err = d.handleKey(s.at*time.Second, "n0", frame.Seq(s.number))
				case "own":
					err = d.p.Configure(d.key("n0"))
				case "open":
					d.keys["n0"].next = s.number
					_, err = d.open(s.at*time.Second, "n0", 1)
				}
				if err != s.want {
					t.Errorf("step %d, %s %d: got %v, want %v; slots %s", i, s.do, s.number, err, s.want, d.state())
				}
			}
		})
	}
}

// TestKnownKeyCostsNothing: a key that came again is looked for in other slots, but the packets
// of its own slot are opened with one pass as before. Mutation: waiting does not compare
// the ciphers; HandleKey does not share the old one.
func TestKnownKeyCostsNothing(t *testing.T) {
	d := newDesk(t)
	if err := d.r.SetMaster(0, d.key("c4"), 0); err != nil {
		t.Fatal(err)
	}
	for gen := range frame.Seq(2) {
		if err := d.handleKey(0, "n0", gen); err != nil {
			t.Fatal(err)
		}
		if _, err := d.open(0, "n0", 1); err != nil {
			t.Fatal(err)
		}
		d.p.HandleTimeout(0)
	}
	if d.state() != "210" || d.p.waiting(1) {
		t.Errorf("got slots %s, other keys are tried on slot 1: %v, want 210, false", d.state(), d.p.waiting(1))
	}
	if _, err := d.open(0, "n0", 3); err != nil {
		t.Errorf("in another slot: got %v", err)
	}
}

// TestClusterKeyByMessage: the cluster's key is each member's, which may start again.
//
// Proves: keys.restart
func TestClusterKeyByMessage(t *testing.T) {
	d := newDesk(t)
	if err := d.r.SetMaster(0, d.key("c4"), 0); err != nil {
		t.Fatal(err)
	}
	f := frame.KeyFields{Generation: 5, Mode: frame.ClusterKey}
	for i, want := range []error{nil, ErrDouble} {
		m, err := frame.Parse(f.Append(nil, d.key("c0").Append(nil)))
		if err != nil {
			t.Fatal(err)
		}
		k, err := frame.ParseKey(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.r.HandleKey(0, d.p, k); err != want {
			t.Errorf("message %d: got %v, want %v", i, err, want)
		}
	}
	for _, number := range []uint64{1 << 40, 1} {
		d.keys["c0"].next = number
		if _, err := d.open(time.Second, "c0", 1); err != nil {
			t.Errorf("number %d: got %v", number, err)
		}
	}
}

// TestDiscoveryReportsNothing: what opens the discovery of a node that is not known yet
// is nobody's record, and uses none of our keys, whatever its bits say.
func TestDiscoveryReportsNothing(t *testing.T) {
	d := newDesk(t)
	if _, err := d.r.SetKey(0, d.key("c0"), 0); err != nil {
		t.Fatal(err)
	}
	as := NewPeer(0)
	if err := as.Configure(d.key("n0")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 200)
	n, err := d.keys["n0"].Seal(b, packet(), &Header{TX: 1, RX: 1, Destined: true, Dest: desk1, NoKey: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, o, err := d.r.Open(0, b[:n], as); err != nil || o.Needs || d.r.users[1] != 0 || d.r.grace != 0 {
		t.Errorf("got %+v, %v, users %v, grace %v", o, err, d.r.users, d.r.grace)
	}
}

func TestZeroKey(t *testing.T) {
	if n := new(Key).Len(); n != 0 {
		t.Errorf("got %d bytes", n)
	}
}
