// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/internal/samples"
)

const (
	nodeA = frame.NodeAddr(0x01001001)
	nodeB = frame.NodeAddr(0x01001002)
	node1 = frame.NodeAddr(0x11111111)
	node2 = frame.NodeAddr(0x22222222)
)

// TestGolden holds both halves of the package to bytes written down in the
// specification, whose sections the names give.
//
// Proves: wire.bytes
func TestGolden(t *testing.T) {
	macA := frame.MAC{0x52, 0x54, 0x61, 0x4f, 0xd8, 0x00}
	for _, c := range []struct {
		name   string
		hex    string
		parse  func(frame.Message) (any, []byte, error)
		fields any
		data   string
	}{
		{
			"01 §4.1 rejected",
			"41000052 04000000 00100003 01001002 0000bbbb 0000aaaa 01001002 01001001" + strings.Repeat("78", 50),
			parsePayload,
			frame.PayloadFields{
				Common: frame.Common{Ack: 0x10, Seq: 3, Prev: nodeB}, Type: frame.ConnMsg, Long: true,
				Error: frame.NoPort, OrigPort: 0xbbbb, DestPort: 0xaaaa, OrigNode: nodeB, DestNode: nodeA,
			},
			strings.Repeat("x", 50),
		},
		{
			"01 §4.2 bcast init",
			"4b400028 00000000 00000001 01001001 00000000 00004000 01001001 01001002 00000000 00000000",
			parseBcastInit,
			frame.BcastInitFields{Common: frame.Common{Seq: 1, Prev: nodeA}, BcastAckInvalid: true, Orig: nodeA, Dest: nodeB},
			"",
		},
		{
			"01 §4.2 bcast init after five broadcasts",
			"4b400028 00000000 00000001 01001001 00050000 00004000 01001001 01001002 00000000 00000000",
			parseBcastInit,
			frame.BcastInitFields{Common: frame.Common{Seq: 1, Prev: nodeA}, LastBcast: 5, BcastAckInvalid: true, Orig: nodeA, Dest: nodeB},
			"",
		},
		{
			"03 §2.5 request", // with the layout of 01 §4.9
			`5bf0004c 07ffd7fd 00000000 01001001 00001267 00000001 5254614f d8000000 00000000 00000000
			00000000 00000000 00000000 112657fd 00000000 31303031303031 000000000000000000`,
			parseDiscovery,
			frame.DiscoveryFields{
				Type: frame.Request, Capabilities: 0xfff, Signature: 0xd7fd, Prev: nodeA, NetID: 4711,
				MAC: macA, NetHash: 0x112657fd, Identity: frame.AddrIdentity(nodeA),
			},
			"",
		},
		{
			"03 §2.5 response",
			`5bf0004c 27ffd7fd 01001002 01001001 00001267 00000001 5254614f d8000000 00000000 00000000
			00000000 00000000 00000000 112657fd 00000000 31303031303031 000000000000000000`,
			parseDiscovery,
			frame.DiscoveryFields{
				Type: frame.Response, Capabilities: 0xfff, Signature: 0xd7fd, Dest: nodeB, Prev: nodeA, NetID: 4711,
				MAC: macA, NetHash: 0x112657fd, Identity: frame.AddrIdentity(nodeA),
			},
			"",
		},
		{
			"03 §2.4 trial fail",
			`5bf0004c 67ff9675 01020304 01020304 00001267 00000001 5254614f d8000000 00000000 00000000
			00000000 00000000 00000000 da2a1675 db281571 01020304 11111111 22222222 33333333`,
			parseDiscovery,
			frame.DiscoveryFields{
				Type: frame.TrialFail, Capabilities: 0xfff, Signature: 0x9675, Dest: 0x01020304, Prev: 0x01020304,
				NetID: 4711, MAC: macA, NetHash: 0xda2a1675, Suggested: 0xdb281571,
				Identity: frame.Identity{1, 2, 3, 4, 0x11, 0x11, 0x11, 0x11, 0x22, 0x22, 0x22, 0x22, 0x33, 0x33, 0x33, 0x33},
			},
			"",
		},
		{
			"02 §11 reset",
			"4f400038 20000000 00008000 01001001 00000001 c7184000 01001001 01001002 00000000 01770000 65746830000000000000000000000000",
			parseReset,
			frame.ResetFields{
				Common:    frame.Common{Seq: 0x8000, Prev: nodeA},
				LinkInfo:  frame.LinkInfo{NextSent: 1, Session: 0xc718, BcastAckInvalid: true, Orig: nodeA, Dest: nodeB},
				MaxPacket: 1500, IfName: ifName("eth0"),
			},
			"",
		},
		{
			"02 §11 activate",
			"4f400038 4001c718 00008000 01001002 00000001 60e04000 01001002 01001001 00000000 01770000 65746830000000000000000000000000",
			parseReset,
			frame.ResetFields{
				Common:   frame.Common{Seq: 0x8000, Prev: nodeB},
				LinkInfo: frame.LinkInfo{NextSent: 1, Session: 0x60e0, BcastAckInvalid: true, Orig: nodeB, Dest: nodeA},
				Activate: true, DestSession: 0xc718, DestSessionValid: true, MaxPacket: 1500, IfName: ifName("eth0"),
			},
			"",
		},
		{
			"02 §11 first state",
			"4f40002c 00000000 00000001 01001001 00000001 c7184000 01001001 01001002 00000000 00000000 00040000",
			parseState,
			frame.StateFields{
				Common:   frame.Common{Seq: 1, Prev: nodeA},
				LinkInfo: frame.LinkInfo{NextSent: 1, Session: 0xc718, BcastAckInvalid: true, Orig: nodeA, Dest: nodeB},
			},
			"\x00\x04\x00\x00",
		},
		{
			"02 §11 probe",
			"4f48002c 00000000 00020003 01001001 00000003 c7181001 01001001 01001002 00000000 00000000 00040000",
			parseState,
			frame.StateFields{
				Common:   frame.Common{Ack: 2, Seq: 3, Prev: nodeA},
				LinkInfo: frame.LinkInfo{NextSent: 3, Session: 0xc718, RedundantLink: true, Orig: nodeA, Dest: nodeB},
				Probe:    true, Keepalive: true,
			},
			"\x00\x04\x00\x00",
		},
		{
			"02 §11 gap",
			`4f400034 00010000 000e0004 01001002 00010003 1b4b1000 01001002 01001001 00000000 00000000
			000c0200 001b0001 00230000`,
			parseState,
			frame.StateFields{
				Common:   frame.Common{Ack: 14, Seq: 4, Prev: nodeB},
				LinkInfo: frame.LinkInfo{LastBcast: 1, NextSent: 3, Session: 0x1b4b, RedundantLink: true, Orig: nodeB, Dest: nodeA},
				Gap:      1,
			},
			"\x00\x0c\x02\x00\x00\x1b\x00\x01\x00\x23\x00\x00",
		},
		{
			"03 §6.3 node state",
			`5740003c 1c000000 00000002 01001001 00000001 00004000 01001001 01001002 00000000 00000000
			00000000 01001001 01001001 00000000 01001001`,
			parseNames,
			frame.NamesFields{
				Common: frame.Common{Seq: 2, Prev: nodeA}, Bulk: true, LastBulk: true, NonLegacy: true, UpdateSeq: 1,
				BcastAckInvalid: true, Orig: nodeA, Dest: nodeB,
			},
			"\x00\x00\x00\x00\x01\x00\x10\x01\x01\x00\x10\x01\x00\x00\x00\x00\x01\x00\x10\x01",
		},
		{
			"05 §2.1 bulk",
			`57400050 1c000000 00010002 11111111 00000003 00004000 11111111 22222222 00000000 00000000
			00000000 11111111 11111111 00000000 11111111 000049c8 00000011 00000011 50000001 50000002`,
			parseNames,
			frame.NamesFields{
				Common: frame.Common{Ack: 1, Seq: 2, Prev: node1}, Bulk: true, LastBulk: true, NonLegacy: true, UpdateSeq: 3,
				BcastAckInvalid: true, Orig: node1, Dest: node2,
			},
			"\x00\x00\x00\x00\x11\x11\x11\x11\x11\x11\x11\x11\x00\x00\x00\x00\x11\x11\x11\x11" +
				"\x00\x00\x49\xc8\x00\x00\x00\x11\x00\x00\x00\x11\x50\x00\x00\x01\x50\x00\x00\x02",
		},
		{
			"05 §2.1 broadcast",
			`5750003c 04000000 00000009 11111111 00000003 00001267 11111111 00000000 00000000 00000000
			000049c8 00000011 00000011 50000001 50000002`,
			parseNames,
			frame.NamesFields{Common: frame.Common{Seq: 9, Prev: node1, NonSeq: true}, NonLegacy: true, UpdateSeq: 3, NetID: 4711, Orig: node1},
			"\x00\x00\x49\xc8\x00\x00\x00\x11\x00\x00\x00\x11\x50\x00\x00\x01\x50\x00\x00\x02",
		},
		{
			"05 §2.1 withdrawal",
			`5740003c 24000000 0009000c 11111111 00000004 00000000 11111111 22222222 00000000 00000000
			000049c8 00000011 00000011 50000001 50000002`,
			parseNames,
			frame.NamesFields{Common: frame.Common{Ack: 9, Seq: 12, Prev: node1}, Withdrawal: true, NonLegacy: true, UpdateSeq: 4, Orig: node1, Dest: node2},
			"\x00\x00\x49\xc8\x00\x00\x00\x11\x00\x00\x00\x11\x50\x00\x00\x01\x50\x00\x00\x02",
		},
		{
			"07 §4.3 connection request",
			"41420028 40100007 00040005 11111111 c0000001 50000001 11111111 22222222 000049c8 00000011",
			parsePayload,
			frame.PayloadFields{
				Common: frame.Common{Ack: 4, Seq: 5, BcastAck: 7, Prev: node1}, Type: frame.NamedMsg, Syn: true,
				Scope: frame.ClusterScope, OrigPort: 0xc0000001, DestPort: 0x50000001, OrigNode: node1, DestNode: node2, NameType: 18888, Lower: 17,
			},
			"",
		},
		{
			"07 §4.3 its answer",
			"40c00018 00000003 00050005 22222222 50000002 c0000001",
			parsePayload,
			frame.PayloadFields{
				Common: frame.Common{Ack: 5, Seq: 5, BcastAck: 3, Prev: node2}, Type: frame.ConnMsg,
				OrigPort: 0x50000002, DestPort: 0xc0000001, OrigNode: node2,
			},
			"",
		},
		{
			"07 §4.3 data",
			"40c0001d 00000007 00050006 11111111 c0000001 50000002 68656c6c6f",
			parsePayload,
			frame.PayloadFields{
				Common: frame.Common{Ack: 5, Seq: 6, BcastAck: 7, Prev: node1}, Type: frame.ConnMsg,
				OrigPort: 0xc0000001, DestPort: 0x50000002, OrigNode: node1,
			},
			"hello",
		},
		{
			"07 §4.3 ack",
			"51400028 40000003 00280029 22222222 50000002 c0000001 22222222 11111111 00000000 00210200",
			parseConn,
			frame.ConnFields{
				Common: frame.Common{Ack: 0x28, Seq: 0x29, BcastAck: 3, Prev: node2}, Type: frame.ConnAck,
				OrigPort: 0x50000002, DestPort: 0xc0000001, Orig: node2, Dest: node1, Acked: 33, Window: 512,
			},
			"",
		},
		{
			"07 §4.3 probe",
			"51400028 00000007 0029002a 11111111 c0000001 50000002 11111111 22222222 00000000 00000000",
			parseConn,
			frame.ConnFields{
				Common: frame.Common{Ack: 0x29, Seq: 0x2a, BcastAck: 7, Prev: node1}, Type: frame.ConnProbe,
				OrigPort: 0xc0000001, DestPort: 0x50000002, Orig: node1, Dest: node2,
			},
			"",
		},
		{
			"07 §4.3 probe reply",
			"51400028 20000003 002a002a 22222222 50000002 c0000001 22222222 11111111 00000000 00000000",
			parseConn,
			frame.ConnFields{
				Common: frame.Common{Ack: 0x2a, Seq: 0x2a, BcastAck: 3, Prev: node2}, Type: frame.ConnProbeReply,
				OrigPort: 0x50000002, DestPort: 0xc0000001, Orig: node2, Dest: node1,
			},
			"",
		},
		{
			"07 §4.3 shutdown",
			"46c00018 0a000007 002a002b 11111111 c0000001 50000002",
			parsePayload,
			frame.PayloadFields{
				Common: frame.Common{Ack: 0x2a, Seq: 0x2b, BcastAck: 7, Prev: node1}, Importance: frame.Critical,
				Type: frame.ConnMsg, Error: frame.ConnShutdown, OrigPort: 0xc0000001, DestPort: 0x50000002, OrigNode: node1,
			},
			"",
		},
		{
			"07 §6.2 returned",
			"41000025 04000003 002a002b 22222222 50000002 c0000001 22222222 11111111 68656c6c6f",
			parsePayload,
			frame.PayloadFields{
				Common: frame.Common{Ack: 0x2a, Seq: 0x2b, BcastAck: 3, Prev: node2}, Type: frame.ConnMsg, Long: true,
				Error: frame.NoPort, OrigPort: 0x50000002, DestPort: 0xc0000001, OrigNode: node2, DestNode: node1,
			},
			"hello",
		},
		{
			"01 §7 last fragment",
			"5940005c 40000001 0008000a 01001001 00020000 00000000 01001001 01001002 00000000 00000000" + strings.Repeat("7a", 52),
			parseFragment,
			frame.FragmentFields{
				Common: frame.Common{Ack: 8, Seq: 10, BcastAck: 1, Prev: nodeA}, Type: frame.LastFragment, Number: 2,
				Orig: nodeA, Dest: nodeB,
			},
			strings.Repeat("z", 52),
		},
		{
			"08 §2.1 join",
			"53480028 00000000 00010009 11111111 c0000001 50000002 11111111 22222222 00000000 00010041",
			parseGroup,
			frame.GroupFields{
				Common: frame.Common{Ack: 1, Seq: 9, Prev: node1}, Type: frame.GroupJoin, DestDroppable: true,
				OrigPort: 0xc0000001, DestPort: 0x50000002, Orig: node1, Dest: node2, Number: 1, Window: 65,
			},
			"",
		},
		{
			"02 §10.1 synch",
			"55400028 00000002 00000001 01001001 00000000 00000200 01001001 01001002 00000000 00af0000",
			parseTunnel,
			frame.TunnelFields{
				Common: frame.Common{Seq: 1, BcastAck: 2, Prev: nodeA}, Type: frame.TunnelSynch, Bearer: 1,
				Orig: nodeA, Dest: nodeB, Count: 175,
			},
			"",
		},
		{
			"04 §7 nack",
			"4b500028 00000001 00010002 01001002 00000000 00001267 01001002 01001001 00000000 00000000",
			parseBcastNack,
			frame.BcastNackFields{Ack: 1, After: 1, To: 2, Prev: nodeB, NetID: 4711, Orig: nodeB, Dest: nodeA},
			"",
		},
	} {
		b := samples.Unhex(t, c.hex)
		m, err := frame.Parse(b)
		if err != nil || len(m.Bytes()) != len(b) {
			t.Errorf("%s: got %d bytes, %v, want %d, nil", c.name, len(m.Bytes()), err, len(b))
			continue
		}
		got, data, err := c.parse(m)
		if err != nil || !reflect.DeepEqual(got, c.fields) || string(data) != c.data {
			t.Errorf("%s: got %+v, %q, %v, want %+v, %q", c.name, got, data, err, c.fields, c.data)
		}
		if got := build(c.fields, nil, []byte(c.data)); !bytes.Equal(got, b) {
			t.Errorf("%s: got %x, want %x", c.name, got, b)
		}
	}
}

// TestGoldenBundle takes apart and puts together the two messages of 01 §6.
//
// Proves: wire.bytes
func TestGoldenBundle(t *testing.T) {
	b := samples.Unhex(t, samples.Bundle)
	fields := frame.BundleFields{Common: frame.Common{Ack: 50, Seq: 200, BcastAck: 9, Prev: 0x525500aa}, Count: 2, Orig: 0x525500aa, Dest: 0x525500ab}
	direct := frame.PayloadFields{
		Common: frame.Common{Prev: 0x525500aa}, Type: frame.DirectMsg,
		OrigPort: 0x11223344, DestPort: 0x55667788, OrigNode: 0x525500aa, DestNode: 0x525500ab,
	}
	conn := frame.PayloadFields{
		Common: frame.Common{Prev: 0x525500aa}, Importance: frame.Medium, Type: frame.ConnMsg,
		OrigPort: 0xa1a2a3a4, DestPort: 0xb1b2b3b4, OrigNode: 0x525500aa,
	}

	inside := direct.Append(nil, []byte("hello"))
	inside = append(inside, 0, 0, 0)
	inside = conn.Append(inside, []byte("abc"))
	if got := fields.Append(nil, inside); !bytes.Equal(got, b) {
		t.Errorf("got %x, want %x", got, b)
	}

	m, err := frame.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	u, err := frame.ParseBundle(m)
	if err != nil || u.Fields() != fields {
		t.Fatalf("got %+v, %v, want %+v", u.Fields(), err, fields)
	}
	var got []any
	for m, err := range u.Messages() {
		if err != nil {
			t.Fatal(err)
		}
		f, data, err := parsePayload(m)
		got = append(got, f, string(data), err)
	}
	if want := []any{direct, "hello", error(nil), conn, "abc", error(nil)}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestGoldenFrames checks the frames of captures that the specification quotes.
//
// Proves: wire.bytes
func TestGoldenFrames(t *testing.T) {
	for _, c := range []struct {
		name, number string
		frame        int
		hex          string
	}{
		{"01 §4.2", "01", 13, "4b400028 00000000 00000001 01001001 00000000 00004000 01001001 01001002 00000000 00000000"},
		{"01 §6", "13", 77, "4d40053c 00000001 00020035 01001001 00000000 00000000 01001001 01001002 00000000 000d0000 41480064"},
		{"01 §7, first", "06", 37, `59400594 00000001 00080009 01001001 00010000 00000000 01001001 01001002 00000000 00000000
			414805a0 40100000 00000000 01001001 66327553 44caefcb 01001001`},
		{"01 §7, last", "06", 38, "5940005c 40000001 0008000a 01001001 00020000 00000000 01001001 01001002 00000000 00000000"},
		{"02 §11, reset", "01", 8, "4f400038 20000000 00008000 01001001 00000001 c7184000 01001001 01001002 00000000 01770000 65746830"},
		{"02 §11, activate", "01", 11, "4f400038 4001c718 00008000 01001002 00000001 60e04000 01001002 01001001 00000000 01770000"},
		{"02 §11, first state", "01", 12, "4f40002c 00000000 00000001 01001001 00000001 c7184000 01001001 01001002 00000000 00000000 00040000"},
		{"02 §11, probe", "01", 22, "4f48002c 00000000 00020003 01001001 00000003 c7181001 01001001 01001002 00000000 00000000 00040000"},
		{"02 §11, probe reply", "01", 23, "4f48002c 00000000 00020003 01001002 00000003 60e01000 01001002 01001001 00000000 00000000 00040000"},
		{"03 §2.4", "03", 13, `5bf0004c 67ff9675 01020304 01020304 00001267 00000001 5254614f d8000000 00000000 00000000
			00000000 00000000 00000000 da2a1675 db281571 01020304 11111111 22222222 33333333`},
		{"03 §2.5", "01", 1, `5bf0004c 07ffd7fd 00000000 01001001 00001267 00000001 5254614f d8000000 00000000 00000000
			00000000 00000000 00000000 112657fd 00000000 31303031303031 000000000000000000`},
		{"03 §6.3", "01", 15, `5740003c 1c000000 00000002 01001001 00000001 00004000 01001001 01001002 00000000 00000000
			00000000 01001001 01001001 00000000 01001001`},
	} {
		got, want := samples.Message(t, c.number, c.frame), samples.Unhex(t, c.hex)
		if !bytes.HasPrefix(got, want) {
			t.Errorf("%s: capture %s frame %d: got %x, want %x", c.name, c.number, c.frame, got, want)
		}
	}
}
