// SPDX-License-Identifier: Apache-2.0

package seal

import (
	"bytes"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// TestOpenHostile changes a good packet: nothing but the packet itself opens.
//
// Proves: seal.tampered
func TestOpenHostile(t *testing.T) {
	fresh := func() *desk {
		d := newDesk(t)
		if _, err := d.r.SetKey(0, d.key("c0"), 0); err != nil {
			t.Fatal(err)
		}
		return d
	}
	sealed := func(key string, plain []byte, h Header) []byte {
		b := make([]byte, 300)
		h.Dest = desk1
		n, err := newDesk(t).keys[key].Seal(b, plain, &h)
		if err != nil {
			t.Fatal(err)
		}
		return b[:n:n]
	}
	open := func(b []byte) (*desk, error) {
		d := fresh()
		_, _, err := d.r.Open(0, bytes.Clone(b), d.p)
		if err != nil && (d.p.reported != 0 || d.p.master || d.r.grace != 0 || d.r.legacy != 0) {
			t.Errorf("a packet that did not open was heeded")
		}
		return d, err
	}
	good := sealed("c0", packet(), Header{TX: 1, RX: 2, Destined: true, Master: true, NoKey: true})
	if _, err := open(good); err != nil {
		t.Fatal(err)
	}
	t.Run("cut", func(t *testing.T) {
		for n := range good {
			if d, err := open(good[:n]); err == nil {
				t.Errorf("cut to %d: opened", n)
			} else if c := d.r.Counters(); c.Malformed+c.NoKey+c.BadTag != 1 || (err == ErrMalformed) != (n <= frame.SealedLen+frame.TagLen) {
				t.Errorf("cut to %d: got %v, %+v", n, err, c)
			}
		}
		if _, err := open(append(bytes.Clone(good), 0)); err == nil {
			t.Error("padded: opened")
		}
	})
	t.Run("each bit", func(t *testing.T) {
		for i := range 8 * len(good) {
			b := bytes.Clone(good)
			b[i/8] ^= 0x80 >> (i % 8)
			if _, err := open(b); err == nil {
				t.Errorf("bit %d of byte %d: opened", i%8, i/8)
			}
		}
	})
	t.Run("another's address in the header", func(t *testing.T) {
		// A node with the cluster's key says it is another.
		s, err := NewSender(fresh().key("c0"), 1)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, len(good))
		if _, err := s.Seal(b, packet(), &Header{TX: 1, Destined: true}); err != nil {
			t.Fatal(err)
		}
		e, _ := frame.ParseEncrypted(b)
		if _, err := s.Open(e, desk1); err != nil {
			t.Fatal(err)
		}
		b[15]++ // the inside keeps the sender's own
		s.setNonce(b, 0)
		s.aead.Seal(b[16:16], s.nonce[:], b[16:len(b)-16], b[:16])
		if d, err := open(b); err != ErrMalformed || d.r.Counters().Malformed != 1 {
			t.Errorf("got %v, want ErrMalformed", err)
		}
	})
	t.Run("inside of another kind than the header", func(t *testing.T) {
		disc := bytes.Repeat([]byte{0}, frame.DiscLen)
		disc[0] = 2<<5 | byte(frame.UserDiscovery)<<1
		d := frame.AddrIdentity(desk2)
		b := sealed("c0", disc, Header{TX: 1, Identity: d})
		if _, err := open(b); err != nil {
			t.Fatalf("discovery: %v", err)
		}
		s := newDesk(t).keys["c0"]
		// Discovery under a header for all else, and the other way about.
		c := make([]byte, 16+len(disc)+16)
		if _, err := s.Seal(c, append([]byte{2 << 5}, disc[1:]...), &Header{TX: 1}); err != nil {
			t.Fatal(err)
		}
		s.setNonce(c, 0)
		s.aead.Seal(c[16:16], s.nonce[:], disc, c[:16])
		if _, err := open(c); err != ErrMalformed {
			t.Errorf("discovery inside alone: got %v, want ErrMalformed", err)
		}
		s.setNonce(b, 0)
		plain := append([]byte{2 << 5}, disc[1:]...)
		copy(plain[12:], b[12:16])
		s.aead.Seal(b[28:28], s.nonce[:], plain, b[:28])
		if _, err := open(b); err != ErrMalformed {
			t.Errorf("discovery outside alone: got %v, want ErrMalformed", err)
		}
		short := make([]byte, 16+20+16)
		copy(short, good[:16])
		s.setNonce(short, 0)
		s.aead.Seal(short[16:16], s.nonce[:], packet()[:20], short[:16])
		if _, err := open(short); err != ErrMalformed {
			t.Errorf("20 bytes inside: got %v, want ErrMalformed", err)
		}
	})
	t.Run("strangers", func(t *testing.T) {
		d := fresh()
		for slot := range uint8(4) {
			plain, _, err := d.r.Open(0, sealed("c0", packet(), Header{TX: slot, Destined: true}), nil)
			if slot == 0 && err != ErrNoKey || slot != 0 && (err != nil || !bytes.Equal(plain, packet())) {
				t.Errorf("slot %d: got %x, %v", slot, plain, err)
			}
			if _, _, err := d.r.Open(0, sealed("c1", packet(), Header{TX: slot, Destined: true}), nil); err != ErrNoKey {
				t.Errorf("slot %d, wrong key: got %v, want ErrNoKey", slot, err)
			}
		}
	})
}

// TestReplays sends packets of every sort of key twice.
//
// Proves: seal.tampered
func TestReplays(t *testing.T) {
	const now = time.Second
	for _, c := range []struct {
		key    string
		accept bool
		want   error
	}{{"c0", false, nil}, {"c4", false, nil}, {"n1", false, nil}, {"n0", false, ErrReplay}, {"n0", true, nil}} {
		d := newDesk(t)
		d.r.AcceptReplays(c.accept)
		_, err := d.r.SetKey(0, d.key("c0"), 0)
		if err == nil {
			err = d.r.SetMaster(0, d.key("c4"), 0)
		}
		if err == nil {
			err = d.p.Configure(d.key("n1"))
		}
		if err == nil {
			err = d.handleKey(0, "n0", 5)
		}
		if err != nil {
			t.Fatal(err)
		}
		h := Header{TX: 2, Destined: true, Dest: desk1, RX: 3}
		if c.key == "c4" {
			h.TX = 0
		}
		b := make([]byte, 300)
		n, err := d.keys[c.key].Seal(b, packet(), &h)
		if err != nil {
			t.Fatal(err)
		}
		b = b[:n]
		for i := range 2 {
			if i == 1 {
				d.r.report(now, d.p, 1)
			}
			_, _, err := d.r.Open(now, bytes.Clone(b), d.p)
			if i == 0 && err != nil || i == 1 && err != c.want {
				t.Errorf("%s, time %d: got %v, want %v", c.key, i, err, c.want)
			}
		}
		if heeded := d.p.reported == 3; heeded != (c.want == nil) {
			t.Errorf("%s: repeated packet heeded: %v", c.key, heeded)
		}
		if got := d.r.Counters().Replayed == 1; got != (c.want != nil) {
			t.Errorf("%s: got %+v", c.key, d.r.Counters())
		}
	}
}

// TestSealErrors: what is refused takes no number.
//
// Proves: seal.nonce
func TestSealErrors(t *testing.T) {
	r := NewRing(0, true)
	slot, err := r.SetKey(0, testKey(t, frame.ClusterKey, 1), 77)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 300)
	for _, c := range []struct {
		dst, plain []byte
		slot       uint8
		want       error
	}{
		{b, packet()[:frame.ShortLen-1], slot, ErrMalformed},
		{b, nil, slot, ErrMalformed},
		{b[:SealedSize(packet())-1], packet(), slot, ErrNoRoom},
		{nil, packet(), slot, ErrNoRoom},
		{b, packet(), 0, ErrNoKey},
		{b, packet(), 3, ErrNoKey},
	} {
		if n, err := r.Seal(c.dst, c.plain, nil, c.slot); n != 0 || err != c.want {
			t.Errorf("got %d, %v, want %v", n, err, c.want)
		}
	}
	if s := r.tx[slot]; s.next != 77 || s.count != 0 || r.Counters() != (Counters{NoTX: 2}) {
		t.Errorf("got number %d, %d sealed, %+v, want 77, 0, 2 without key", s.next, s.count, r.Counters())
	}
}

// TestHeader compares the header with what package frame makes of the same fields.
func TestHeader(t *testing.T) {
	r := NewRing(0, true)
	id := frame.AddrIdentity(desk1)
	r.SetSelf(desk1, id)
	const start = 0x0123456789abcdef
	slot, err := r.SetKey(0, testKey(t, frame.ClusterKey, 1), start)
	if err != nil {
		t.Fatal(err)
	}
	user := map[frame.User]frame.User{frame.UserDiscovery: frame.UserDiscovery, frame.UserLink: frame.UserLink}
	seq := uint64(start)
	for i := range 1 << 12 {
		plain := make([]byte, 40+i%5)
		u, typ, keepalive := frame.User(i&0xf), byte(i>>4&7), i>>7&1 != 0
		plain[0], plain[4] = 2<<5|byte(u)<<1, typ<<5
		if keepalive {
			plain[1] = 8
		}
		copy(plain[12:], "addr")
		want := frame.EncryptedFields{TX: slot, Seq: seq, User: user[u], Identity: id, Source: 0x61646472}
		if u == frame.UserLink {
			if want.Keepalive = keepalive && typ == 0; typ != 0 {
				want.User = 0
			}
		}
		var to *Peer
		if i>>8&1 != 0 {
			to = NewPeer(desk2)
			to.active, to.noKey = uint8(i>>9&3), i>>11 != 0
			want.Destined, want.RX, want.NoKey = true, to.active, to.noKey
		}
		b := make([]byte, 100)
		n, err := r.Seal(b, plain, to, slot)
		if err != nil || n != SealedSize(plain) {
			t.Fatalf("got %d, %v, want %d", n, err, SealedSize(plain))
		}
		if h := want.Append(nil, nil); !bytes.Equal(b[:len(h)], h) {
			t.Fatalf("user %v type %d: got %x, want %x", u, typ, b[:len(h)], h)
		}
		seq++
	}
}
