// SPDX-License-Identifier: Apache-2.0

package seal_test

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
	"github.com/utipc/utipc/seal"
)

func seedCaptures(f *testing.F, add func([]byte)) {
	f.Helper()
	for _, name := range []string{"24-crypto-cluster-key", "25-crypto-master-key"} {
		frames, err := layers.ReadFile("../test/testdata/captures/" + name + ".pcap")
		if err != nil {
			f.Fatal(err)
		}
		for i, fr := range frames {
			if _, b, err := layers.Unwrap(fr.Data); err == nil && i < 70 {
				add(b)
			}
		}
	}
}

// FuzzOpen gives a ring any bytes: it never panics, and what opens is what was
// sealed, so that sealing it again with the same header gives the same bytes.
//
// Proves: seal.nonce
func FuzzOpen(f *testing.F) {
	seedCaptures(f, func(b []byte) { f.Add(b, true) })
	key := parseKey(f, frame.ClusterKey, captureKey)
	f.Fuzz(func(t *testing.T, b []byte, known bool) {
		const own, other = 0x01001002, 0x01001001
		r := seal.NewRing(0, true)
		r.SetSelf(own, frame.AddrIdentity(own))
		if err := r.SetMaster(0, key, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := r.SetKey(0, key, 0); err != nil {
			t.Fatal(err)
		}
		var p *seal.Peer
		if known {
			p = seal.NewPeer(other)
		}
		sealed := bytes.Clone(b)
		plain, o, err := r.Open(time.Second, sealed, p)
		c := r.Counters()
		if n := c.Opened + c.Malformed + c.NoKey + c.BadTag + c.Replayed; n != 1 || (err == nil) != (c.Opened == 1) {
			t.Fatalf("got %v, counted %+v", err, c)
		}
		if err != nil {
			if o.Needs || o.Activated {
				t.Fatalf("got %+v with %v", o, err)
			}
			return
		}
		e, err := frame.ParseEncrypted(b)
		if err != nil {
			t.Fatal(err)
		}
		h := e.Fields()
		s, err := seal.NewSender(key, h.Seq)
		if err != nil {
			t.Fatal(err)
		}
		if h.Seq == 0 || h.Seq >= 1<<62 {
			return // a number no sender of ours begins with
		}
		again := make([]byte, len(b)+8)
		n, err := s.Seal(again, plain, &seal.Header{TX: h.TX, RX: h.RX, Destined: h.Destined, Master: h.Master, NoKey: h.NoKey, Identity: h.Identity})
		if err != nil || n != len(b) || !bytes.Equal(again[n-frame.TagLen:n], b[n-frame.TagLen:]) && canonical(b, plain) {
			t.Fatalf("opened %x\nfrom   %x\nsealed %x, %v", plain, b, again[:n], err)
		}
	})
}

// canonical reports whether the header is one that our sender makes: what repeats
// the inside does, what is reserved is 0.
func canonical(b, plain []byte) bool {
	user, state := frame.User(plain[0]>>1&0xf), plain[4]>>5 == 0
	want, keepalive := frame.User(0), byte(0)
	switch {
	case user == frame.UserDiscovery:
		want = user
	case user == frame.UserLink && state:
		want, keepalive = user, plain[1]&8
	}
	return frame.User(b[0]>>1&0xf) == want && b[1]&8 == keepalive && b[1]&1 == 0 && b[2] == 0 && b[3] == 0 &&
		(b[0]&1 != 0 || b[1]&0x32 == 0)
}

// FuzzKeyMessage gives a peer key messages of any content, sealed as they should be:
// only a whole one with a key of a right length is taken, and then it serves.
//
// Proves: seal.rules
func FuzzKeyMessage(f *testing.F) {
	k := frame.KeyFields{Generation: 7, Mode: frame.NodeKey}
	for _, n := range []int{0, 19, 20, 21, 28, 36, 40} {
		f.Add(k.Append(nil, bytes.Repeat([]byte{1}, n)))
	}
	lies := k.Append(nil, bytes.Repeat([]byte{1}, 20))
	binary.BigEndian.PutUint32(lies[frame.IntLen+32:], 1<<31)
	f.Add(lies)
	f.Add(k.Append(nil, make([]byte, 20)))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, _, ofA, ofB := pair(t, frame.ClusterKey)
		m, err := frame.Parse(b)
		if err != nil {
			return
		}
		msg, err := frame.ParseKey(m)
		if err != nil {
			return
		}
		if n := len(msg.Key()); n != 20 && n != 28 && n != 36 || len(m.Data()) != 36+n {
			t.Fatalf("%d bytes of key in %d of data were accepted", n, len(m.Data()))
		}
		err = a.HandleKey(0, ofB, msg)
		key, wrong := seal.NewKey(msg.Mode(), msg.Key())
		if zero := len(bytes.Trim(msg.Key(), "\x00")) == 0; (err == nil) != (wrong == nil && !zero) {
			t.Fatalf("got %v, mode %d, %d bytes", err, msg.Mode(), len(msg.Key()))
		}
		if err != nil {
			return
		}
		s, err := seal.NewSender(key, 1)
		if err != nil {
			t.Fatal(err)
		}
		plain := message(64, ofB.Addr(), ofA.Addr())
		sealed := make([]byte, 200)
		n, err := s.Seal(sealed, plain, &seal.Header{TX: 2, Destined: true, Dest: ofA.Addr()})
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := a.Open(1, sealed[:n], ofB); err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("the key does not serve: %x, %v", got, err)
		}
		if err := a.HandleKey(2, ofB, msg); err != seal.ErrDouble {
			t.Fatalf("again: got %v, want ErrDouble", err)
		}
	})
}

// FuzzRing calls the rules of two nodes in any order, with packets, keys and time as
// the bytes say; what always holds is checked after each call.
//
// Proves: seal.nonce
func FuzzRing(f *testing.F) {
	f.Add([]byte("set, send, time, key, rekey, lost, flush"))
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
	f.Add(bytes.Repeat([]byte{4, 1, 20, 36, 8, 9, 3, 2}, 30))
	f.Fuzz(func(t *testing.T, ops []byte) {
		type side struct {
			ring *seal.Ring
			peer *seal.Peer
		}
		const addr = 0x01001001
		var s [2]side
		for i := range s {
			s[i] = side{seal.NewRing(frame.Seq(i), true), seal.NewPeer(frame.NodeAddr(addr + 1 - i))}
			s[i].ring.SetSelf(frame.NodeAddr(addr+i), frame.AddrIdentity(frame.NodeAddr(addr+i)))
		}
		now, start := time.Duration(0), uint64(0)
		keys := [3]*seal.Key{parseKey(t, frame.ClusterKey, benchKey), parseKey(t, frame.ClusterKey, captureKey), parseKey(t, frame.NodeKey, "another_key_of_16_salt"[:20])}
		nonces := map[string]bool{}
		send := func(i int, kind byte, broadcast bool) {
			from, to := s[i], s[1-i]
			plain := message(64, to.peer.Addr(), from.peer.Addr())
			switch kind % 3 {
			case 1:
				plain[0], plain[4] = 2<<5|byte(frame.UserLink)<<1|plain[0]&1, kind>>2%3<<5
			case 2:
				if k, gen, ok := from.ring.Distribution(); ok {
					kf := frame.KeyFields{Generation: gen, Mode: k.Mode(), Orig: to.peer.Addr()}
					kf.Prev = to.peer.Addr()
					plain = kf.Append(nil, k.Append(nil))
				}
			}
			p := from.peer
			if broadcast {
				p = nil
			}
			c := from.ring.Choose(now, p, seal.KindOf(plain))
			if c.Len() > 3 || (c.Len() == 0) == from.ring.Working() {
				t.Fatalf("%d packets, keys %v", c.Len(), from.ring.Working())
			}
			for _, slot := range c.Slots() {
				b := make([]byte, seal.SealedSize(plain))
				if _, err := from.ring.Seal(b, plain, p, slot); err != nil {
					t.Fatal(err)
				}
				ciph, err := seal.NewCipher(from.ring.Material(slot))
				if err != nil {
					t.Fatal(err)
				}
				dest := frame.NodeAddr(0)
				if p != nil {
					dest = p.Addr()
				}
				n := ciph.Nonce(b, dest)
				id := string(from.ring.Material(slot).Append(nil)) + string(n[:])
				if nonces[id] {
					t.Fatal("a nonce comes twice")
				}
				nonces[id] = true
				got, _, err := to.ring.Open(now, b, to.peer)
				if err != nil {
					continue
				}
				if !bytes.Equal(got[:len(plain)], plain) {
					t.Fatalf("got %x, want %x", got, plain)
				}
				if m, err := frame.Parse(got); err == nil {
					if k, err := frame.ParseKey(m); err == nil {
						to.ring.HandleKey(now, to.peer, k)
					}
				}
			}
		}
		for _, op := range ops[:min(len(ops), 300)] {
			i := int(op >> 7)
			start += 1 << 40 // chance never draws what is near
			switch arg := op >> 3 & 0xf; op & 7 {
			case 0:
				s[i].ring.SetKey(now, keys[arg%3], start)
			case 1:
				s[i].ring.SetMaster(now, keys[arg%2], start)
			case 2:
				if n := s[i].ring.RekeyLen(); n != 0 {
					s[i].ring.Rekey(now, bytes.Repeat([]byte{byte(len(nonces)), arg | 1}, n/2), start)
				}
			case 3, 4:
				send(i, arg, false)
			case 5:
				send(i, arg, true)
			case 6:
				now += time.Duration(arg+1) * time.Duration(arg+1) * 100 * time.Millisecond
				for _, x := range s {
					x.ring.HandleTimeout(now)
					x.peer.HandleTimeout(now)
					if d := x.ring.Deadline(); d <= now {
						t.Fatalf("deadline %v at %v", d, now)
					}
				}
			case 7:
				switch arg {
				case 0:
					s[i].ring.Flush(now)
				case 1:
					s[i].ring.Lost(now, s[i].peer)
				case 2:
					s[i].ring.Forget(now, s[i].peer)
				default:
					s[i].peer.Configure(keys[arg%3])
				}
			}
			for _, x := range s {
				x.ring.Check(t, x.peer)
			}
		}
	})
}
