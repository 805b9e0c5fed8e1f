// SPDX-License-Identifier: Apache-2.0

package seal

import (
	"bytes"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// TestProof: of a node that has to prove itself nothing is taken before it has sent the
// challenge back, whatever the key, and of its life before nothing afterwards; discovery is
// shown to the owner, and heeded no further. Caught by this: begin that leaves the bits unset;
// look without the bound of numbers ahead; HandleEcho that takes what was held back.
func TestProof(t *testing.T) {
	d := newDesk(t)
	if _, err := d.r.SetKey(0, d.key("c0"), 0); err != nil {
		t.Fatal(err)
	}
	if err := d.handleKey(0, "n0", 5); err != nil {
		t.Fatal(err)
	}
	discovery := packet()
	discovery[0] = 2<<5 | byte(frame.UserDiscovery)<<1
	sealed := func(key string, slot uint8, number uint64, plain []byte) []byte {
		d.keys[key].next = number
		b := make([]byte, 300)
		n, err := d.keys[key].Seal(b, plain, &Header{TX: slot})
		if err != nil {
			t.Fatal(err)
		}
		return b[:n]
	}
	open := func(b []byte) (Opened, error) {
		_, o, err := d.r.Open(time.Second, bytes.Clone(b), d.p)
		return o, err
	}
	d.p.Require(77)
	for _, key := range []string{"c0", "n0"} {
		o, err := open(sealed(key, 2, 5000, packet()))
		if err != ErrReplay || !o.Strange || d.p.slot(2) != nil {
			t.Errorf("%s before the proof: got %+v, %v, slot %v", key, o, err, d.p.slot(2))
		}
	}
	if o, err := open(sealed("c0", 2, 5000, discovery)); err != nil || !o.Strange || o.Fresh || o.Number != 5000 || d.p.slot(2) != nil {
		t.Errorf("discovery before the proof: got %+v, %v", o, err)
	}
	for _, echo := range []uint64{0, 78} {
		if ok, _ := d.p.HandleEcho(echo, 5000, 1); ok || d.p.Proven() {
			t.Errorf("echo %d is taken", echo)
		}
	}
	if ok, again := d.p.HandleEcho(77, 5000, 79); !ok || again || d.p.Challenge() != 79 {
		t.Fatalf("the echo: got %v, %v, next %d", ok, again, d.p.Challenge())
	}
	for _, c := range []struct {
		number         uint64
		err            error
		fresh, strange bool
	}{
		{5000, ErrReplay, false, false},
		{4999, ErrReplay, false, false},
		{4000, ErrReplay, false, false},
		{1, ErrReplay, false, true},
		{5002, nil, true, false},
		{5001, nil, true, false},
		{5002, ErrReplay, false, false},
		{5002 + furthest + 1, ErrReplay, false, true},
		{1 << 61, ErrReplay, false, true},
		{50000, nil, true, false},
		{50000 - windowSize - 64, ErrReplay, false, true},
		{50000 - 500, nil, true, false},
	} {
		for _, key := range []string{"c0", "n0"} { // one window for all keys
			o, err := open(sealed(key, 2, c.number, packet()))
			want := c
			if key == "n0" && c.fresh {
				want.err, want.fresh = ErrReplay, false // it came, under the other
			}
			if err != want.err || o.Fresh != want.fresh || o.Strange != want.strange {
				t.Errorf("%s, number %d: got %+v, %v, want %+v", key, c.number, o, err, want)
			}
		}
	}
	if ok, _ := d.p.HandleEcho(79, 49000, 80); ok {
		t.Error("an answer that was held back moves the window back")
	}
	if ok, again := d.p.HandleEcho(79, 1<<61, 80); !ok || !again {
		t.Errorf("another life: got %v, %v", ok, again)
	}
	if _, err := open(sealed("c0", 2, 50001, packet())); err != ErrReplay {
		t.Errorf("of the life before: got %v", err)
	}
	if _, err := open(sealed("c0", 2, 1<<61+1, packet())); err != nil {
		t.Errorf("of this life: got %v", err)
	}
	if d.p.Answered(80, 81); d.p.Challenge() != 81 {
		t.Error("a challenge that was answered is asked again")
	}
	d.p.Excuse()
	if _, err := open(sealed("c0", 2, 3, packet())); err != nil {
		t.Errorf("of a kernel: got %v", err)
	}
}

// TestProofOfAnotherLife: once a node has shown that it started again, none of its keys counts as one that
// works, though there was no contact that could be lost. Caught by this: HandleEcho that does not call doubt.
//
// Proves: keys.restart
func TestProofOfAnotherLife(t *testing.T) {
	d := newDesk(t)
	for _, err := range []error{d.r.SetMaster(0, d.key("c4"), 0), d.handleKey(0, "n0", 7)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	d.p.Require(1)
	if ok, again := d.p.HandleEcho(1, 50, 2); !ok || again {
		t.Fatalf("the first echo: got %v, %v", ok, again)
	}
	if _, err := d.open(0, "n0", 1); err != nil {
		t.Fatal(err)
	}
	if d.p.HandleTimeout(0); d.state() != "010" {
		t.Fatalf("got %s, want slot 1 active", d.state())
	}
	if ok, again := d.p.HandleEcho(2, 1<<40, 3); !ok || !again {
		t.Fatalf("the echo of another life: got %v, %v", ok, again)
	}
	if d.state() != "100" || d.p.slot(1).fresh(0) {
		t.Errorf("got %s, slot 1 fresh %v, want it pending and not relied on", d.state(), d.p.slot(1).fresh(0))
	}
}
