// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/seal"
)

// A sealedPair is two nodes in contact with keys, the second of which is under the
// test's thumb; what it sends is kept.
type sealedPair struct {
	*bed
	from [][]byte // frames of y
}

// newSealedPair makes contact with a cluster key, or with a master key and keys that the
// nodes made themselves.
func newSealedPair(t testing.TB, session bool, change ...func(*Config)) *sealedPair {
	t.Helper()
	p := &sealedPair{bed: newKeyedBed(t, 0, Key{Key: testKey(t, frame.ClusterKey, 3), Master: session}, change...)}
	p.record(&p.from, 1)
	p.until(5*time.Second, func() bool { return p.up() })
	if session {
		for _, n := range p.nodes {
			if err := n.Rekey(p.now); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.pass(20 * time.Second)
	if !p.up() {
		t.Fatalf("no contact: %v", p.x.Counters().Drops)
	}
	p.forget()
	return p
}

func (p *sealedPair) up() bool {
	return len(p.x.nodes) > 0 && len(p.y.nodes) > 0 && p.x.nodes[0].contact == UpUp && p.y.nodes[0].contact == UpUp
}

// forget forgets what was sent and counted.
func (p *sealedPair) forget() {
	p.from, p.x.events = nil, nil
	p.x.count.Drops = Drops{}
}

// raw gives x a frame.
func (p *sealedPair) raw(b []byte) { p.inject(p.x, b) }

// say lets y send a message on its link, numbered and sealed as any.
func (p *sealedPair) say(msg []byte) {
	p.t.Helper()
	l := p.y.nodes[0].slots[0]
	b := p.y.message(len(msg), netdev.Control)
	copy(b.Bytes()[frame.EthernetLen:], msg)
	if err := p.y.transmit(p.now, l, b, frame.System); err != nil {
		p.t.Fatal(err)
	}
	p.y.after(p.now, l)
	p.settle()
}

// drops returns the reasons counted since the last call.
func (p *sealedPair) drops() string {
	s := p.x.count.Drops.String()
	p.x.count.Drops = Drops{}
	return s
}

// done checks that contact never ended and every chunk came back.
func (p *sealedPair) done() {
	p.t.Helper()
	p.unbroken()
	if !p.up() {
		p.t.Error("contact was lost")
	}
}

// plainKey is a key message of y with a key that is all sevens.
func (p *sealedPair) plainKey(change func(msg []byte)) []byte {
	f := frame.KeyFields{Common: frame.Common{Prev: p.y.addr}, Generation: 99, Mode: frame.NodeKey, Orig: p.y.addr, Dest: p.x.addr}
	msg := f.Append(nil, bytes.Repeat([]byte{7}, 20))
	if change != nil {
		change(msg)
	}
	return msg
}

// A node that has the key sends key messages that nobody builds: lengths, names, modes.
//
// Proves: hostile.docs
func TestHostileKeyMessages(t *testing.T) {
	const name, length, key = frame.IntLen, frame.IntLen + 32, frame.KeyMessageLen
	setLen := func(n uint32) func([]byte) { return func(b []byte) { binary.BigEndian.PutUint32(b[length:], n) } }
	p := newSealedPair(t, false)
	for _, c := range []struct {
		what   string
		change func(msg []byte)
		cut    int // bytes left out at the end; the size follows
		want   string
	}{
		{"length 0", setLen(0), 0, "malformed=1"},
		{"length 19", setLen(19), 0, "malformed=1"},
		{"length 28, of 20", setLen(28), 0, "malformed=1"},
		{"length 36, of 20", setLen(36), 0, "malformed=1"},
		{"length 2^31", setLen(1 << 31), 0, "malformed=1"},
		{"length 2^32-1", setLen(1<<32 - 1), 0, "malformed=1"},
		{"length 2^32-16, which wraps", setLen(1<<32 - 16), 0, "malformed=1"},
		{"no key at all", setLen(20), 20, "malformed=1"},
		{"ends within the length", nil, 22, "malformed=1"},
		{"ends within the name", nil, 50, "malformed=1"},
		{"another algorithm", func(b []byte) { copy(b[name:], "gcm(des)") }, 0, "malformed=1"},
		{"name not terminated", func(b []byte) { copy(b[name:], bytes.Repeat([]byte{'a'}, 32)) }, 0, "malformed=1"},
		{"the right name, not terminated", func(b []byte) { copy(b[name:], bytes.Repeat([]byte("gcm(aes)"), 4)) }, 0, "malformed=1"},
		{"mode 0", func(b []byte) { b[19] = 0 }, 0, "a key that is known, or not wanted=1"},
		{"mode 3", func(b []byte) { b[19] = 3 }, 0, "a key that is known, or not wanted=1"},
		{"another type", func(b []byte) { b[4] |= 1 << 5 }, 0, "unknown user or type=1"},
		{"a key of zeros", func(b []byte) { clear(b[key:]) }, 0, "a key that is known, or not wanted=1"},
	} {
		msg := p.plainKey(c.change)
		msg = msg[:len(msg)-c.cut]
		msg[1], msg[2], msg[3] = msg[1]&^1, byte(len(msg)>>8), byte(len(msg))
		p.say(msg)
		if got := p.drops(); got != c.want {
			t.Errorf("%s: dropped %q, want %q", c.what, got, c.want)
		}
	}
	if n := p.x.Encryption().Sealing.KeysTaken; n != 0 {
		t.Errorf("%d keys taken", n)
	}
	p.say(p.plainKey(nil)) // a sound one
	if got, n := p.drops(), p.x.Encryption().Sealing.KeysTaken; got != "" || n != 1 {
		t.Errorf("a sound one: dropped %q, %d taken", got, n)
	}
	p.done()
}

// A key message that came plain is dropped, also in a bundle or a tunnel, whether there
// are keys, or none, and whatever else may come plain.
//
// Proves: hostile.docs
func TestHostilePlainKey(t *testing.T) {
	bundled := func(p *sealedPair) []byte {
		key := p.plainKey(nil)
		f := frame.BundleFields{Common: frame.Common{Prev: p.y.addr}, Orig: p.y.addr, Dest: p.x.addr}
		return f.Append(nil, key)
	}
	tunnelled := func(p *sealedPair) []byte {
		f := frame.TunnelFields{Common: frame.Common{Prev: p.y.addr}, Type: frame.TunnelFailover, Count: 1, Orig: p.y.addr, Dest: p.x.addr}
		return f.Append(nil, p.plainKey(nil))
	}
	for _, c := range []struct {
		what   string
		change func(*Config)
		want   string
	}{
		{"strict", nil, "plain, though there are keys=1"},
		{"migration", func(c *Config) { c.Migration = true }, "a key that came plain=1"},
	} {
		p := newSealedPair(t, false, func(k *Config) {
			if c.change != nil {
				c.change(k)
			}
		})
		for name, msg := range map[string][]byte{"alone": p.plainKey(nil), "bundle": bundled(p), "tunnel": tunnelled(p)} {
			l := p.x.nodes[0].slots[0]
			frame.StampSeq(msg, l.Expected())
			p.raw(ether(p.x.macs[0], p.y.macs[0], msg))
			if got := p.drops(); got != c.want {
				t.Errorf("%s, %s: dropped %q, want %q", c.what, name, got, c.want)
			}
		}
		if n := p.x.Encryption().Sealing.KeysTaken; n != 0 {
			t.Errorf("%s: %d keys taken", c.what, n)
		}
		p.done()
	}
}

// With keys nothing that comes plain goes on, by default: discovery, a RESET, data. It is
// told once a second.
//
// Proves: hostile.docs
func TestHostilePlainFrames(t *testing.T) {
	p := newSealedPair(t, false)
	disc := frame.DiscoveryFields{Type: frame.Request, Capabilities: popCaps, Prev: 0x1001009, NetID: frame.DefaultNetID, MAC: frame.MAC{2, 9}, Identity: frame.Identity{9}}
	reset := frame.ResetFields{Common: frame.Common{Prev: p.y.addr}, LinkInfo: frame.LinkInfo{Session: 7777, Orig: p.y.addr, Dest: p.x.addr, PeerStopping: true}, MaxPacket: 1500}
	for range 1000 {
		p.raw(ether(frame.BroadcastMAC, frame.MAC{2, 9}, disc.Append(nil)))
		p.raw(ether(p.x.macs[0], p.y.macs[0], reset.Append(nil)))
	}
	p.settle()
	if got := p.drops(); got != "plain, though there are keys=2000" {
		t.Errorf("dropped %q", got)
	}
	if len(p.x.nodes) != 1 || p.x.told(PlainDropped) != 1 {
		t.Errorf("%d nodes known, told %d times", len(p.x.nodes), p.x.told(PlainDropped))
	}
	p.done()
}

// What was sealed by the peer comes again, cut at every length, or with any bit of its
// header changed: none of it has an effect, and the link stands.
//
// Proves: hostile.docs
func TestHostileSealedFrames(t *testing.T) {
	for _, session := range []bool{false, true} {
		p := newSealedPair(t, session)
		s := p.stream(p.y, p.x, frame.Service{Type: 18888, Instance: 1})
		s.run(p.now+2*time.Second, 100*time.Millisecond, nil)
		s.finish()
		seen := slices.Clone(p.from)
		if len(seen) < 50 {
			t.Fatalf("only %d frames", len(seen))
		}
		p.forget()
		before := p.x.Encryption().Keys.Opened
		for _, f := range seen[:50] {
			for n := frame.EthernetLen; n < len(f); n += 1 + n/50 {
				p.raw(f[:n])
			}
			for bit := range 8 * frame.SealedLen {
				g := bytes.Clone(f)
				g[frame.EthernetLen+bit/8] ^= 1 << (bit % 8)
				p.raw(g)
			}
			g := bytes.Clone(f)
			g[len(g)-1] ^= 1
			p.raw(g)
			p.raw(append(bytes.Clone(f), 0, 0, 0, 0)) // padded
		}
		if got := p.x.Encryption().Keys.Opened; got != before {
			t.Errorf("session keys %v: %d changed frames were opened", session, got-before)
		}
		t.Logf("changed: %s", p.drops())
		for _, f := range seen {
			p.raw(f)
		}
		p.settle()
		got := p.drops()
		if session && (!strings.Contains(got, "sealed, and came before=") || p.x.Encryption().Keys.Opened != before) {
			t.Errorf("replayed under keys of their own: dropped %q, %d opened", got, p.x.Encryption().Keys.Opened-before)
		}
		t.Logf("replayed: %s", got)
		s.run(p.now+2*time.Second, 100*time.Millisecond, nil)
		s.finish()
		p.done()
	}
}

// A flood of frames sealed with another key costs no memory and no contact, is told once a
// second, and makes no node known.
//
// Proves: hostile.docs
func TestHostileWrongKey(t *testing.T) {
	p := newSealedPair(t, false)
	other, err := seal.NewSender(testKey(t, frame.ClusterKey, 77), 1)
	if err != nil {
		t.Fatal(err)
	}
	disc := frame.DiscoveryFields{Type: frame.Request, Capabilities: popCaps, NetID: frame.DefaultNetID, MAC: frame.MAC{2, 9}}
	state := frame.StateFields{Common: frame.Common{Prev: p.y.addr}, LinkInfo: frame.LinkInfo{Orig: p.y.addr, Dest: p.x.addr}}
	var into [512]byte
	const flood = 5000
	for i := range flood {
		disc.Prev, disc.Identity = frame.NodeAddr(0x2000000+i), frame.Identity{byte(i), byte(i >> 8)}
		for k, msg := range [][]byte{disc.Append(nil), state.Append(nil, nil)} {
			h := seal.Header{TX: uint8(1 + i%3), Identity: disc.Identity, Destined: k == 1, Dest: p.x.addr}
			n, err := other.Seal(into[:], msg, &h)
			if err != nil {
				t.Fatal(err)
			}
			p.raw(ether(p.x.macs[0], frame.MAC{2, 9}, into[:n]))
		}
	}
	d := p.x.Counters().Drops
	if d[DropNoKey]+d[DropTag] != 2*flood || len(p.x.nodes) != 1 {
		t.Errorf("dropped %v, %d nodes known", d, len(p.x.nodes))
	}
	p.settle()
	if n := p.x.told(NotOpened); n != 1 {
		t.Errorf("told %d times", n)
	}
	p.done()
}

// A kernel that says over and over that it has no key of ours is sent it twice in three
// seconds at most. Of a node that has to prove itself nobody else can say so.
//
// Proves: hostile.docs
func TestHostileNoKeyStorm(t *testing.T) {
	for _, kernel := range []bool{true, false} {
		p := newSealedPair(t, true)
		if y := p.x.byAddr[p.y.addr]; kernel {
			y.crypt.Excuse()
			y.version = 0
		}
		sent := p.x.Encryption().Sealing.KeysSent
		start := p.now
		for p.now < start+10*time.Second {
			h := seal.Header{TX: 0, RX: 1, Destined: true, NoKey: true, Master: true, Dest: p.x.addr}
			msg := (&frame.StateFields{Common: frame.Common{Prev: p.y.addr}, LinkInfo: frame.LinkInfo{Orig: p.y.addr, Dest: p.x.addr}}).Append(nil, nil)
			for range 100 {
				var into [256]byte
				storm, err := seal.NewSender(testKey(t, frame.ClusterKey, 3), p.y.cfg.Chance.Nonce())
				if err != nil {
					t.Fatal(err)
				}
				n, err := storm.Seal(into[:], msg, &h)
				if err != nil {
					t.Fatal(err)
				}
				p.raw(ether(p.x.macs[0], p.y.macs[0], into[:n]))
			}
			p.pass(100 * time.Millisecond)
		}
		switch n := p.x.Encryption().Sealing.KeysSent - sent; {
		case kernel && (n == 0 || n > 20):
			t.Errorf("%d key messages in 10 s, want 1 to 20", n)
		case !kernel && n != 0:
			t.Errorf("%d key messages, asked for in another's name", n)
		}
		p.done()
	}
}

// What is sealed must be what its header says: another sender's address, discovery in a
// header of 16 bytes, a message in one of 28.
//
// Proves: hostile.docs
func TestHostileInsideOfAnother(t *testing.T) {
	p := newSealedPair(t, false)
	s, err := seal.NewSender(testKey(t, frame.ClusterKey, 3), 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	state := frame.StateFields{Common: frame.Common{Prev: p.y.addr}, LinkInfo: frame.LinkInfo{Orig: p.y.addr, Dest: p.x.addr}}
	msg := state.Append(nil, nil)
	for _, c := range []struct {
		what   string
		change func(sealed []byte)
	}{
		{"another source", func(b []byte) { b[15] ^= 1 }},
		{"as discovery", func(b []byte) { b[0] = b[0]&^0x1e | byte(frame.UserDiscovery)<<1 }},
	} {
		var into [256]byte
		n, err := s.Seal(into[:], msg, &seal.Header{TX: 1, Destined: true, Dest: p.x.addr})
		if err != nil {
			t.Fatal(err)
		}
		c.change(into[:n])
		before := p.x.Encryption().Keys.Opened
		p.raw(ether(p.x.macs[0], p.y.macs[0], into[:n]))
		if got := p.x.Encryption().Keys.Opened; got != before || p.drops() == "" {
			t.Errorf("%s: opened", c.what)
		}
	}
	p.done()
}
