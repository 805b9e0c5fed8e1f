// SPDX-License-Identifier: Apache-2.0

package layers_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
)

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

var macs = []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x52, 0x54, 0, 0xaa, 0, 1}

func ip4(proto byte, frag uint16, payload []byte) []byte {
	n := 20 + len(payload)
	return join([]byte{0x45, 0, byte(n >> 8), byte(n), 0, 0, byte(frag >> 8), byte(frag), 64, proto, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2}, payload)
}

func udp(src, dst uint16, payload []byte) []byte {
	n := 8 + len(payload)
	return join([]byte{byte(src >> 8), byte(src), byte(dst >> 8), byte(dst), byte(n >> 8), byte(n), 0, 0}, payload)
}

func TestUnwrap(t *testing.T) {
	msg := []byte("a message")
	pad := make([]byte, 10)
	type4, type6 := []byte{8, 0}, []byte{0x86, 0xdd}
	ip6 := join([]byte{0x60, 0, 0, 0, 0, byte(8 + len(msg)), 17, 64}, make([]byte, 32))
	for _, c := range []struct {
		name  string
		b     []byte
		vlans []uint16
		udp   bool
		want  error
	}{
		{"Ethernet", join(macs, []byte{0x88, 0xca}, msg), nil, false, nil},
		{"VLAN", join(macs, []byte{0x81, 0, 0xe0, 5, 0x88, 0xca}, msg), []uint16{5}, false, nil},
		{"two VLANs", join(macs, []byte{0x88, 0xa8, 0, 9, 0x81, 0, 0x01, 5, 0x88, 0xca}, msg), []uint16{9, 0x105}, false, nil},
		{"UDP to the port", join(macs, type4, ip4(17, 0x4000, udp(9, 6118, msg)), pad), nil, true, nil},
		{"UDP from the port", join(macs, type4, ip4(17, 0, udp(6118, 9, msg))), nil, true, nil},
		{"UDP over IPv6", join(macs, type6, ip6, udp(6118, 6118, msg), pad), nil, true, nil},
		{"UDP, VLAN", join(macs, []byte{0x81, 0, 0, 5}, type4, ip4(17, 0, udp(6118, 6118, msg))), []uint16{5}, true, nil},
		{"another port", join(macs, type4, ip4(17, 0, udp(6117, 6119, msg))), nil, false, frame.ErrNotTIPC},
		{"TCP", join(macs, type4, ip4(6, 0, udp(6118, 6118, msg))), nil, false, frame.ErrNotTIPC},
		{"first fragment", join(macs, type4, ip4(17, 0x2000, udp(6118, 6118, msg))), nil, false, layers.ErrFragment},
		{"later fragment", join(macs, type4, ip4(17, 7, msg)), nil, false, layers.ErrFragment},
		{"IPv6 fragment of TCP", join(macs, type6, []byte{0x60, 0, 0, 0, 0, 0, 44, 64}, make([]byte, 32), []byte{6, 0, 0, 1, 0, 0, 0, 0}), nil, false, frame.ErrNotTIPC},
		{"IPv6 fragment", join(macs, type6, []byte{0x60, 0, 0, 0, 0, 0, 44, 64}, make([]byte, 32), []byte{17, 0, 0, 1, 0, 0, 0, 0}), nil, false, layers.ErrFragment},
		{"IPv6, TCP", join(macs, type6, []byte{0x60, 0, 0, 0, 0, 0, 6, 64}, make([]byte, 32)), nil, false, frame.ErrNotTIPC},
		{"IPv6 of version 4", join(macs, type6, make([]byte, 40)), nil, false, frame.ErrMalformed},
		{"IPv4 of version 0", join(macs, type4, make([]byte, 20)), nil, false, frame.ErrMalformed},
		{"UDP length 7", join(macs, type4, ip4(17, 0, []byte{23, 230, 23, 230, 0, 7, 0, 0, 1})), nil, false, frame.ErrMalformed},
		{"ARP", join(macs, []byte{8, 6}, msg), nil, false, frame.ErrNotTIPC},
		{"empty", nil, nil, false, frame.ErrTruncated},
		{"half a header", macs[:8], nil, false, frame.ErrTruncated},
		{"half a tag", join(macs, []byte{0x81, 0, 0}), nil, false, frame.ErrTruncated},
	} {
		w, m, err := layers.Unwrap(c.b)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if err != nil {
			continue
		}
		if !bytes.Equal(m, msg) || !slices.Equal(w.VLANs, c.vlans) || w.UDP != c.udp {
			t.Errorf("%s: got %q, VLANs %v, UDP %v, want %q, %v, %v", c.name, m, w.VLANs, w.UDP, msg, c.vlans, c.udp)
		}
		if w.Dst != frame.BroadcastMAC || w.Src != (frame.MAC{0x52, 0x54, 0, 0xaa, 0, 1}) {
			t.Errorf("%s: got %v>%v", c.name, w.Src, w.Dst)
		}
		// Cut anywhere it must not panic, nor see more of the message than there is.
		for n := range c.b {
			if _, got, err := layers.Unwrap(c.b[:n]); err == nil && !bytes.HasPrefix(msg, got) {
				t.Errorf("%s cut to %d: got %q", c.name, n, got)
			}
		}
	}
}

// TestUnwrapUDPCaptures checks both UDP bearers. Of the fragments 2 and 6 make a datagram
// whole; the other frames are ARP, IGMP, ICMP.
func TestUnwrapUDPCaptures(t *testing.T) {
	for _, c := range []struct {
		name                       string
		tipc, fragments, otherwise int
	}{
		{"26-udp-multicast", 54, 6, 6},
		{"27-udp-unicast", 47, 12, 10},
	} {
		frames, err := readAll(capture(t, c.name))
		if err != nil {
			t.Fatal(err)
		}
		var tipc, fragments, otherwise int
		var j layers.Joiner
		for i, f := range frames {
			w, m, err := layers.Unwrap(f.Data)
			if errors.Is(err, layers.ErrFragment) {
				var p layers.Piece
				if p, err = j.Add(i+1, f); err != nil {
					t.Fatal(err)
				}
				if err = layers.ErrFragment; p.Whole != nil {
					w, m, err = layers.Unwrap(p.Whole)
				}
			}
			switch {
			case errors.Is(err, layers.ErrFragment):
				fragments++
				continue
			case err != nil:
				otherwise++
				continue
			}
			tipc++
			if _, err := frame.Parse(m); err != nil || !w.UDP {
				t.Errorf("%s frame %d: got %v, UDP %v, want nil, true", c.name, i+1, err, w.UDP)
			}
		}
		if tipc != c.tipc || fragments != c.fragments || otherwise != c.otherwise {
			t.Errorf("%s: got %d, %d, %d, want %d TIPC, %d fragments, %d other", c.name, tipc, fragments, otherwise, c.tipc, c.fragments, c.otherwise)
		}
	}
}

// Proves: wire.hostile
func FuzzUnwrap(f *testing.F) {
	for _, name := range []string{"01-discovery-linkup", "26-udp-multicast"} {
		frames, err := readAll(capture(f, name))
		if err != nil {
			f.Fatal(err)
		}
		for _, x := range frames[:38] { // fragments from 31 on
			f.Add(x.Data)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, m, err := layers.Unwrap(b)
		if err == nil && len(m) > len(b)-frame.EthernetLen {
			t.Errorf("got a message of %d bytes in a frame of %d", len(m), len(b))
		}
		if err != nil && m != nil {
			t.Errorf("got a message and %v", err)
		}
		if err == layers.ErrFragment {
			joinHalves(t, b)
		}
	})
}

// joinHalves gives a fragment to a joiner with others of its datagram: what b holds, at other
// places.
func joinHalves(t *testing.T, b []byte) {
	var j layers.Joiner
	for at := range 4 {
		x := bytes.Clone(b)
		if x[12] == 8 {
			x[21] += byte(at)
			x[20] ^= byte(at<<4) & 0x20
		}
		p, err := j.Add(1, layers.Frame{Data: x, Len: len(x), LinkType: 1})
		if err != nil && p.Whole != nil {
			t.Errorf("got a datagram and %v", err)
		}
		if _, _, err := layers.Unwrap(p.Whole); p.Whole != nil && err == layers.ErrFragment {
			t.Error("joined, it is a fragment")
		}
	}
	j.Flush()
}
