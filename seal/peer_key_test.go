// SPDX-License-Identifier: Apache-2.0

package seal

import (
	"testing"
	"time"
)

// TestKeyIsSentOnce asks for a key many times while one is scheduled.
//
// Proves: seal.rules
func TestKeyIsSentOnce(t *testing.T) {
	p := NewPeer(1)
	if p.TakeKeyDue(time.Hour) || p.KeyDeadline() != Never {
		t.Error("due before anybody asked")
	}
	for i := range 10 {
		p.NoKeyFor(time.Duration(i), 500*time.Millisecond)
	}
	if p.KeyDeadline() != 500*time.Millisecond || p.TakeKeyDue(500*time.Millisecond-1) {
		t.Errorf("got %v, want 500ms", p.KeyDeadline())
	}
	if !p.TakeKeyDue(500*time.Millisecond) || p.TakeKeyDue(time.Hour) || p.KeyDeadline() != Never {
		t.Error("not due just once")
	}
}

// TestRemind: a peer that goes on with the key before gets the pending one again.
//
// Proves: seal.rules
func TestRemind(t *testing.T) {
	d := newDesk(t)
	const second = time.Second
	if _, err := d.r.SetKey(100*second, d.key("c0"), 0); err != nil {
		t.Fatal(err)
	}
	h := Header{TX: 1, RX: 3, Destined: true, Dest: desk1}
	for _, c := range []struct {
		at   time.Duration
		rx   uint8
		want bool
	}{{105, 3, false}, {109, 3, false}, {110, 3, true}, {111, 3, false}, {114, 0, false}, {115, 0, true}, {124, 3, false}, {150, 1, false}, {151, 3, true}, {152, 3, false}} {
		b := make([]byte, 200)
		h.RX = c.rx
		n, err := d.keys["c0"].Seal(b, packet(), &h)
		if err != nil {
			t.Fatal(err)
		}
		_, o, err := d.r.Open(c.at*second, b[:n], d.p)
		if err != nil || o.Needs != c.want {
			t.Errorf("second %d, RX %d: got %v, %v, want %v", c.at, c.rx, o.Needs, err, c.want)
		}
	}
	d.r.SetExchange(false)
	if d.r.remind(time.Hour, d.p) {
		t.Error("reminded without exchange")
	}
}

// Proves: seal.rules
func TestForget(t *testing.T) {
	d := newDesk(t)
	if _, err := d.r.SetKey(0, d.key("c0"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := d.open(0, "c0", 1); err != nil {
		t.Fatal(err)
	}
	if d.r.users[3] != 1 {
		t.Fatalf("got users %v", d.r.users)
	}
	d.r.Forget(time.Second, d.p)
	if d.r.users[3] != 0 || d.state() != "000" || d.p.Addr() != desk2 || d.p.Counters().Opened != 1 {
		t.Errorf("got users %v, slots %s", d.r.users, d.state())
	}
}
