// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/internal/samples"
)

// A maker fills in fields with values each of which is legal, at random.
type maker struct{ *rand.Rand }

func (r maker) seq() frame.Seq       { return frame.Seq(r.Uint32()) }
func (r maker) node() frame.NodeAddr { return frame.NodeAddr(r.Uint32()) }
func (r maker) yes() bool            { return r.Uint32()&1 != 0 }
func (r maker) data() []byte {
	b := make([]byte, r.IntN(80))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func (r maker) common(nonSeq bool) frame.Common {
	return frame.Common{Seq: r.seq(), Ack: r.seq(), BcastAck: r.seq(), Prev: r.node(), NonSeq: nonSeq}
}

func (r maker) linkInfo() frame.LinkInfo {
	return frame.LinkInfo{
		LastBcast: r.seq(), NextSent: r.seq(), Session: r.seq(), BcastAckInvalid: r.yes(), PeerStopping: r.yes(),
		RedundantLink: r.yes(), Bearer: uint8(r.IntN(8)), Priority: uint8(r.IntN(32)), Plane: uint8(r.IntN(8)),
		Tolerance: uint16(r.Uint32()), Orig: r.node(), Dest: r.node(),
	}
}

// broadcast returns what only a message on the broadcast link has.
func (r maker) broadcast() (nonSeq bool, netID uint32) {
	if r.yes() {
		return true, r.Uint32()
	}
	return false, 0
}

// fields returns the fields of one message of each kind and the data behind them,
// in the order of kinds.
func (r maker) fields() (all []any, data [][]byte) {
	add := func(f any, b []byte) { all, data = append(all, f), append(data, b) }

	p := frame.PayloadFields{
		Common: r.common(r.yes()), Importance: frame.Importance(r.IntN(4)), DestDroppable: r.yes(), SrcDroppable: r.yes(),
		Syn: r.yes(), Error: frame.ErrorCode(r.IntN(16)), Reroute: uint8(r.IntN(16)), Scope: frame.Scope(r.IntN(4)), OrigPort: r.Uint32(), DestPort: r.Uint32(),
	}
	p.Type = [...]frame.PayloadType{
		frame.ConnMsg, frame.McastMsg, frame.NamedMsg, frame.DirectMsg,
		frame.GroupBcastMsg, frame.GroupMcastMsg, frame.GroupUcastMsg,
	}[r.IntN(7)]
	p.Long = p.Type == frame.ConnMsg && r.yes()
	p.OrigNode = p.Prev
	if p.Len() >= frame.BasicLen {
		p.OrigNode, p.DestNode = r.node(), r.node()
	}
	if p.Len() >= frame.NamedLen {
		p.NameType, p.Lower = r.Uint32(), r.Uint32()
	}
	if p.Len() >= frame.McastLen {
		p.Upper = r.Uint32()
	}
	add(p, r.data())

	add(frame.StateFields{Common: r.common(false), LinkInfo: r.linkInfo(), Probe: r.yes(), Keepalive: r.yes(), Gap: r.IntN(8192), BcastGap: r.IntN(1024)}, r.data())

	s := frame.ResetFields{Common: r.common(false), LinkInfo: r.linkInfo(), Activate: r.yes(), MaxPacket: 4 * r.IntN(1<<16)}
	copy(s.IfName[:], r.data())
	if s.Activate {
		s.BcastAck, s.DestSession, s.DestSessionValid = 0, r.seq(), r.yes()
	}
	add(s, nil)

	d := frame.DiscoveryFields{
		Type: frame.DiscoveryType(r.IntN(4)), Capabilities: frame.Capabilities(r.IntN(1 << 13)), Signature: uint16(r.IntN(1 << 15)),
		Dest: r.node(), Prev: r.node(), NetID: r.Uint32(), MAC: frame.MAC{2, byte(r.Uint32()), 3}, NetHash: r.Uint32(), Suggested: r.node(), Identity: frame.Identity{1, byte(r.Uint32())},
	}
	if d.Capabilities.Has(frame.CapSynBit) {
		d.Signature |= 1 << 15
	}
	if !d.Capabilities.Has(frame.CapNodeID128) {
		d.Identity = frame.AddrIdentity(d.Prev)
	} else if d.Type == frame.Response && r.yes() {
		d.Challenge, d.Echo = r.Uint64(), 1
	}
	add(d, nil)

	nonSeq, netID := r.broadcast()
	add(frame.NamesFields{
		Common: r.common(nonSeq), Withdrawal: r.yes(), Bulk: r.yes(), LastBulk: r.yes(), NonLegacy: r.yes(), UpdateSeq: r.seq(),
		BcastAckInvalid: !nonSeq && r.yes(), NetID: netID, Orig: r.node(), Dest: r.node(),
	}, r.data())

	add(frame.BcastInitFields{Common: r.common(false), LastBcast: r.seq(), BcastAckInvalid: r.yes(), Orig: r.node(), Dest: r.node()}, nil)

	add(frame.ConnFields{
		Common: r.common(r.yes()), Type: frame.ConnType(r.IntN(3)), Error: frame.ErrorCode(r.IntN(16)), NagleAck: r.yes(),
		OrigPort: r.Uint32(), DestPort: r.Uint32(), Orig: r.node(), Dest: r.node(), Acked: uint16(r.Uint32()), Window: uint16(r.Uint32()),
	}, nil)

	nonSeq, netID = r.broadcast()
	add(frame.FragmentFields{
		Common: r.common(nonSeq), Type: frame.FragmentType(r.IntN(3)), Number: uint16(r.Uint32()), Importance: frame.Importance(r.IntN(5)),
		NetID: netID, Orig: r.node(), Dest: r.node(),
	}, r.data())

	nonSeq, netID = r.broadcast()
	add(frame.BundleFields{
		Common: r.common(nonSeq), Count: uint16(r.Uint32()), Importance: frame.Importance(r.IntN(5)),
		NetID: netID, Orig: r.node(), Dest: r.node(),
	}, r.data())

	add(frame.GroupFields{
		Common: r.common(false), Type: frame.GroupType(r.IntN(6)), DestDroppable: r.yes(), OrigPort: r.Uint32(), DestPort: r.Uint32(),
		Orig: r.node(), Dest: r.node(), Number: uint16(r.Uint32()), Window: uint16(r.Uint32()),
	}, nil)

	x, inside := frame.TunnelFields{
		Common: r.common(false), Type: frame.TunnelType(r.IntN(2)), Bearer: uint8(r.IntN(8)), Orig: r.node(), Dest: r.node(),
		Count: uint16(1 + r.IntN(1<<16-1)),
	}, append(make([]byte, frame.ShortLen), r.data()...)
	if x.Type == frame.TunnelFailover && r.yes() {
		x.Pieces = uint16(2 + r.IntN(50))
		x.Piece = uint16(2 + r.IntN(int(x.Pieces)-1))
		inside = r.data()
	} else if x.Type == frame.TunnelSynch && r.yes() {
		inside = nil
	}
	add(x, inside)

	nonSeq, netID = r.broadcast()
	key := make([]byte, [...]int{20, 28, 36}[r.IntN(3)])
	copy(key, r.data())
	add(frame.KeyFields{Common: r.common(nonSeq), Generation: r.seq(), Mode: frame.KeyMode(r.IntN(16)), NetID: netID, Orig: r.node(), Dest: r.node()}, key)

	add(frame.BcastNackFields{Ack: r.seq(), After: r.seq(), To: r.seq(), Prev: r.node(), LastBcast: r.seq(), NetID: r.Uint32(), Orig: r.node(), Dest: r.node()}, nil)

	d.MAC = frame.MAC{}
	ip := netip.AddrFrom4([4]byte{10, byte(r.Uint32()), 3, 4})
	if r.yes() {
		ip = netip.AddrFrom16([16]byte{0xfe, 0x80, byte(r.Uint32()), 15: 9})
	}
	d.UDP = netip.AddrPortFrom(ip, uint16(1+r.IntN(1<<16-1)))
	add(d, nil)
	return all, data
}

var parsers = []func(frame.Message) (any, []byte, error){
	parsePayload, parseState, parseReset, parseDiscovery, parseNames, parseBcastInit, parseConn, parseFragment, parseBundle,
	parseGroup, parseTunnel, parseKey, parseBcastNack, parseUDPDiscoveryFields,
}

// TestBuiltParses builds what legal fields there are, and reads the same again.
func TestBuiltParses(t *testing.T) {
	r := maker{rand.New(rand.NewPCG(1, 2))}
	for range 2000 {
		fields, data := r.fields()
		for i, f := range fields {
			if i == 4 { // whole items
				data[i] = data[i][:len(data[i])/frame.NameItemLen*frame.NameItemLen]
			}
			b := build(f, nil, data[i])
			m, err := frame.Parse(b)
			if err != nil || len(m.Bytes()) != len(b) {
				t.Fatalf("%s %+v: got %d bytes, %v, want %d, nil", samples.Kinds[i].Name, f, len(m.Bytes()), err, len(b))
			}
			got, gotData, err := parsers[i](m)
			if err != nil || !reflect.DeepEqual(got, f) || !bytes.Equal(gotData, data[i]) {
				t.Fatalf("%s: got %+v, %x, %v, want %+v, %x, nil", samples.Kinds[i].Name, got, gotData, err, f, data[i])
			}
			samples.Kinds[i].Check(t, m)
		}
	}
}

// TestAppendZeroes gives Append memory full of ones: nothing of it may be left.
func TestAppendZeroes(t *testing.T) {
	r := maker{rand.New(rand.NewPCG(3, 4))}
	fields, data := r.fields()
	for i, f := range fields {
		dirty := bytes.Repeat([]byte{0xff}, 256)
		if got, want := build(f, dirty[:3], data[i]), build(f, nil, data[i]); !bytes.Equal(got[3:], want) {
			t.Errorf("%s: got %x, want %x", samples.Kinds[i].Name, got[3:], want)
		}
	}
	n, p := frame.NamesFields{}, frame.PayloadFields{Type: frame.McastMsg}
	for name, put := range map[string]func(b []byte){
		"names":   func(b []byte) { n.Put(b, 0) },
		"payload": func(b []byte) { p.Put(b, 0) },
	} {
		dirty, clean := bytes.Repeat([]byte{0xff}, 60), make([]byte, 60)
		put(dirty)
		put(clean)
		if len := map[string]int{"names": frame.IntLen, "payload": frame.McastLen}[name]; !bytes.Equal(dirty[:len], clean[:len]) || dirty[len] != 0xff {
			t.Errorf("%s Put: got %x, want %x", name, dirty, clean)
		}
	}
}

// TestNetIDOnlyInBroadcast gives a unicast message a network's number, which it
// has no place for.
func TestNetIDOnlyInBroadcast(t *testing.T) {
	for i, f := range map[int]any{4: frame.NamesFields{NetID: 7}, 7: frame.FragmentFields{NetID: 7}, 8: frame.BundleFields{NetID: 7}, 11: frame.KeyFields{NetID: 7}} {
		if b := build(f, nil, nil); binary.BigEndian.Uint32(b[20:]) != 0 {
			t.Errorf("%s: got %#x in word 5, want 0", samples.Kinds[i].Name, binary.BigEndian.Uint32(b[20:]))
		}
	}
}
