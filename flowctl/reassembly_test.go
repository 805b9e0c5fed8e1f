// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"bytes"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// whole is a message of n bytes, header included.
func whole(n int) []byte {
	f := frame.PayloadFields{Common: frame.Common{Prev: peer}, Type: frame.DirectMsg, OrigPort: 2, DestPort: 1, OrigNode: peer, DestNode: self}
	data := make([]byte, n-frame.BasicLen)
	for i := range data {
		data[i] = byte(i * 7)
	}
	return f.Append(nil, data)
}

func fragment(t testing.TB, typ frame.FragmentType, piece []byte) frame.Fragment {
	t.Helper()
	f := frame.FragmentFields{Common: frame.Common{Prev: peer}, Type: typ, Orig: peer, Dest: self}
	m, err := frame.Parse(f.Append(nil, piece))
	if err != nil {
		t.Fatal(err)
	}
	x, err := frame.ParseFragment(m)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// cut makes fragments of size bytes each.
func cut(t testing.TB, b []byte, size int) (f []frame.Fragment) {
	for typ := frame.FirstFragment; ; typ = frame.MiddleFragment {
		if len(b) <= size {
			return append(f, fragment(t, frame.LastFragment, b))
		}
		f = append(f, fragment(t, typ, b[:size]))
		b = b[size:]
	}
}

// memory is how many bytes a Reassembly has.
func memory(r *Reassembly) int {
	if r.in == nil {
		return 0
	}
	return room(r.in)
}

func TestReassembly(t *testing.T) {
	for _, n := range []int{1500, 2800, 66000 + frame.BasicLen} {
		for _, size := range []int{24, 100, 1420, 1460} {
			var r Reassembly
			msg := whole(n)
			fs := cut(t, msg, size)
			for i, f := range fs {
				m, done, err := r.Add(f)
				if err != nil || done != (i == len(fs)-1) {
					t.Fatalf("%d bytes in pieces of %d, piece %d: got %v %v", n, size, i, done, err)
				}
				if c := memory(&r); c > n {
					t.Fatalf("%d bytes in pieces of %d: %d bytes of memory", n, size, c)
				}
				if done && !bytes.Equal(m.Message.Bytes(), msg) {
					t.Errorf("%d bytes in pieces of %d: another message", n, size)
				}
			}
			if r.in != nil {
				t.Error("memory kept")
			}
		}
	}
}

// The largest message there is: 66060 bytes.
func TestReassemblyOfLargest(t *testing.T) {
	msg := whole(frame.MaxMessage)
	// Only a header of 60 bytes makes a message of this size legal.
	msg[0], msg[1] = 2<<5|byte(frame.UserGroup)<<1|byte(60/4>>3), byte(60/4&7)<<5|msg[1]&0x1f
	var r Reassembly
	for _, f := range cut(t, msg, 1460) {
		m, done, err := r.Add(f)
		if err != nil {
			t.Fatal(err)
		}
		if done && len(m.Message.Bytes()) != frame.MaxMessage {
			t.Errorf("got %v bytes, want %v", len(m.Message.Bytes()), frame.MaxMessage)
		}
	}
}

func TestReassemblyErrors(t *testing.T) {
	msg := whole(3000)
	first := func(b []byte) frame.Fragment { return fragment(t, frame.FirstFragment, b) }
	middle := func(b []byte) frame.Fragment { return fragment(t, frame.MiddleFragment, b) }
	last := func(b []byte) frame.Fragment { return fragment(t, frame.LastFragment, b) }
	size := func(n uint32) []byte {
		b := bytes.Clone(msg)
		b[1], b[2], b[3] = b[1]&^1|byte(n>>16), byte(n>>8), byte(n)
		return b
	}
	user := func(u frame.User) []byte {
		b := bytes.Clone(msg)
		b[0] = 2<<5 | byte(u)<<1 | b[0]&1
		return b
	}
	for _, c := range []struct {
		name string
		in   []frame.Fragment // all but the last are taken
		bad  bool
	}{
		{"whole", []frame.Fragment{first(msg[:1400]), middle(msg[1400:2800]), last(msg[2800:])}, false},
		{"middle without first", []frame.Fragment{middle(msg)}, true},
		{"last without first", []frame.Fragment{last(msg)}, true},
		{"second first", []frame.Fragment{first(msg[:1400]), first(msg[:1400])}, true},
		{"first behind last", []frame.Fragment{first(msg[:1400]), last(msg[1400:])}, false},
		{"first without a header", []frame.Fragment{first(msg[:23])}, true},
		{"first of 24 bytes", []frame.Fragment{first(msg[:24]), last(msg[24:])}, false},
		{"first is too long", []frame.Fragment{first(size(1000))}, true},
		{"size 0", []frame.Fragment{first(size(0)[:24])}, true},
		{"size 23", []frame.Fragment{first(size(23)[:24])}, true},
		{"claims more than a message may have", []frame.Fragment{first(size(frame.MaxMessage + 1))}, true},
		{"claims 131071", []frame.Fragment{first(size(0x1ffff)[:24])}, true},
		{"middle goes beyond", []frame.Fragment{first(msg[:1400]), middle(append(bytes.Clone(msg[1400:]), 0))}, true},
		{"middle fills exactly, last is empty", []frame.Fragment{first(msg[:1400]), middle(msg[1400:]), last(nil)}, false},
		{"last is padded", []frame.Fragment{first(msg[:1400]), last(append(bytes.Clone(msg[1400:]), make([]byte, 40)...))}, false},
		{"last is short", []frame.Fragment{first(msg[:1400]), last(msg[1400:2999])}, true},
		{"bundle inside", []frame.Fragment{first(user(frame.UserBundler)[:1400]), last(msg[1400:])}, true},
		{"link message inside", []frame.Fragment{first(user(frame.UserLink)[:1400]), last(msg[1400:])}, true},
		{"tunnel inside", []frame.Fragment{first(user(frame.UserTunnel)[:1400]), last(msg[1400:])}, true},
		{"fragment inside", []frame.Fragment{first(user(frame.UserFragment)[:1400]), last(msg[1400:])}, true},
		{"discovery inside", []frame.Fragment{first(user(frame.UserDiscovery)[:1400]), last(msg[1400:])}, true},
		{"broadcast opening inside", []frame.Fragment{first(user(frame.UserBroadcast)[:1400]), last(msg[1400:])}, true},
		{"crypto inside", []frame.Fragment{first(user(frame.UserCrypto)[:1400]), last(msg[1400:])}, true},
		{"user 4 inside", []frame.Fragment{first(user(4)[:1400]), last(msg[1400:])}, true},
		{"user 15 inside", []frame.Fragment{first(user(15)[:1400]), last(msg[1400:])}, true},
		{"connection manager inside", []frame.Fragment{first(user(frame.UserConn)[:1400]), last(msg[1400:])}, false},
		{"names inside", []frame.Fragment{first(user(frame.UserName)[:1400]), last(msg[1400:])}, false},
		{"group inside", []frame.Fragment{first(user(frame.UserGroup)[:1400]), last(msg[1400:])}, false},
	} {
		var r Reassembly
		for i, f := range c.in {
			m, done, err := r.Add(f)
			at := i == len(c.in)-1
			switch {
			case !at && (err != nil || done), at && c.bad && err != ErrFragment, at && !c.bad && (err != nil || !done):
				t.Errorf("%s, piece %d: got %v %v", c.name, i, done, err)
			case done && len(m.Message.Bytes()) != 3000:
				t.Errorf("%s: got %d bytes, want 3000", c.name, len(m.Message.Bytes()))
			}
		}
		if r.in != nil {
			t.Errorf("%s: memory kept", c.name)
		}
		// Empty again: the next message is joined.
		if _, _, err := r.Add(first(msg[:1400])); err != nil {
			t.Errorf("%s: then: %v", c.name, err)
		}
	}
}

// However little comes with each piece, memory follows what has come, not what
// was claimed.
func TestReassemblyDoesNotTrustTheClaim(t *testing.T) {
	var r Reassembly
	r.Add(fragment(t, frame.FirstFragment, whole(66000)[:24]))
	if got := memory(&r); got > 4*24 {
		t.Errorf("got %v bytes for 24 received, want at most %v", got, 4*24)
	}
}

// Message after message is joined in the same chunk, without garbage; while all chunks
// are kept it is joined in memory of its own, and whoever has it may keep that, too.
func TestReassemblyUsesChunksAgain(t *testing.T) {
	arena := netdev.NewArena(netdev.ArenaConfig{Small: 64, Poison: true})
	pool := Pool{Limit: DefaultPool, Wholes: netdev.NewMessagePool(arena)}
	var r Reassembly
	r.SetPool(&pool)
	msg := whole(9000)
	fs := cut(t, msg, 1460)
	join := func() Packet {
		for _, f := range fs {
			switch p, done, err := r.Add(f); {
			case err != nil:
				t.Fatal(err)
			case done:
				return p
			}
		}
		t.Fatal("no message")
		return Packet{}
	}
	join().Recycle()
	if n := testing.AllocsPerRun(100, func() { join().Recycle() }); n != 0 {
		t.Errorf("%v allocations a message", n)
	}
	var kept []Packet
	for range 100 {
		p := join()
		if !p.Buffer().MayKeep() {
			t.Fatalf("message %d must not be kept", len(kept))
		}
		kept = append(kept, p)
	}
	for i, p := range kept {
		if !bytes.Equal(p.Message.Bytes(), msg) {
			t.Errorf("message %d is another", i)
		}
		p.Release()
	}
	if pool.Used() != 0 {
		t.Errorf("%d bytes are counted, want none", pool.Used())
	}
}
