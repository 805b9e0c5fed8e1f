// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"encoding/binary"
	"testing"
	"time"
	"unsafe"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// The length of the oldest message unacknowledged, in seven classes, and how many there
// are, at each tick.
//
// Proves: link.statistics
func TestProfile(t *testing.T) {
	var p Profile
	for _, n := range []int{24, 64, 65, 256, 257, 1024, 1025, 4096, 4097, 16384, 16385, 32768, 32769, 66060} {
		b := make([]byte, n)
		b[0] = 2 << 5
		p.sample(1, b)
	}
	if want := [7]uint64{2, 2, 2, 2, 2, 2, 2}; p.Lengths != want || p.LengthSamples() != 14 {
		t.Errorf("got %v, want %v", p.Lengths, want)
	}
	r := newScriptedPeer(t).up()
	defer r.done()
	for _, n := range []int{0, 3, 7, 0} {
		r.send(n)
		r.Tick(r.now)
		r.ack(r.sndNxt-1, 0)
		r.discard()
	}
	want := Profile{QueueSamples: 4, QueueSum: 10, QueueMax: 7, LengthSum: 2 * (frame.BasicLen + 4), Lengths: [7]uint64{2}}
	if got := r.Statistics(r.now).Profile; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Of a first fragment the whole message counts.
//
// Proves: link.statistics
func TestProfileOfFragment(t *testing.T) {
	inner := make([]byte, 100)
	binary.BigEndian.PutUint32(inner, 2<<29|8<<21|20000)
	f := frame.FragmentFields{Common: frame.Common{Prev: self}, Type: frame.FirstFragment, Number: 1, Orig: self, Dest: peer}
	b := f.Append(nil, inner)
	if got := messageLen(b); got != 20000 {
		t.Errorf("first fragment: got %d, want 20000", got)
	}
	f.Type, f.Number = frame.MiddleFragment, 2
	b = f.Append(nil, inner)
	if got := messageLen(b); got != len(b) {
		t.Errorf("another: got %d, want %d", got, len(b))
	}
}

// Counters outlive a reset, and not ResetStatistics.
//
// Proves: link.statistics
func TestCountersOutliveReset(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.send(5)
	r.Fail()
	r.Restart(0)
	r.discard()
	if s := r.Statistics(0); s.SentPackets != 5 || s.Resets != 1 {
		t.Errorf("after a reset: got %d packets, %d resets, want 5, 1", s.SentPackets, s.Resets)
	}
	r.ResetStatistics(0)
	if s := r.Statistics(0); s.Counters != (Counters{}) || s.Window != 50 || s.Limits[frame.Low] != 100 {
		t.Errorf("after ResetStatistics: got %+v", s)
	}
}

// The first packet's number follows Config.FirstSeq, and all that is relative to it.
func TestFirstSeq(t *testing.T) {
	const first = 65530
	r := newScriptedPeer(t, func(c *Config) { c.FirstSeq = first })
	defer r.done()
	r.hear(reset(func(f *frame.ResetFields) { f.NextSent = first }))
	if r.hear(r.stateMsg(func(f *frame.StateFields) { f.Ack = 0 })) {
		t.Error("a link that is not up takes a STATE that acknowledges something")
	}
	if !r.hear(r.stateMsg(func(f *frame.StateFields) { f.Ack = first - 1 })) || !r.Up(0) {
		t.Fatal("does not come up by a STATE that acknowledges nothing")
	}
	r.TakeEvents()
	wantLines(t, "first", r.out(), "link/state next=65530 session=100 seq=1 ack=65529")
	r.send(10)
	wantSeqs(t, "packets", r.seqs(), span(first, first+9))
	for s := range 10 {
		if v := r.receive(first+frame.Seq(s), first-1); v != Deliver {
			t.Fatalf("packet %d: got %v, want deliver", first+s, v)
		}
	}
	r.receive(4, 3)
	if !r.Idle() {
		t.Error("not acknowledged")
	}
	r.Fail()
	r.Restart(0)
	wantLines(t, "reset", r.out(), "link/reset stopping session=101 seq=32761 ack=65529")
}

// idleLink is what an idle link may take, in bytes: of 1 KiB for an endpoint it leaves
// room for its owner.
const idleLink = 768

// An idle link is small with all it points to but its name, also after traffic.
//
// Proves: link.timers
func TestIdleLinkIsSmall(t *testing.T) {
	m := newSlowBed(t, 1, 0.01, func(c *Config) { c.MaxWindow = MaxWindow })
	m.carry(3000)
	for end := m.now + 3*time.Second; m.now < end; {
		m.step()
	}
	for i, l := range m.ends {
		size := unsafe.Sizeof(*l) + uintptr(len(l.transmit.ring))*unsafe.Sizeof(sent{}) +
			uintptr(len(l.out.ring))*unsafe.Sizeof((*netdev.Buffer)(nil))
		if l.profile != nil {
			size += unsafe.Sizeof(*l.profile)
		}
		t.Logf("end %d: %d bytes, %d of them the Link", i, size, unsafe.Sizeof(*l))
		if size > idleLink {
			t.Errorf("end %d: got %d bytes, want at most %d", i, size, idleLink)
		}
		if l.backlog != nil || l.deferredPackets != nil || l.bcast.deferredPackets != nil {
			t.Errorf("end %d: keeps a backlog %v, deferred packets %v, of broadcasts %v", i, l.backlog != nil, l.deferredPackets != nil, l.bcast.deferredPackets != nil)
		}
	}
}

// Of what an idle link has for its backlog and for deferred broadcasts it keeps what is
// still wanted.
func TestIdleLinkKeepsWhatIsWanted(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	tick := func() {
		for range 2 {
			r.Tick(r.now)
		}
		r.discard()
	}
	r.Want(r.now, frame.Low)
	m, b := r.packet(2, 0, "data")
	r.bc.Open(0)
	r.bc.HandlePacket(m, b)
	b.Release()
	tick()
	if n := len(r.bc.deferred()); n != 1 {
		t.Errorf("got %d broadcasts deferred, want 1", n)
	}
	if room := r.TakeRoom(); room[frame.Low] != r.Limit(frame.Low) {
		t.Errorf("got room for %d, want %d", room[frame.Low], r.Limit(frame.Low))
	}
	if p, ok := r.bc.take(2); ok {
		p.Release()
	}
	tick()
	if r.backlog != nil || r.bc.deferredPackets != nil {
		t.Errorf("keeps a backlog %v, deferred broadcasts %v", r.backlog != nil, r.bc.deferredPackets != nil)
	}
}
