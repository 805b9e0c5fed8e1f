// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// newBundling is a scripted peer whose link bundles and has a window of one packet, which is
// full: what is sent waits until the test calls flow.
func newBundling(t testing.TB, change ...func(*Config)) *scriptedPeer {
	r := newScriptedPeer(t, append([]func(*Config){func(c *Config) { c.Alone, c.MinWindow, c.MaxWindow = false, 1, 1 }}, change...)...)
	r.hear(reset(func(f *frame.ResetFields) { f.MaxPacket = int(r.ownMTU) }))
	r.Up(0)
	r.TakeEvents()
	r.say(frame.Low, "first")
	r.sent()
	return r
}

// said is the message say sends. System messages are errors, as programs cause them.
func said(imp frame.Importance, data string) []byte {
	f := frame.PayloadFields{
		Common: frame.Common{Prev: self}, Importance: imp, Type: frame.DirectMsg,
		OrigPort: 1, DestPort: 2, OrigNode: self, DestNode: peer,
	}
	if imp == frame.System {
		f.Importance, f.Error = frame.Low, frame.NoPort
	}
	return f.Append(nil, []byte(data))
}

// boxed puts a message into a Buffer, between bytes that are not zero.
func (r *scriptedPeer) boxed(msg []byte) *netdev.Buffer {
	b := r.arena.Get(frame.EthernetLen+len(msg), netdev.Data)
	if b == nil {
		r.t.Fatal("no chunk")
	}
	all := b.Extend(b.Tailroom())
	for i := range all {
		all[i] = 0xee
	}
	b.Resize(frame.EthernetLen + len(msg))
	copy(b.Bytes()[frame.EthernetLen:], msg)
	return b
}

// say sends each of the messages.
func (r *scriptedPeer) say(imp frame.Importance, data ...string) {
	r.t.Helper()
	for _, d := range data {
		if err := r.Send(r.now, r.boxed(said(imp, d)), imp); err != nil {
			r.t.Fatalf("%q: %v", d, err)
		}
	}
}

// inside describes a packet by the data in it: "[a b]" is a bundle of two messages.
func (r *scriptedPeer) inside(msg []byte) string {
	r.t.Helper()
	m, err := frame.Parse(msg)
	if err != nil || len(m.Bytes()) != len(msg) {
		r.t.Fatalf("%v in %x", err, msg)
	}
	if m.User() != frame.UserBundler {
		if m.User().IsPayload() {
			return string(m.Data())
		}
		return m.User().String()
	}
	u, err := frame.ParseBundle(m)
	if err != nil {
		r.t.Fatal(err)
	}
	var s []string
	for in, err := range u.Messages() {
		if err != nil {
			r.t.Fatalf("%v in %x", err, msg)
		}
		s = append(s, string(in.Data()))
	}
	if u.Count() != len(s) {
		r.t.Errorf("count: got %d, want %d", u.Count(), len(s))
	}
	return "[" + strings.Join(s, " ") + "]"
}

// sent drains the packets and describes them.
func (r *scriptedPeer) sent() (s []string) {
	r.t.Helper()
	for m := range r.sentMessages {
		if m.User() != frame.UserLink {
			s = append(s, r.inside(m.Bytes()))
		}
	}
	return s
}

// flow acknowledges everything until nothing waits, and returns what was sent.
func (r *scriptedPeer) flow() (s []string) {
	r.t.Helper()
	for s = r.sent(); !r.Idle(); s = append(s, r.sent()...) {
		r.ack(r.sndNxt-1, 0)
	}
	return s
}

// A bundle is built around its first message where that lies, and is what frame
// writes.
//
// Proves: link.bundles
func TestBundleInPlace(t *testing.T) {
	var header [frame.EthernetLen]byte
	frame.PutEthernet(header[:], frame.MAC{2, 0, 0, 0, 0, 2}, frame.MAC{2, 0, 0, 0, 0, 1})
	for imp := frame.Low; imp <= frame.System; imp++ {
		r := newBundling(t, func(c *Config) { c.Header = header })
		r.bc.Open(4)
		free := r.arena.Free()
		b := r.boxed(said(imp, "five5"))
		if err := r.Send(0, b, imp); err != nil {
			t.Fatal(err)
		}
		r.say(imp, "seven77", "six666", "eight888", "end")
		if got, want := r.arena.Free(), free-1; got != want || r.Backlog() != 1 {
			t.Errorf("%v: got %d chunks free, %d packets waiting; want %d, 1", imp, got, r.Backlog(), want)
		}
		var data []byte
		for _, d := range []string{"five5", "seven77", "six666", "eight888", "end"} {
			data = append(data, make([]byte, -len(data)&3)...)
			data = append(data, said(imp, d)...)
		}
		f := frame.BundleFields{Common: frame.Common{Prev: self, Seq: 2, Ack: 0, BcastAck: 4}, Count: 5, Importance: imp, Orig: self, Dest: peer}
		r.ack(1, 0)
		got := r.NextFrame()
		if want := append(header[:], f.Append(nil, data)...); got != b || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%v:\n got %x\nwant %x", imp, got.Bytes(), want)
		}
		if r.SentBundles != 1 || r.SentBundled != 5 || r.SentPackets != 2 {
			t.Errorf("%v: got %d bundles of %d in %d packets, want 1 of 5 in 2", imp, r.SentBundles, r.SentBundled, r.SentPackets)
		}
		got.Release()
		r.done()
	}
}

// What the second, or the third, message may be long, in bytes.
//
// Proves: link.bundles
func TestBundleSizes(t *testing.T) {
	const jumbo = 65000
	for _, c := range []struct {
		name        string
		mtu, margin int
		before      []int // messages that wait, in bytes
		most        int   // that may join them
	}{
		{"limit 1460", 1500, 0, []int{32}, 1460 - 40 - 32},
		{"limit 1460, padding", 1500, 0, []int{33}, 1460 - 40 - 36},
		{"limit 1460, two before", 1500, 0, []int{33, 601}, 1460 - 40 - 36 - 604},
		{"limit 1428", 1500, 32, []int{32}, 1428 - 40 - 32},
		{"first as long as the limit", 1500, 0, []int{1460}, 0},
		{"room for the shortest", 1500, 0, []int{1460 - 40 - 32}, 32},
		{"no room for the shortest", 1500, 0, []int{1460 - 40 - 32 + 1}, 0},
		{"a small chunk ends before its MTU", 9000, 0, []int{100}, netdev.SmallChunk - netdev.Headroom - frame.EthernetLen - 100},
		{"and of a large MTU", jumbo, 0, []int{101, 2000}, netdev.SmallChunk - netdev.Headroom - frame.EthernetLen - 104 - 2000},
		{"a jumbo chunk behind its MTU", 9000, 0, []int{5000}, 9000 - 40 - 40 - 5000},
		{"and of a large MTU", jumbo, 32, []int{5001}, jumbo - 72 - 40 - 5004},
	} {
		for _, by := range []string{"Send", "Room"} {
			for _, n := range []int{c.most, c.most + 1} {
				if n < frame.BasicLen {
					n = frame.BasicLen
				}
				r := newBundling(t, func(k *Config) {
					k.MTU, k.Margin = c.mtu, c.margin
					k.Arena = netdev.NewArena(netdev.ArenaConfig{Small: 256, Jumbo: 16, JumboSize: jumbo + frame.EthernetLen})
				})
				for i, size := range append(c.before, n) {
					msg := said(frame.Low, strings.Repeat(fmt.Sprint(i), size-frame.BasicLen))
					if i < len(c.before) || by == "Send" {
						if err := r.Send(0, r.boxed(msg), frame.Low); err != nil {
							t.Fatal(err)
						}
					} else if room := r.Room(size, frame.Low); room != nil {
						if len(room) != size {
							t.Errorf("%s: got %d bytes, want %d", c.name, len(room), size)
						}
						copy(room, msg)
					} else if n <= c.most {
						t.Errorf("%s: no room for %d bytes", c.name, n)
					}
				}
				want := 1
				if n > c.most && by == "Send" {
					want = 2
				}
				if r.Backlog() != want {
					t.Errorf("%s, %s of %d bytes: got %d packets, want %d", c.name, by, n, r.Backlog(), want)
				}
				r.flow()
				r.done()
			}
		}
	}
}

// Each importance has its own bundle, and its messages keep their order. Packets
// leave in the order of their first message. System joins only the last packet.
//
// Proves: link.bundles
func TestBundlesByImportance(t *testing.T) {
	for _, c := range []struct {
		send string // importance and name of each message
		want string
	}{
		{"0a 0b 0c", "[a b c]"},
		{"0a", "a"},
		{"0a 1b 0c 1d 2e", "[a c] [b d] e"},
		{"3a 2b 1c 0d 0e 1f 2g 3h", "[a h] [b g] [c f] [d e]"},
		{"4a 4b", "[a b]"},
		{"0a 4b 0c 4d 0e", "[a c e] [b d]"},
		{"4a 0b 4c 0d 4e", "a [b d] [c e]"},
	} {
		r := newBundling(t)
		for _, m := range strings.Fields(c.send) {
			r.say(frame.Importance(m[0]-'0'), m[1:])
		}
		if got := strings.Join(r.flow(), " "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.send, got, c.want)
		}
		r.done()
	}
}

// A message of another layer goes alone, and nothing joins a packet before it.
//
// Proves: link.bundles
func TestNeverBundled(t *testing.T) {
	for _, u := range []frame.User{frame.UserFragment, frame.UserTunnel, frame.UserBroadcast, frame.UserBundler} {
		r := newBundling(t)
		r.say(frame.High, "a", "b")
		msg := said(frame.High, "")
		if u == frame.UserBundler { // one that came ready
			f := frame.BundleFields{Count: 1}
			msg = f.Append(nil, said(frame.High, "x"))
		}
		msg[0] = msg[0]&^0x1e | byte(u)<<1
		if err := r.Send(0, r.boxed(msg), frame.High); err != nil {
			t.Fatal(err)
		}
		if r.Room(40, frame.High) != nil {
			t.Errorf("%v: room behind it", u)
		}
		r.say(frame.High, "c", "d")
		alone := u.String()
		if u == frame.UserBundler {
			alone = "[x]"
		}
		wantLines(t, alone, r.flow(), "[a b]", alone, "[c d]")
		r.done()
	}
}

// Whoever wants no bundles gets none.
func TestAlone(t *testing.T) {
	r := newBundling(t, func(c *Config) { c.Alone = true })
	defer r.done()
	r.say(frame.Low, "a", "b")
	if r.Room(40, frame.Low) != nil {
		t.Error("room")
	}
	if err := r.Hold(r.boxed(said(frame.High, "c")), frame.High); err != nil {
		t.Error(err)
	}
	wantLines(t, "sent", r.flow(), "a", "b", "c")
	if r.SentBundles != 0 || r.SentBundled != 0 {
		t.Errorf("got %d bundles of %d, want none", r.SentBundles, r.SentBundled)
	}
}

// Nothing joins a packet that was given its number: it may be on the wire.
func TestNothingJoinsWhatWasSent(t *testing.T) {
	r := newBundling(t)
	r.say(frame.Low, "a", "b")
	r.ack(1, 0) // they go
	if r.Room(40, frame.Low) != nil {
		t.Error("room in a packet that was sent")
	}
	r.say(frame.Low, "c", "d")
	wantLines(t, "sent", r.flow(), "[a b]", "[c d]")
	if r.Room(40, frame.Low) != nil {
		t.Error("room in a link where nothing waits")
	}
	r.done()
}

// A bundle is repeated as it was, though others were built since.
//
// Proves: link.bundles
func TestRepetitionOfBundle(t *testing.T) {
	r := newBundling(t)
	r.say(frame.Low, "a", "bb")
	r.ack(1, 0)
	first := r.NextFrame()
	before := bytes.Clone(first.Bytes())
	first.Release()
	r.say(frame.Low, "c", "d")
	r.receive(1, 1)
	r.sent()
	r.now += time.Millisecond
	r.ack(1, 1)
	again := r.NextFrame()
	frame.StampAcks(before[frame.EthernetLen:], 1, 0)
	if again == nil || !bytes.Equal(again.Bytes(), before) {
		t.Fatalf("\n got %x\nwant %x", again.Bytes(), before)
	}
	again.Release()
	wantLines(t, "then", r.flow(), "[c d]")
	r.done()
}

// A reset forgets the packets that waited, and where to put more.
func TestResetForgetsBundles(t *testing.T) {
	r := newBundling(t)
	for imp := frame.Low; imp <= frame.System; imp++ {
		r.say(imp, "a", "b")
	}
	r.Fail()
	r.Restart(r.now)
	r.out()
	if got, want := r.arena.Free(), r.arena.Total(); got != want {
		t.Errorf("got %d chunks free, want %d", got, want)
	}
	for imp := frame.Low; imp <= frame.System; imp++ {
		if r.Room(40, imp) != nil {
			t.Errorf("%v: room in the old link's packet", imp)
		}
	}
	r.hear(reset(func(f *frame.ResetFields) { f.Session = 701 }))
	if !r.Up(r.now) {
		t.Fatal("link does not come up")
	}
	r.say(frame.Low, "c", "d", "e")
	wantLines(t, "sent", r.sent(), "c")
	r.done()
}

// The limits count packets. Behind a full backlog no message is taken, though it
// might join a packet.
func TestLimitsCountPackets(t *testing.T) {
	r := newBundling(t, func(c *Config) { c.MinWindow, c.MaxWindow = 1, 1 })
	size := 600 // two in a packet
	n := 0
	for ; !r.Link.Congested(frame.Low); n++ {
		r.say(frame.Low, strings.Repeat("x", size))
	}
	if want := 2*r.Limit(frame.Low) - 1; n != want || r.Backlog() != r.Limit(frame.Low) {
		t.Errorf("got %d messages in %d packets, want %d in %d", n, r.Backlog(), want, r.Limit(frame.Low))
	}
	if r.Room(40, frame.Low) != nil {
		t.Error("room in a link that is congested")
	}
	b := r.boxed(said(frame.Low, "x"))
	if err := r.Send(0, b, frame.Low); err != ErrCongested {
		t.Errorf("got %v, want %v", err, ErrCongested)
	}
	if err := r.Hold(b, frame.Low); err != ErrCongested {
		t.Errorf("got %v, want %v", err, ErrCongested)
	}
	b.Release()
	r.ack(1, 0)
	if e := r.TakeEvents(); e != Room {
		t.Errorf("got %q, want room", eventText(e))
	}
	r.flow()
	r.done()
}
