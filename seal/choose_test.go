// SPDX-License-Identifier: Apache-2.0

package seal

import (
	"fmt"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// TestChoose has a line for every row of docs/spec/09-security.md §4.1. The pending
// key is in slot 2, the active one in slot 1.
//
// Proves: seal.rules
func TestChoose(t *testing.T) {
	const now = time.Minute
	peer := func(master bool, reported uint8) *Peer { return &Peer{master: master, reported: reported} }
	all := []Kind{Other, Discovery, LinkState, LinkReset, LinkActivate, KeyDistr}
	probes := []Kind{Discovery, LinkState, LinkReset, LinkActivate}
	rest := []Kind{Other, KeyDistr}
	anyone := []*Peer{nil, peer(false, 0), peer(true, 0), peer(true, 1), peer(false, 3)}
	const m, p, a = 1, 2, 4
	for _, c := range []struct {
		why           string
		keys          int
		grace, legacy bool
		to            []*Peer
		kinds         []Kind
		want          string
	}{
		{"no key", 0, true, true, append(anyone, peer(true, 2)), all, "[]"},
		{"pending alone", p, true, true, append(anyone, peer(true, 2)), all, "[2]"},
		{"active alone", a, true, true, append(anyone, peer(true, 2)), all, "[1]"},
		{"master alone", m, true, true, append(anyone, peer(true, 2)), all, "[0]"},
		{"pending in use there", m | p, true, true, []*Peer{peer(true, 2), peer(false, 2)}, all, "[2]"},
		{"pending in use there", a | p, false, false, []*Peer{peer(true, 2), peer(false, 2)}, all, "[2]"},
		{"pending in use there", m | a | p, true, true, []*Peer{peer(true, 2), peer(false, 2)}, all, "[2]"},
		{"probe copy, master", m | p, false, false, anyone, probes, "[2 0]"},
		{"no probe, master", m | p, false, false, anyone, rest, "[0]"},
		{"probe copy, active", a | p, false, false, anyone, probes, "[2 1]"},
		{"no probe, active", a | p, false, false, anyone, rest, "[1]"},
		{"to one with master only", m | a, false, true, []*Peer{peer(true, 0)}, []Kind{Discovery, LinkReset, LinkActivate, KeyDistr}, "[0]"},
		{"to one with master only", m | a, false, true, []*Peer{peer(true, 0)}, []Kind{Other, LinkState}, "[1]"},
		{"to one with master only, grace", m | a, true, true, []*Peer{peer(true, 0)}, all, "[0]"},
		{"to one with our key", m | a, true, true, []*Peer{peer(true, 1), peer(true, 3)}, all, "[1]"},
		{"to one without master", m | a, true, true, []*Peer{peer(false, 0), peer(false, 1)}, all, "[1]"},
		{"to all", m | a, false, false, []*Peer{nil}, []Kind{Discovery, KeyDistr}, "[0]"},
		{"to all", m | a, false, false, []*Peer{nil}, []Kind{Other}, "[1]"},
		{"to all, grace", m | a, true, false, []*Peer{nil}, all, "[0]"},
		{"to all, legacy", m | a, false, true, []*Peer{nil}, []Kind{Discovery, KeyDistr}, "[0 1]"},
		{"to all, legacy", m | a, false, true, []*Peer{nil}, []Kind{Other}, "[1]"},
		{"to all, grace, legacy", m | a, true, true, []*Peer{nil}, all, "[0 1]"},
		{"all keys, master only there", m | a | p, false, false, []*Peer{peer(true, 0)}, []Kind{LinkReset}, "[2 0]"},
		{"all keys, our key there", m | a | p, true, false, []*Peer{peer(true, 1)}, []Kind{LinkReset, LinkState}, "[2 1]"},
		{"all keys, our key there", m | a | p, true, false, []*Peer{peer(true, 1)}, rest, "[1]"},
		{"all keys, to all", m | a | p, false, false, []*Peer{nil}, []Kind{Discovery}, "[2 0]"},
		{"all keys, to all, legacy", m | a | p, false, true, []*Peer{nil}, []Kind{Discovery}, "[2 0 1]"},
		{"all keys, to all, legacy", m | a | p, false, true, []*Peer{nil}, []Kind{KeyDistr}, "[0 1]"},
	} {
		r := &Ring{}
		if c.keys&m != 0 {
			r.tx[0] = &txKey{}
		}
		if c.keys&p != 0 {
			r.tx[2], r.pending = &txKey{}, 2
		}
		if c.keys&a != 0 {
			r.tx[1], r.active = &txKey{}, 1
		}
		if c.grace {
			r.grace = now + 1
		}
		if c.legacy {
			r.legacy = now + 1
		}
		for _, to := range c.to {
			for _, kind := range c.kinds {
				got := r.Choose(now, to, kind)
				if fmt.Sprint(got.Slots()) != c.want {
					t.Errorf("%s, keys %03b, grace %v, legacy %v, %v to %+v: got %v, want %v", c.why, c.keys, c.grace, c.legacy, kind, to, got.Slots(), c.want)
				}
			}
		}
	}
}

func TestKindOf(t *testing.T) {
	for _, c := range []struct {
		user frame.User
		typ  byte
		want Kind
	}{
		{frame.UserDiscovery, 0, Discovery},
		{frame.UserDiscovery, 1, Discovery},
		{frame.UserLink, 0, LinkState},
		{frame.UserLink, 1, LinkReset},
		{frame.UserLink, 2, LinkActivate},
		{frame.UserLink, 7, LinkActivate},
		{frame.UserCrypto, 0, KeyDistr},
		{frame.UserCrypto, 1, Other},
		{frame.UserTunnel, 0, Other},
		{0, 0, Other},
		{3, 7, Other},
	} {
		b := make([]byte, frame.ShortLen)
		b[0], b[4] = 2<<5|byte(c.user)<<1, c.typ<<5
		if got := KindOf(b); got != c.want {
			t.Errorf("user %v type %d: got %v, want %v", c.user, c.typ, got, c.want)
		}
	}
}

// TestSlots has the transitions drawn above Ring.
//
// Proves: seal.rules
func TestSlots(t *testing.T) {
	r := NewRing(41, true)
	k := testKey(t, frame.ClusterKey, 1)
	step := func(what string, now time.Duration, wantSlot uint8, wantErr error, state string) {
		t.Helper()
		slot, err := uint8(0), error(nil)
		var e Event
		switch what {
		case "set":
			slot, err = r.SetKey(now, k, 0)
		case "rekey":
			slot, err = r.Rekey(now, make([]byte, 28), 0)
		case "timer":
			e = r.HandleTimeout(now)
			slot = uint8(e)
		}
		if slot != wantSlot || err != wantErr {
			t.Errorf("%s at %v: got %d, %v, want %d, %v", what, now, slot, err, wantSlot, wantErr)
		}
		_, gen, _ := r.Distribution()
		if got := fmt.Sprintf("p%d a%d g%d n%d", r.pending, r.active, gen, r.RekeyLen()); got != state {
			t.Errorf("%s at %v: got %s, want %s", what, now, got, state)
		}
		for s, tx := range r.tx {
			if (tx != nil) != (s != 0 && (uint8(s) == r.pending || uint8(s) == r.active)) {
				t.Errorf("%s at %v: slot %d: key there %v", what, now, s, tx != nil)
			}
		}
	}
	const s = time.Second
	step("rekey", 0, 0, ErrNoKey, "p0 a0 g0 n0")
	step("set", 0, 1, nil, "p1 a0 g42 n20")
	step("set", 1*s, 1, nil, "p1 a0 g43 n20") // nobody used it
	if d := r.Deadline(); d != Never {
		t.Errorf("got deadline %v, want never: nobody uses the pending key", d)
	}
	step("timer", 100*s, 0, nil, "p1 a0 g43 n20")
	p, q := NewPeer(1), NewPeer(2)
	r.report(100*s, p, 1)
	step("set", 101*s, 0, ErrBusy, "p1 a0 g43 n20")
	step("rekey", 101*s, 0, ErrBusy, "p1 a0 g43 n20")
	r.report(105*s, q, 1)
	r.report(106*s, q, 1) // nothing new
	if d := r.Deadline(); d != 115*s {
		t.Errorf("got deadline %v, want 115s", d)
	}
	step("timer", 115*s-1, 0, nil, "p1 a0 g43 n20")
	step("timer", 115*s, uint8(Switched), nil, "p0 a1 g43 n20")
	step("rekey", 116*s, 2, nil, "p2 a1 g44 n20")
	r.report(117*s, p, 2)
	step("timer", 200*s, 0, nil, "p2 a1 g44 n20") // q uses the active one
	r.report(200*s, q, 2)
	step("timer", 209*s, 0, nil, "p2 a1 g44 n20")
	step("timer", 210*s, uint8(Switched), nil, "p0 a2 g44 n28")
	step("set", 211*s, 3, nil, "p3 a2 g45 n28")
	r.Lost(212*s, q) // gone: it uses nothing now
	r.report(213*s, p, 3)
	step("timer", 223*s, uint8(Switched), nil, "p0 a3 g45 n20")
	step("set", 224*s, 1, nil, "p1 a3 g46 n20") // around
	r.Flush(225 * s)
	step("set", 226*s, 2, nil, "p2 a0 g47 n20") // p still uses slot 3, and may have slot 1
	r.Lost(227*s, p)
	if r.users != [slots]int{0: 0} {
		t.Errorf("got users %v, want none", r.users)
	}
}

// Proves: seal.secrets
func TestDistributionNeverMaster(t *testing.T) {
	r := NewRing(0, true)
	if err := r.SetMaster(0, testKey(t, frame.NodeKey, 7), 0); err != nil {
		t.Fatal(err)
	}
	if k, _, ok := r.Distribution(); ok || k != nil {
		t.Errorf("got %v, want none", k)
	}
	if r.tx[0].mode != frame.ClusterKey {
		t.Error("the master key is not in cluster mode")
	}
	if _, err := r.Rekey(0, make([]byte, r.RekeyLen()), 0); err != nil {
		t.Fatal(err)
	}
	if k, _, ok := r.Distribution(); !ok || k.Mode() != frame.NodeKey {
		t.Errorf("got %v, %v, want a node key", k, ok)
	}
	r.SetExchange(false)
	if k, _, ok := r.Distribution(); ok || k != nil {
		t.Errorf("without exchange: got %v, want none", k)
	}
}

// Proves: seal.rules
func TestRekeyInterval(t *testing.T) {
	r := NewRing(0, true)
	r.SetInterval(0, time.Minute)
	if d := r.Deadline(); d != Never {
		t.Errorf("without keys: got %v, want never", d)
	}
	alone := NewRing(0, true)
	alone.SetInterval(0, time.Minute)
	if _, err := alone.SetKey(0, testKey(t, frame.ClusterKey, 7), 0); err != nil {
		t.Fatal(err)
	}
	if d := alone.Deadline(); d != Never || alone.HandleTimeout(time.Hour) != 0 {
		t.Errorf("without a master key: got %v, want never", d)
	}
	if err := r.SetMaster(0, testKey(t, frame.ClusterKey, 7), 0); err != nil {
		t.Fatal(err)
	}
	if d := r.Deadline(); d != time.Minute {
		t.Errorf("got %v, want a minute", d)
	}
	if e := r.HandleTimeout(time.Minute - 1); e != 0 {
		t.Errorf("early: got %v", e)
	}
	if e := r.HandleTimeout(time.Minute); e != RekeyDue || r.RekeyLen() != 20 {
		t.Errorf("got %v, %d bytes, want RekeyDue, 20", e, r.RekeyLen())
	}
	if _, err := r.Rekey(time.Minute, make([]byte, 20), 0); err != nil {
		t.Fatal(err)
	}
	if e := r.HandleTimeout(2 * time.Minute); e != 0 || r.Deadline() != 3*time.Minute {
		t.Errorf("with a pending key: got %v, next %v, want nothing, 3m", e, r.Deadline())
	}
	r.SetInterval(2*time.Minute, 0)
	if d := r.Deadline(); d != Never || r.HandleTimeout(time.Hour) != 0 {
		t.Errorf("switched off: got %v, want never", d)
	}
}

// TestNumbersBelongToTheKey puts one key in two slots, and in the place of itself:
// the numbers go on, wherever chance says that a new key begins.
//
// Proves: seal.nonce
func TestNumbersBelongToTheKey(t *testing.T) {
	r := NewRing(0, true)
	k := testKey(t, frame.ClusterKey, 7)
	b, want := make([]byte, 100), uint64(500)
	sealed := func(slot uint8) {
		t.Helper()
		if _, err := r.Seal(b, make([]byte, frame.ShortLen), nil, slot); err != nil {
			t.Fatal(err)
		}
		if e, err := frame.ParseEncrypted(b); err != nil || e.Seq() != want {
			t.Errorf("slot %d: got number %d, %v, want %d", slot, e.Seq(), err, want)
		}
		want++
	}
	for range 3 {
		if err := r.SetMaster(0, k, 500); err != nil {
			t.Fatal(err)
		}
		sealed(0)
		s, err := r.SetKey(0, k, 500)
		if err != nil {
			t.Fatal(err)
		}
		sealed(s)
		sealed(0)
	}
	if r.tx[0].Count() != 9 {
		t.Errorf("got %d sealed, want 9", r.tx[0].Count())
	}
	if _, err := r.SetKey(0, testKey(t, frame.ClusterKey, 8), 500); err != nil {
		t.Fatal(err)
	}
	sealed(r.pending) // of another key: the numbers go on
}

// TestKeySpent wears keys out that may seal a few packets only.
//
// Proves: seal.nonce
func TestKeySpent(t *testing.T) {
	for _, c := range []struct {
		exchange, master bool
		want             Event
	}{{true, true, RekeyDue}, {false, true, KeyWearing}, {true, false, KeyWearing}} {
		r := NewRing(0, c.exchange)
		slot := uint8(0)
		var err error
		if c.master {
			err = r.SetMaster(0, testKey(t, frame.ClusterKey, 7), ^uint64(0))
		} else { // a pending one, which cannot be followed
			slot, err = r.SetKey(0, testKey(t, frame.ClusterKey, 7), ^uint64(0))
		}
		if err != nil {
			t.Fatal(err)
		}
		r.tx[slot].limit = 10
		plain, out := make([]byte, frame.ShortLen), make([]byte, 100)
		last := r.tx[slot].next - 1
		for i := range 10 {
			want := Event(0)
			if i == 5 {
				want = c.want
			}
			if e := r.HandleTimeout(0); e != want {
				t.Errorf("%+v: after %d: got %v, want %v", c, i, e, want)
			}
			if _, err := r.Seal(out, plain, nil, slot); err != nil {
				t.Fatal(err)
			}
			f, err := frame.ParseEncrypted(out)
			if err != nil || f.Seq() != last+1 {
				t.Fatalf("got number %d, %v, want %d", f.Seq(), err, last+1)
			}
			last++
		}
		if last < 1<<62 || last >= 1<<62+10 { // the largest start there is
			t.Errorf("got last number %d, want little more than 1<<62", last)
		}
		for range 3 {
			if n, err := r.Seal(out, plain, nil, slot); err != ErrSpent || n != 0 {
				t.Errorf("got %d, %v, want ErrSpent", n, err)
			}
		}
		if n := r.Counters(); n.Sealed != 10 || n.Spent != 3 {
			t.Errorf("got %+v, want 10 sealed, 3 spent", n)
		}
	}
}
