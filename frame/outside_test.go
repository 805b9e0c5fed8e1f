// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/internal/samples"
	"github.com/utipc/utipc/frame/layers"
)

// Proves: wire.bytes
func TestParseEncrypted(t *testing.T) {
	vector := samples.Unhex(t, `e1500000 00000000 00000001 0a0b0c0d
		a4993fb206f1e02d5035586e638cf497 abc4088ea716fcc27e5253edb2352343 0500adb93922b3a373 75b3a2a485e259`) // 09 §1.2
	disc := frame.EncryptedFields{User: frame.UserDiscovery, TX: 3, Master: true, Seq: 1 << 40, Identity: frame.AddrIdentity(nodeA)}
	for _, c := range []struct {
		name   string
		b      []byte
		fields frame.EncryptedFields
		want   error
	}{
		{"09 §1.2", vector, frame.EncryptedFields{Destined: true, TX: 1, RX: 1, Seq: 1, Source: 0x0a0b0c0d}, nil},
		{"discovery", disc.Append(nil, make([]byte, 17)), disc, nil},
		{"all bits", append([]byte{0xef, 0xff, 0, 0}, make([]byte, 30)...), frame.EncryptedFields{
			User: frame.UserLink, Destined: true, TX: 3, RX: 3,
			Keepalive: true, Master: true, NoKey: true,
		}, nil},
		{"nothing behind the tag's room", vector[:32], frame.EncryptedFields{}, frame.ErrTruncated},
		{"one byte", vector[:33], frame.EncryptedFields{Destined: true, TX: 1, RX: 1, Seq: 1, Source: 0x0a0b0c0d}, nil},
		{"discovery too short", disc.Append(nil, make([]byte, 16)), frame.EncryptedFields{}, frame.ErrTruncated},
		{"15 bytes", vector[:15], frame.EncryptedFields{}, frame.ErrTruncated},
		{"clear text", append([]byte{0x41}, vector[1:]...), frame.EncryptedFields{}, frame.ErrVersion},
		{"user 3", append([]byte{0xe6}, vector[1:]...), frame.EncryptedFields{}, frame.ErrMalformed},
	} {
		e, err := frame.ParseEncrypted(c.b)
		if err != c.want {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if err != nil {
			continue
		}
		f := e.Fields()
		if f != c.fields {
			t.Errorf("%s: got %+v, want %+v", c.name, f, c.fields)
		}
		want := bytes.Clone(c.b)
		want[1] &^= 1
		if got := f.Append([]byte{7}, e.Sealed()); !bytes.Equal(got[1:], want) || got[0] != 7 {
			t.Errorf("%s: got %x, want %x behind a 7", c.name, got, want)
		}
	}
	n := testing.AllocsPerRun(100, func() {
		e, err := frame.ParseEncrypted(vector)
		if err == nil {
			sink += uint32(e.Fields().Seq)
		}
	})
	if n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// Proves: wire.hostile
func FuzzEncrypted(f *testing.F) {
	for _, number := range []string{"24", "25"} {
		for i, x := range samples.Read(f, number) {
			if i < 20 {
				f.Add(x.Data[frame.EthernetLen:])
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := frame.ParseEncrypted(b)
		if err != nil {
			return
		}
		want := bytes.Clone(b)
		want[1] &^= 1
		clear(want[2:4])
		x := e.Fields()
		if got := x.Append(nil, e.Sealed()); !bytes.Equal(got, want) {
			t.Errorf("got %x, want %x", got, want)
		}
		if len(e.Header())+len(e.Sealed()) != len(b) || len(e.Sealed()) <= frame.TagLen {
			t.Errorf("got %d and %d bytes, want %d", len(e.Header()), len(e.Sealed()), len(b))
		}
	})
}

// Proves: wire.bytes
func TestMediaAddr(t *testing.T) {
	for _, c := range []struct {
		hex  string
		addr frame.MediaAddr
		text string
	}{
		{"00000001 5254614fd800", frame.MediaAddr{Type: frame.MediaEthernet, MAC: frame.MAC{0x52, 0x54, 0x61, 0x4f, 0xd8}}, "52:54:61:4f:d8:00"},
		{"00000003 080017e6 0a4d0001", frame.MediaAddr{Type: frame.MediaUDP, UDP: netip.MustParseAddrPort("10.77.0.1:6118")}, "10.77.0.1:6118"},
		{"00000003 86dd17e6 fd000000000000000000000000000001", frame.MediaAddr{Type: frame.MediaUDP, UDP: netip.MustParseAddrPort("[fd00::1]:6118")}, "[fd00::1]:6118"},
		{"00000003 86dd17e6 00000000000000000000ffff0a000001", frame.MediaAddr{Type: frame.MediaUDP, UDP: netip.MustParseAddrPort("[::ffff:10.0.0.1]:6118")}, "[::ffff:10.0.0.1]:6118"},
	} {
		b := make([]byte, 32)
		copy(b, samples.Unhex(t, c.hex))
		a, err := frame.ParseMediaAddr(b)
		if err != nil || a != c.addr || a.String() != c.text {
			t.Errorf("%s: got %v, %v, want %v", c.hex, a, err, c.text)
		}
		got := bytes.Repeat([]byte{0xff}, 32)
		if a.Put(got); !bytes.Equal(got, b) {
			t.Errorf("%s: got %x, want %x", c.hex, got, b)
		}
		if _, err := frame.ParseMediaAddr(b[:31]); err != frame.ErrTruncated {
			t.Errorf("%s, cut: got %v, want %v", c.hex, err, frame.ErrTruncated)
		}
	}
	if (frame.MediaAddr{}).Valid() || (frame.MediaAddr{}).String() != "none" {
		t.Errorf("the zero address: got %v, valid", frame.MediaAddr{})
	}
}

// Proves: wire.bytes
func TestSubscription(t *testing.T) {
	little := "c8490000 00000000 64000000 ffffffff 02000000 0100000000000000"
	big := "000049c8 00000000 00000064 ffffffff 00000002 0100000000000000"
	fields := frame.SubscriptionFields{Range: frame.Range{Type: 18888, Upper: 100}, Timeout: frame.Forever, Filter: frame.FilterService, Handle: [8]byte{1}}
	for _, c := range []struct {
		name   string
		hex    string
		native frame.Order
		want   frame.Order
	}{
		{"little at a little host", little, frame.LittleEndian, frame.LittleEndian},
		{"little at a big host", little, frame.BigEndian, frame.LittleEndian},
		{"big at a little host", big, frame.LittleEndian, frame.BigEndian},
		{"big at a big host", big, frame.BigEndian, frame.BigEndian},
	} {
		b := samples.Unhex(t, c.hex)
		s, err := frame.ParseSubscription(append(b, 9), c.native)
		fields.Order = c.want
		if err != nil || s.Fields() != fields || !bytes.Equal(s.Bytes(), b) {
			t.Errorf("%s: got %+v, %v, want %+v", c.name, s.Fields(), err, fields)
		}
		if got := fields.Append(nil); !bytes.Equal(got, b) {
			t.Errorf("%s: got %x, want %x", c.name, got, b)
		}
		if _, err := frame.ParseSubscription(b[:27], c.native); err != frame.ErrTruncated {
			t.Errorf("%s, cut: got %v, want %v", c.name, err, frame.ErrTruncated)
		}
	}
	none := frame.SubscriptionFields{Filter: frame.FilterNoStatus} // taken for one of the other order
	if s, err := frame.ParseSubscription(none.Append(nil), frame.LittleEndian); err != nil || s.Order() != frame.BigEndian {
		t.Errorf("no order to be seen: got %v, %v, want %v, nil", s.Order(), err, frame.BigEndian)
	}
	if got, want := (frame.FilterPorts | frame.FilterCancel | frame.FilterNodeScope | 0x118).String(), "ports,cancel,node,0x118"; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Proves: wire.bytes
func TestTopologyEvent(t *testing.T) {
	b := samples.Unhex(t, `01000000 11000000 11000000 01000050 11111111 c8490000 00000000 64000000 ffffffff 02000000 0100000000000000`) // 06 §3.1
	want := frame.TopologyEventFields{
		Type: frame.Published, Lower: 17, Upper: 17, Port: 0x50000001, Node: node1,
		Subscription: frame.SubscriptionFields{Range: frame.Range{Type: 18888, Upper: 100}, Timeout: frame.Forever, Filter: frame.FilterService, Handle: [8]byte{1}},
	}
	for _, order := range []frame.Order{frame.LittleEndian, frame.BigEndian} {
		want.Subscription.Order = order
		built := want.Append(nil)
		if order == frame.LittleEndian && !bytes.Equal(built, b) {
			t.Errorf("got %x, want %x", built, b)
		}
		for _, native := range []frame.Order{frame.LittleEndian, frame.BigEndian} {
			e, err := frame.ParseTopologyEvent(built, native)
			if err != nil || e.Fields() != want || e.Found() != (frame.Range{Type: 18888, Lower: 17, Upper: 17}) || e.Socket() != (frame.SocketAddr{Port: 0x50000001, Node: node1}) {
				t.Errorf("order %v: got %+v, %v, want %+v", order, e.Fields(), err, want)
			}
		}
	}
	if _, err := frame.ParseTopologyEvent(b[:47], frame.LittleEndian); err != frame.ErrTruncated {
		t.Errorf("cut: got %v, want %v", err, frame.ErrTruncated)
	}
	for _, typ := range []byte{0, 4} {
		b[0] = typ
		if _, err := frame.ParseTopologyEvent(b, frame.LittleEndian); err != frame.ErrUnknown {
			t.Errorf("event %d: got %v, want %v", typ, err, frame.ErrUnknown)
		}
	}
	if got, want := frame.TimedOut.String(), "timed out"; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	n := testing.AllocsPerRun(100, func() {
		b[0] = 2
		if e, err := frame.ParseTopologyEvent(b, frame.BigEndian); err == nil {
			sink += e.Fields().Port
		}
	})
	if n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// Proves: wire.hostile
func FuzzTopologyEvent(f *testing.F) {
	b := samples.Unhex(f, "01000000 11000000 11000000 01000050 11111111 c8490000 00000000 64000000 ffffffff 02000000 0100000000000000")
	f.Add(b, true)
	f.Add(b[20:], false)
	f.Fuzz(func(t *testing.T, b []byte, native bool) {
		s, err := frame.ParseSubscription(b, frame.Order(native))
		if err != nil {
			return
		}
		x := s.Fields()
		if got := x.Append(nil); !bytes.Equal(got, b[:28]) {
			t.Errorf("got %x, want %x", got, b[:28])
		}
		e, err := frame.ParseTopologyEvent(b, frame.Order(native))
		if err != nil {
			return
		}
		y := e.Fields()
		if got := y.Append(nil); !bytes.Equal(got, b[:48]) {
			t.Errorf("got %x, want %x", got, b[:48])
		}
	})
}

// TestGroupData reads the words of group messages that other kinds do not have.
//
// Proves: wire.bytes
func TestGroupData(t *testing.T) {
	f := frame.PayloadFields{Type: frame.GroupMcastMsg, NameType: 4711, Lower: 7, Upper: frame.GroupWord(0xfffe, true)}
	m, _ := frame.Parse(f.Append(nil, nil))
	p, err := frame.ParsePayload(m)
	if err != nil {
		t.Fatal(err)
	}
	group, instance, ok := p.Group()
	seq, ack, ok2 := p.GroupSeq()
	if group != 4711 || instance != 7 || seq != 0xfffe || !ack || !ok || !ok2 || p.Fields() != f {
		t.Errorf("got %d, %d, %v, %d, %v, %v, want 4711, 7, true, 65534, true, true", group, instance, ok, seq, ack, ok2)
	}
	f.Type = frame.McastMsg
	m, _ = frame.Parse(f.Append(nil, nil))
	p, _ = frame.ParsePayload(m)
	if _, _, ok := p.Group(); ok {
		t.Errorf("multicast: got a group, want none")
	}
	if _, _, ok := p.GroupSeq(); ok {
		t.Errorf("multicast: got a group's number, want none")
	}
}

// TestTunnelInner takes packets out of tunnels.
//
// Proves: wire.bytes
func TestTunnelInner(t *testing.T) {
	inner := frame.PayloadFields{Common: frame.Common{Seq: 65}, Type: frame.DirectMsg, Error: frame.NoPort}
	again := frame.TunnelFields{Count: 1}
	for _, c := range []struct {
		name  string
		f     frame.TunnelFields
		data  []byte
		err   error
		point frame.Seq
	}{
		{"synch point", frame.TunnelFields{Count: 175}, nil, frame.ErrMalformed, 175},
		{"old synch", frame.TunnelFields{Count: 11}, inner.Append(nil, nil), nil, 75},
		{"failover", frame.TunnelFields{Type: frame.TunnelFailover, Count: 2}, inner.Append(nil, nil), nil, 66},
		{"piece", frame.TunnelFields{Type: frame.TunnelFailover, Count: 2, Piece: 1, Pieces: 2}, inner.Append(nil, nil), frame.ErrMalformed, 0},
		{"tunnel in a tunnel", frame.TunnelFields{Type: frame.TunnelFailover, Count: 2}, again.Append(nil, nil), nil, 1},
		{"link message in a tunnel", frame.TunnelFields{Type: frame.TunnelFailover, Count: 2}, (&frame.StateFields{}).Append(nil, nil), frame.ErrMalformed, 0},
		{"garbage", frame.TunnelFields{Type: frame.TunnelFailover, Count: 2}, make([]byte, 24), frame.ErrVersion, 0},
	} {
		m, err := frame.Parse(c.f.Append(nil, c.data))
		if err != nil {
			t.Fatal(err)
		}
		x, err := frame.ParseTunnel(m)
		if err != nil {
			t.Errorf("%s: got %v, want nil", c.name, err)
			continue
		}
		if in, err := x.Inner(); err != c.err || err == nil && !bytes.Equal(in.Bytes(), c.data) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.err)
		}
		if got, err := x.SyncPoint(); got != c.point || (err != nil) != (c.point == 0) {
			t.Errorf("%s: got %d, %v, want %d", c.name, got, err, c.point)
		}
	}
}

// TestUDPCapture finds the addresses the nodes of capture 26 announce.
//
// Proves: wire.bytes
func TestUDPCapture(t *testing.T) {
	seen := map[string]int{}
	for _, x := range samples.Read(t, "26") {
		_, b, err := layers.Unwrap(x.Data)
		if err != nil {
			continue
		}
		m, err := frame.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := frame.ParseMediaDiscovery(m); err == nil {
			seen[d.Media().String()]++
			if d.MAC() != (frame.MAC{}) {
				t.Errorf("got %v, want no MAC", d.MAC())
			}
			if _, err := frame.ParseDiscovery(m); err != frame.ErrUnknown {
				t.Errorf("for Ethernet: got %v, want %v", err, frame.ErrUnknown)
			}
		}
	}
	if len(seen) != 2 || seen["10.77.0.1:6118"] == 0 || seen["10.77.0.2:6118"] == 0 {
		t.Errorf("got %v, want 10.77.0.1:6118 and 10.77.0.2:6118", seen)
	}
}
