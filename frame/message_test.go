// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/internal/samples"
)

// TestCutAndPadded cuts a message of each kind at every byte, and pads it as
// Ethernet does.
func TestCutAndPadded(t *testing.T) {
	for i, b := range samples.OfEachKind(t) {
		k := samples.Kinds[i]
		for n := range b {
			if _, err := frame.Parse(b[:n]); err != frame.ErrTruncated {
				t.Errorf("%s cut to %d: got %v, want %v", k.Name, n, err, frame.ErrTruncated)
			}
		}
		padded := append(bytes.Clone(b), bytes.Repeat([]byte{0xee}, max(60-frame.EthernetLen-len(b), 1))...)
		m, err := frame.Parse(padded)
		if err != nil || !bytes.Equal(m.Bytes(), b) {
			t.Fatalf("%s padded: got %x, %v, want %x", k.Name, m.Bytes(), err, b)
		}
		if got, err := k.Rebuild(m, nil); err != nil || !bytes.Equal(got, b) {
			t.Errorf("%s padded: got %x, %v, want %x", k.Name, got, err, b)
		}
	}
}

// TestOneKindEach gives each sample to each parser.
func TestOneKindEach(t *testing.T) {
	for i, b := range samples.OfEachKind(t) {
		m, err := frame.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		for j, k := range samples.Kinds {
			want := frame.ErrUnknown
			if i == j {
				want = nil
			}
			if _, err := k.Rebuild(m, nil); err != want {
				t.Errorf("%s parsed as %s: got %v, want %v", samples.Kinds[i].Name, k.Name, err, want)
			}
		}
		samples.Kinds[i].Check(t, m)
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name                     string
		version, hlen, size, len int
		want                     error
	}{
		{"shortest", 2, 24, 24, 24, nil},
		{"longest", 2, 60, 66060, 66060, nil},
		{"most data", 2, 24, 66024, 66024, nil},
		{"one byte of data too many", 2, 24, 66025, 66025, frame.ErrMalformed},
		{"one byte of data too many, long header", 2, 60, 66061, 66061, frame.ErrMalformed},
		{"size field full", 2, 60, 0x1ffff, 0x1ffff, frame.ErrMalformed},
		{"size one below the header", 2, 40, 39, 40, frame.ErrMalformed},
		{"size 0", 2, 24, 0, 24, frame.ErrMalformed},
		{"size one above the bytes", 2, 24, 25, 24, frame.ErrTruncated},
		{"size one below the bytes", 2, 24, 24, 25, nil},
		{"header of 20", 2, 20, 40, 40, frame.ErrMalformed},
		{"header of 0", 2, 0, 40, 40, frame.ErrMalformed},
		{"header longer than size", 2, 60, 59, 60, frame.ErrMalformed},
		{"version 1", 1, 24, 24, 24, frame.ErrVersion},
		{"version 3", 3, 24, 24, 24, frame.ErrVersion},
		{"version 0", 0, 24, 24, 24, frame.ErrVersion},
		{"encrypted", 7, 24, 24, 24, frame.ErrEncrypted},
		{"23 bytes", 2, 24, 23, 23, frame.ErrTruncated},
		{"nothing", 2, 24, 24, 0, frame.ErrTruncated},
	} {
		b := samples.Head(samples.Word0(c.version, 0, c.hlen, c.size), max(c.len, 4))[:c.len]
		m, err := frame.Parse(b)
		if err != c.want {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if err == nil && (len(m.Bytes()) != c.size || cap(m.Bytes()) != c.size || m.HeaderLen() != c.hlen || len(m.Data()) != c.size-c.hlen) {
			t.Errorf("%s: got %d bytes, cap %d, header %d, want %d, %d", c.name, len(m.Bytes()), cap(m.Bytes()), m.HeaderLen(), c.size, c.hlen)
		}
	}
}

// TestHeaderLengths gives each kind each header length there is.
func TestHeaderLengths(t *testing.T) {
	for i, b := range samples.OfEachKind(t) {
		legal := map[int]bool{}
		for hlen := 24; hlen <= 60; hlen += 4 {
			c := make([]byte, len(b)+60)
			if samples.Kinds[i].Name == "key" { // whose length is told, and the key behind it
				c = append(make([]byte, 0, 200), b...)[:hlen+len(b)-40]
				copy(c[min(hlen, 40):], b[40:])
			}
			copy(c, b)
			word := binary.BigEndian.Uint32(c)
			binary.BigEndian.PutUint32(c, word&^(0xf<<21|0x1ffff)|uint32(hlen/4)<<21|uint32(len(c)))
			m, err := frame.Parse(c)
			if err != nil {
				t.Fatal(err)
			}
			switch _, err := samples.Kinds[i].Rebuild(m, nil); err {
			case nil:
				legal[hlen] = true
			case frame.ErrMalformed:
			default:
				t.Errorf("%s with a header of %d: got %v, want nil or %v", samples.Kinds[i].Name, hlen, err, frame.ErrMalformed)
			}
		}
		want := 40
		if strings.HasSuffix(samples.Kinds[i].Name, "discovery") {
			want = 60
		}
		if len(legal) != 1 || !legal[want] {
			t.Errorf("%s: got header lengths %v, want %d alone", samples.Kinds[i].Name, legal, want)
		}
	}
}

func TestPayloadHeaderLengths(t *testing.T) {
	want := map[frame.PayloadType][]int{
		frame.ConnMsg: {24, 32}, frame.McastMsg: {44}, frame.NamedMsg: {40}, frame.DirectMsg: {32},
		frame.GroupBcastMsg: {44}, frame.GroupMcastMsg: {44}, frame.GroupUcastMsg: {44},
	}
	for typ := frame.PayloadType(0); typ < 8; typ++ {
		legal := map[int]bool{}
		for _, n := range want[typ] {
			legal[n] = true
		}
		for hlen := 24; hlen <= 60; hlen += 4 {
			b := samples.Head(samples.Word0(2, 1, hlen, 60), 60)
			b[4] = byte(typ) << 5
			m, err := frame.Parse(b)
			if err != nil {
				t.Fatal(err)
			}
			wantErr := frame.ErrMalformed
			if len(want[typ]) == 0 { // the event that never leaves a node
				wantErr = frame.ErrUnknown
			} else if legal[hlen] {
				wantErr = nil
			}
			if _, err := frame.ParsePayload(m); err != wantErr {
				t.Errorf("%v with a header of %d: got %v, want %v", typ, hlen, err, wantErr)
			}
		}
	}
}

// TestKindErrors changes one thing in a good message of each kind.
//
// Proves: wire.bytes
func TestKindErrors(t *testing.T) {
	type edit struct {
		name string
		do   func(b []byte) []byte
		want error
	}
	set := func(i int, v byte) func([]byte) []byte { return func(b []byte) []byte { b[i] = v; return b } }
	or := func(i int, v byte) func([]byte) []byte { return func(b []byte) []byte { b[i] |= v; return b } }
	size := func(n int) func([]byte) []byte {
		return func(b []byte) []byte {
			binary.BigEndian.PutUint32(b, binary.BigEndian.Uint32(b)&^0x1ffff|uint32(n))
			return b
		}
	}
	s := samples.OfEachKind(t)
	for i, edits := range [][]edit{
		{{"group event", set(4, 4<<5), frame.ErrUnknown}},
		{{"type 3", set(4, 3<<5), frame.ErrUnknown}, {"non-seq", or(1, 0x10), frame.ErrMalformed}, {"no record", size(40), nil}},
		{
			{"type 3", set(4, 3<<5), frame.ErrUnknown},
			{"non-seq", or(1, 0x10), frame.ErrMalformed},
			{"interface name one byte short", size(55), frame.ErrMalformed},
			{"no interface name", size(40), frame.ErrMalformed},
		},
		{
			{"type 4", or(4, 4<<5), frame.ErrUnknown},
			{"in sequence", func(b []byte) []byte { b[1] &^= 0x10; return b }, frame.ErrMalformed},
			{"UDP", set(23, 3), frame.ErrUnknown},
			{"no medium", set(23, 0), frame.ErrUnknown},
			{"medium in other bytes", set(20, 1), frame.ErrUnknown},
			{"broadcast MAC", func(b []byte) []byte { copy(b[24:], frame.BroadcastMAC[:]); return b }, frame.ErrMalformed},
			{"group MAC", or(24, 1), frame.ErrMalformed},
			{"no MAC", func(b []byte) []byte { clear(b[24:30]); return b }, frame.ErrMalformed},
			{"identity one byte short", size(75), frame.ErrMalformed},
			{"no identity", size(60), frame.ErrMalformed},
			{"identity zero", func(b []byte) []byte { clear(b[60:76]); return b }, frame.ErrMalformed},
		},
		{{"type 2", or(4, 2<<5), frame.ErrUnknown}, {"no items", size(40), nil}, {"half an item", size(50), nil}},
		{{"type 1", or(4, 1<<5), frame.ErrUnknown}, {"old message", or(1, 0x10), frame.ErrUnknown}},
		{{"type 4", or(4, 4<<5), frame.ErrUnknown}},
		{{"type 3", or(4, 3<<5), frame.ErrUnknown}, {"no data", size(40), nil}},
		{{"type 7", or(4, 7<<5), nil}, {"no data", size(40), nil}},
		{{"type 6", set(4, 6<<5), frame.ErrUnknown}, {"non-seq", or(1, 0x10), frame.ErrMalformed}},
		{
			{"type 2", set(4, 2<<5), frame.ErrUnknown},
			{"non-seq", or(1, 0x10), frame.ErrMalformed},
			{"no count", func(b []byte) []byte { clear(b[36:38]); return b }, frame.ErrMalformed},
			{"packet one byte short", size(63), frame.ErrMalformed},
			{"no packet", size(40), frame.ErrMalformed},
			{"piece 0 of 2", set(19, 2), frame.ErrMalformed},
			{"piece 3 of 2", func(b []byte) []byte { b[17], b[19] = 3, 2; return b }, frame.ErrMalformed},
			{"piece 1 of 0", set(17, 1), frame.ErrMalformed},
			{"piece 2 of 2", func(b []byte) []byte { b[17], b[19] = 2, 2; return b }, nil},
			{"empty last piece", func(b []byte) []byte { b[17], b[19] = 2, 2; return size(40)(b) }, nil},
			{"first piece one byte short", func(b []byte) []byte { b[17], b[19] = 1, 2; return size(63)(b) }, frame.ErrMalformed},
			{"too many pieces", func(b []byte) []byte { b[17], b[18] = 2, 0x10; return b }, frame.ErrMalformed},
			{"synch with a piece", func(b []byte) []byte { b[4], b[17], b[19] = 0, 1, 2; return b }, frame.ErrMalformed},
			{"synch without a packet", func(b []byte) []byte { b[4] = 0; return size(40)(b) }, nil},
		},
		{
			{"type 1", or(4, 1<<5), frame.ErrUnknown},
			{"key one byte short", size(95), frame.ErrMalformed},
			{"no length", size(75), frame.ErrMalformed},
			{"length one less", set(75, 19), frame.ErrMalformed},
			{"length wraps", set(72, 0xff), frame.ErrMalformed},
			{"another algorithm", set(40, 'c'), frame.ErrMalformed},
			{"more behind the algorithm", set(71, 1), frame.ErrMalformed},
		},
		{{"type 1", or(4, 1<<5), frame.ErrUnknown}, {"in sequence", func(b []byte) []byte { b[1] &^= 0x10; return b }, frame.ErrUnknown}},
		{
			{"type 4", or(4, 4<<5), frame.ErrUnknown},
			{"Ethernet", set(23, 1), frame.ErrUnknown},
			{"InfiniBand", set(23, 2), frame.ErrUnknown},
			{"medium 33", set(23, 33), frame.ErrUnknown},
			{"port 0", func(b []byte) []byte { clear(b[26:28]); return b }, frame.ErrMalformed},
			{"no family", set(24, 0), frame.ErrMalformed},
			{"unspecified", func(b []byte) []byte { clear(b[28:32]); return b }, frame.ErrMalformed},
			{"multicast", set(28, 228), frame.ErrMalformed},
			{"everyone", func(b []byte) []byte { copy(b[28:], "\xff\xff\xff\xff"); return b }, frame.ErrMalformed},
			{"IPv6", func(b []byte) []byte { b[24], b[25] = 0x86, 0xdd; return b }, nil},
			{"IPv6 multicast", func(b []byte) []byte { b[24], b[25], b[28] = 0x86, 0xdd, 0xff; return b }, frame.ErrMalformed},
			{"no identity", size(60), frame.ErrMalformed},
		},
	} {
		for _, e := range edits {
			m, err := frame.Parse(e.do(bytes.Clone(s[i])))
			if err != nil {
				t.Errorf("%s, %s: got %v, want nil of Parse", samples.Kinds[i].Name, e.name, err)
				continue
			}
			_, err = samples.Kinds[i].Rebuild(m, nil)
			if err != e.want {
				t.Errorf("%s, %s: got %v, want %v", samples.Kinds[i].Name, e.name, err, e.want)
			}
			if err == nil {
				samples.Kinds[i].Check(t, m)
			}
		}
	}
}

func TestDiscoveryOfOldNode(t *testing.T) {
	f := frame.DiscoveryFields{Type: frame.Request, Capabilities: 0xfdf, Signature: 0x8001, Prev: 0x01001002, NetID: 4711, MAC: frame.MAC{2, 0, 0, 0, 0, 9}}
	b := f.Append(nil)
	m, err := frame.Parse(b)
	if err != nil || len(b) != frame.DiscLen {
		t.Fatalf("got %d bytes, %v, want %d, nil", len(b), err, frame.DiscLen)
	}
	d, err := frame.ParseDiscovery(m)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.Identity().String(), "1001002"; got != want {
		t.Errorf("identity: got %v, want %v", got, want)
	}
}

func TestEthernet(t *testing.T) {
	a, z := frame.MAC{0x52, 0x54, 0, 0xaa, 0, 1}, frame.BroadcastMAC
	b := make([]byte, 20)
	frame.PutEthernet(b, z, a)
	for n := range frame.EthernetLen {
		if _, _, err := frame.ParseEthernet(b[:n]); err != frame.ErrTruncated {
			t.Errorf("cut to %d: got %v, want %v", n, err, frame.ErrTruncated)
		}
	}
	h, payload, err := frame.ParseEthernet(b)
	if err != nil || h.Dst() != z || h.Src() != a || len(payload) != 6 {
		t.Errorf("got %v>%v, %d bytes, %v, want %v>%v, 6, nil", h.Src(), h.Dst(), len(payload), err, a, z)
	}
	for _, typ := range []uint16{0x8100, 0x88a8, 0x0800, 0x88cb, 46} {
		binary.BigEndian.PutUint16(b[12:], typ)
		if _, _, err := frame.ParseEthernet(b); err != frame.ErrNotTIPC {
			t.Errorf("type %04x: got %v, want %v", typ, err, frame.ErrNotTIPC)
		}
	}
	if !z.IsGroup() || a.IsGroup() || !(frame.MAC{0x33, 0x33}).IsGroup() {
		t.Errorf("IsGroup: got %v %v %v, want true false true", z.IsGroup(), a.IsGroup(), frame.MAC{0x33, 0x33}.IsGroup())
	}
	if got, want := a.String(), "52:54:00:aa:00:01"; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestImportance(t *testing.T) {
	for _, c := range []struct {
		name string
		b    []byte
		want frame.Importance
	}{
		{"low", samples.Head(samples.Word0(2, 0, 24, 24), 24), frame.Low},
		{"critical", samples.Head(samples.Word0(2, 3, 24, 24), 24), frame.Critical},
		{"returned", func() []byte { b := samples.Head(samples.Word0(2, 1, 24, 24), 24); b[4] = 2 << 1; return b }(), frame.System},
		{"bundle", func() []byte { b := samples.Head(samples.Word0(2, 6, 40, 40), 40); b[39] = 2; return b }(), frame.High},
		{"bundle of names", func() []byte { b := samples.Head(samples.Word0(2, 6, 40, 40), 40); b[39] = 4; return b }(), frame.System},
		{"fragment of no importance there is", func() []byte { b := samples.Head(samples.Word0(2, 12, 40, 40), 40); b[39] = 7; return b }(), frame.System},
		{"short bundle", samples.Head(samples.Word0(2, 6, 24, 24), 24), frame.System},
		{"names", samples.Head(samples.Word0(2, 11, 40, 40), 40), frame.System},
		{"link", samples.Head(samples.Word0(2, 7, 40, 40), 40), frame.System},
	} {
		m, err := frame.Parse(c.b)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Importance(); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestDestNode(t *testing.T) {
	for i, want := range []bool{true, true, true, false, true, true, true, true, true, true, true, false, true, false} {
		m, _ := frame.Parse(samples.OfEachKind(t)[i])
		a, ok := m.DestNode()
		if ok && a == 0 && m.NonSeq() { // to all
			ok = false
		}
		if ok != want || ok && a == 0 {
			t.Errorf("%s: got %v, %v, want %v", samples.Kinds[i].Name, a, ok, want)
		}
	}
	short, _ := frame.Parse(samples.Head(samples.Word0(2, 0, 24, 60), 60))
	if a, ok := short.DestNode(); ok {
		t.Errorf("24-byte header: got %v, want none", a)
	}
}

func TestStamp(t *testing.T) {
	f := frame.PayloadFields{Common: frame.Common{Prev: 1, Seq: 9}, Type: frame.NamedMsg, Error: frame.NoName}
	b := f.Append(nil, []byte("x"))
	frame.StampAcks(b, 0x1234, 0xabcd)
	frame.StampSeq(b, 0xfff0)
	f.Ack, f.BcastAck, f.Seq = 0x1234, 0xabcd, 0xfff0
	if want := f.Append(nil, []byte("x")); !bytes.Equal(b, want) {
		t.Errorf("got %x, want %x", b, want)
	}
}

// A packet of the broadcast link, whatever stood there: capture 15, frame 53, and a message
// with the shortest header.
func TestStampBroadcast(t *testing.T) {
	want := samples.Message(t, "15", 53)
	b := bytes.Clone(want)
	b[1] &^= 1 << 4
	for _, i := range []int{6, 7, 8, 9, 10, 11, 20, 21, 22, 23} {
		b[i] = 0xee
	}
	if frame.StampBroadcast(b, 2, 4711); !bytes.Equal(b, want) {
		t.Errorf("got %x, want %x", b[:44], want[:44])
	}
	short := samples.Head(samples.Word0(2, 0, 24, 24), 24)
	frame.StampBroadcast(short, 0xfff0, 0x01020304)
	if m, err := frame.Parse(short); err != nil || !m.NonSeq() || m.Seq() != 0xfff0 || m.NetID() != 0x01020304 {
		t.Errorf("got %v %x", err, short)
	}
}

func TestClaimedSize(t *testing.T) {
	if got := frame.ClaimedSize(samples.Head(samples.Word0(2, 15, 60, 0x1fffe), 24)); got != 0x1fffe {
		t.Errorf("got %d, want %d", got, 0x1fffe)
	}
}

func TestRange(t *testing.T) {
	for _, c := range []struct {
		typ    frame.PayloadType
		want   frame.Range
		wantOK bool
	}{
		{frame.ConnMsg, frame.Range{}, false},
		{frame.DirectMsg, frame.Range{}, false},
		{frame.NamedMsg, frame.Range{Type: 1, Lower: 2, Upper: 2}, true},
		{frame.McastMsg, frame.Range{Type: 1, Lower: 2, Upper: 3}, true},
		{frame.GroupUcastMsg, frame.Range{Type: 1, Lower: 2, Upper: 3}, false},
	} {
		f := frame.PayloadFields{Type: c.typ, NameType: 1, Lower: 2, Upper: 3}
		m, _ := frame.Parse(f.Append(nil, nil))
		p, err := frame.ParsePayload(m)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := p.Range(); got != c.want || ok != c.wantOK {
			t.Errorf("%v: got %v, %v, want %v, %v", c.typ, got, ok, c.want, c.wantOK)
		}
	}
}

func TestIfName(t *testing.T) {
	for in, want := range map[string]string{
		"eth0\x00junk":      "eth0",
		"":                  "",
		"abcdefghijklmnop":  "abcdefghijklmno", // the last byte is for the NUL
		"a\nb\x1b[31m\xff ": "a.b.[31m..",
	} {
		f := frame.ResetFields{}
		copy(f.IfName[:], in)
		m, _ := frame.Parse(f.Append(nil))
		l, err := frame.ParseLink(m)
		if err != nil {
			t.Fatal(err)
		}
		r, _ := l.Reset()
		if got := r.IfName(); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// TestLinkMessage reads through the common view what the two kinds' fields say.
func TestLinkMessage(t *testing.T) {
	info := frame.LinkInfo{
		LastBcast: 1, NextSent: 2, Session: 3, BcastAckInvalid: true, PeerStopping: true, RedundantLink: true,
		Bearer: 2, Priority: 10, Plane: 1, Tolerance: 1500, Orig: 4, Dest: 5,
	}
	state := frame.StateFields{LinkInfo: info}
	reset := frame.ResetFields{LinkInfo: info}
	activate := frame.ResetFields{LinkInfo: info, Activate: true}
	for i, b := range [][]byte{state.Append(nil, nil), reset.Append(nil), activate.Append(nil)} {
		m, err := frame.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		l, err := frame.ParseLink(m)
		if err != nil {
			t.Fatal(err)
		}
		if l.IsState() != (i == 0) || l.IsReset() != (i == 1) || l.IsActivate() != (i == 2) {
			t.Errorf("type %d: got state %v, reset %v, activate %v", i, l.IsState(), l.IsReset(), l.IsActivate())
		}
		got := frame.LinkInfo{
			LastBcast: l.LastBcast(), NextSent: 2, Session: l.Session(), BcastAckInvalid: l.BcastAckInvalid(), PeerStopping: true,
			RedundantLink: l.RedundantLink(), Bearer: 2, Priority: 10, Plane: 1, Tolerance: 1500, Orig: 4, Dest: 5,
		}
		if got != info || l.Info() != info {
			t.Errorf("type %d: got %+v and %+v, want %+v", i, got, l.Info(), info)
		}
		if r, ok := l.Reset(); ok != (i > 0) || ok && !r.PeerStopping() {
			t.Errorf("type %d: got reset %v, want %v, stopping", i, ok, i > 0)
		}
	}
}

// TestFragmentOriginal: of a first piece the header is read if it is sound and all there, whatever
// of the data is; Check takes the fragment all the same.
//
// Mutation it catches: Original without the comparison of the header's length with the piece's.
func TestFragmentOriginal(t *testing.T) {
	whole := (&frame.PayloadFields{Type: frame.DirectMsg, OrigPort: 7}).Append(nil, make([]byte, 100))
	for _, c := range []struct {
		name  string
		f     frame.FragmentFields
		piece []byte
		ok    bool
	}{
		{"first", frame.FragmentFields{Type: frame.FirstFragment}, whole[:60], true},
		{"the header alone", frame.FragmentFields{Type: frame.FirstFragment}, whole[:frame.BasicLen], true},
		{"a part of the header", frame.FragmentFields{Type: frame.FirstFragment}, whole[:frame.BasicLen-4], false},
		{"nothing", frame.FragmentFields{Type: frame.FirstFragment}, nil, false},
		{"another version", frame.FragmentFields{Type: frame.FirstFragment}, make([]byte, 60), false},
		{"middle", frame.FragmentFields{Type: frame.MiddleFragment}, whole[:60], false},
	} {
		m, err := frame.Parse(c.f.Append(nil, c.piece))
		if err != nil || m.Check() != nil {
			t.Fatalf("%s: got %v and %v, want nil", c.name, err, m.Check())
		}
		f, err := frame.ParseFragment(m)
		if err != nil {
			t.Fatal(err)
		}
		in, ok := f.Original()
		if ok != c.ok || ok && (in.Word(4) != 7 || len(in.Data()) != len(c.piece)-frame.BasicLen) {
			t.Errorf("%s: got %v, %x", c.name, ok, in.Bytes())
		}
	}
}
