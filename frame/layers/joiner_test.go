// SPDX-License-Identifier: Apache-2.0

package layers_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
)

// A cut is how a datagram is cut into fragments: over IPv6 or IPv4, behind tags.
type cut struct {
	six  bool
	tags []byte
	id   uint32
}

// part is the frame of one fragment.
func (c cut) part(at int, data []byte, more bool) layers.Frame {
	b := join(macs, c.tags)
	flag := uint16(0)
	if c.six {
		if more {
			flag = 1
		}
		b = append(b, 0x86, 0xdd, 0x60, 0, 0, 0)
		b = binary.BigEndian.AppendUint16(b, uint16(8+len(data)))
		b = append(b, 44, 64)
		b = append(b, make([]byte, 32)...)
		b = append(b, 17, 0)
		b = binary.BigEndian.AppendUint16(b, uint16(at)|flag)
		b = binary.BigEndian.AppendUint32(b, c.id)
	} else {
		if more {
			flag = 0x2000
		}
		head := ip4(17, uint16(at/8)|flag, data)[:20]
		binary.BigEndian.PutUint16(head[4:], uint16(c.id))
		b = join(b, []byte{8, 0}, head)
	}
	b = append(b, data...)
	return layers.Frame{Data: b, Len: len(b), LinkType: 1}
}

// parts cuts a datagram into fragments of so many bytes.
func (c cut) parts(datagram []byte, size int) (all []layers.Frame) {
	for at := 0; at < len(datagram); at += size {
		end := min(at+size, len(datagram))
		all = append(all, c.part(at, datagram[at:end], end < len(datagram)))
	}
	return all
}

func messageOf(r *rand.Rand, size int) []byte {
	m := make([]byte, size)
	for i := range m {
		m[i] = byte(r.Uint32())
	}
	return m
}

// Fragments of many datagrams come in any order, between each other and some of them twice;
// each datagram becomes whole once.
//
// Mutations it catches: DatagramID without ID or without vlans; finished datagrams that are
// forgotten at once; a last fragment that ends the datagram though others are missing; Bytes
// that counts a fragment twice.
func TestJoiner(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	type sent struct {
		message []byte
		bytes   int
		joined  int
	}
	datagrams := map[string]*sent{}
	var all []layers.Frame
	for i := range 120 {
		c := cut{six: i%2 == 1, id: uint32(i / 4)}
		if i%4 >= 2 { // the same numbers behind a tag
			c.tags = []byte{0x81, 0, 0, 7}
		}
		m := messageOf(r, 1+r.IntN(9000))
		if i == 0 {
			m = messageOf(r, 65535-20-8)
		}
		parts := c.parts(udp(6118, 6118, m), 8*(1+r.IntN(200)))
		if len(parts) == 1 && !c.six {
			continue // it is none
		}
		s := &sent{message: m}
		for _, f := range parts {
			s.bytes += f.Len
		}
		datagrams[string(m)] = s
		all = append(all, parts...)
	}
	first := len(all)
	for range first / 3 {
		all = append(all, all[r.IntN(first)])
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	j := layers.Joiner{Incomplete: func(x layers.Incomplete) { t.Errorf("incomplete: %v", x) }}
	again := 0
	for n, f := range all {
		p, err := j.Add(n+1, f)
		if err != nil {
			t.Fatalf("frame %d: %v", n+1, err)
		}
		if p.Again {
			again++
		}
		if p.Whole == nil {
			continue
		}
		w, m, err := layers.Unwrap(p.Whole)
		s := datagrams[string(m)]
		if err != nil || s == nil || !w.UDP || w.Src != (frame.MAC{0x52, 0x54, 0, 0xaa, 0, 1}) {
			t.Fatalf("frame %d: got %d bytes, %+v, %v, want a datagram that was sent", n+1, len(m), w, err)
		}
		if s.joined++; p.Bytes != s.bytes || p.Frames[len(p.Frames)-1] != n+1 {
			t.Errorf("frame %d: got %d bytes, frames %v, want %d, the last of them", n+1, p.Bytes, p.Frames, s.bytes)
		}
	}
	j.Flush()
	for _, s := range datagrams {
		if s.joined == 0 || s.joined > 1 && s.bytes > 1500 { // a fragment that is a whole one is joined each time
			t.Errorf("a datagram of %d bytes became whole %d times, want once", len(s.message), s.joined)
		}
	}
	if again == 0 || again > first/3 {
		t.Errorf("got %d fragments again, want up to %d", again, first/3)
	}
}

// A contradiction ends the datagram; what overlaps and agrees does not.
//
// Mutations it catches: contradicts without its comparison of data, of ends, of what goes
// beyond the end; refuse without its mark.
func TestJoinerContradiction(t *testing.T) {
	whole := udp(6118, 6118, []byte("0123456789abcdefghijklmnopqrstuv"))[:40]
	change := func(at int, b []byte) []byte { b = bytes.Clone(b); b[at]++; return b }
	for _, six := range []bool{false, true} {
		c := cut{six: six, id: 7}
		head, middle, tail := c.part(0, whole[:16], true), c.part(16, whole[16:32], true), c.part(32, whole[32:], false)
		for _, x := range []struct {
			name   string
			parts  []layers.Frame
			refuse int // which; -1: none
		}{
			{"agreeing", []layers.Frame{head, c.part(8, whole[8:32], true), c.part(24, whole[24:], false)}, -1},
			{"other data", []layers.Frame{head, c.part(8, change(3, whole[8:32]), true), middle, tail}, 1},
			{"other last data", []layers.Frame{tail, c.part(24, change(15, whole[24:]), false), head, middle}, 1},
			{"another end", []layers.Frame{tail, c.part(32, whole[32:39], false), head, middle}, 1},
			{"beyond the end", []layers.Frame{tail, c.part(40, whole[:8], true), head, middle}, 1},
			{"more at the end", []layers.Frame{tail, c.part(32, whole[32:40], true), head, middle}, 1},
			{"an end before what came", []layers.Frame{middle, c.part(16, whole[16:24], false), head, tail}, 1},
		} {
			j := layers.Joiner{Incomplete: func(x layers.Incomplete) { t.Errorf("incomplete: %v", x) }}
			joined := false
			for i, f := range x.parts {
				p, err := j.Add(i+1, f)
				want := error(nil)
				if x.refuse >= 0 && i >= x.refuse {
					want = layers.ErrOverlap
				}
				if err != want {
					t.Errorf("%s, fragment %d: got %v, want %v", x.name, i, err, want)
				}
				joined = joined || p.Whole != nil
			}
			j.Flush()
			if joined != (x.refuse < 0) {
				t.Errorf("%s: joined: %v", x.name, joined)
			}
		}
	}
}

// A number that is used again, after its datagram was whole, is another datagram's.
//
// Mutation it catches: find that keeps a finished datagram.
func TestJoinerNumberAgain(t *testing.T) {
	var j layers.Joiner
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 3 {
		parts := cut{id: 9}.parts(udp(6118, 6118, messageOf(r, 3000)), 1480)
		for k, f := range parts {
			if p, err := j.Add(0, f); err != nil || (p.Whole != nil) != (k == len(parts)-1) {
				t.Errorf("datagram %d, fragment %d: got %v, %v", i, k, p.Whole != nil, err)
			}
		}
	}
}

// What a Joiner remembers is bounded in number, bytes and time, the oldest is forgotten, and
// what never was whole is named, unless it has nothing to do with TIPC.
//
// Mutations it catches: bound without one of its limits; find without joiningTime, or with
// times that go forward alone; forget without foreign.
func TestJoinerBounds(t *testing.T) {
	var lost []layers.Incomplete
	begin := func() *layers.Joiner {
		lost = nil
		return &layers.Joiner{Incomplete: func(x layers.Incomplete) { lost = append(lost, x) }}
	}
	add := func(j *layers.Joiner, n int, f layers.Frame, at time.Duration) {
		t.Helper()
		f.Time = time.Unix(1000, 0).Add(at)
		if p, err := j.Add(n, f); err != nil || p.Whole != nil {
			t.Fatalf("frame %d: got %v, %v", n, p.Whole != nil, err)
		}
	}
	eight := make([]byte, 8)
	j := begin()
	for i := range 1026 {
		add(j, i+1, cut{id: uint32(i)}.part(8, eight, true), 0)
	}
	if len(lost) != 2 || lost[0].ID != 0 || lost[1].ID != 1 || lost[0].Got != 8 || lost[0].Of != 0 || lost[0].Frames[0] != 1 {
		t.Errorf("1026 datagrams: got %v, want the first two", lost)
	}
	if j.Flush(); len(lost) != 1026 {
		t.Errorf("at the end: got %d, want 1026", len(lost))
	}

	j = begin()
	for i := range 300 { // each takes 64 KiB
		add(j, i+1, cut{six: true, id: uint32(i)}.part(65520, eight, false), 0)
	}
	if n := len(lost); n < 300-256 || n > 150 || lost[0].Of != 65528 {
		t.Errorf("300 datagrams of 64 KiB: got %d forgotten, want 44 and a few", n)
	}

	for _, away := range []time.Duration{time.Minute + 1, -time.Minute - 1} {
		j = begin()
		add(j, 1, cut{id: 1}.part(0, udp(6118, 6118, nil), true), 0)
		add(j, 2, cut{id: 1}.part(8, eight, false), away)
		if len(lost) != 1 || lost[0].Frames[0] != 1 {
			t.Errorf("after %v: got %v, want the first fragment alone", away, lost)
		}
	}

	j = begin()
	add(j, 1, cut{id: 1}.part(0, udp(53, 99, nil), true), 0)
	add(j, 2, cut{id: 2}.part(8, eight, false), 0)
	if j.Flush(); len(lost) != 1 || lost[0].ID != 2 {
		t.Errorf("of another port: got %v, want the other alone", lost)
	}
}

// Fragments that cannot be are refused, and those that the capture has cut complete nothing.
//
// Mutations it catches: parseFragment without its check of alignment and of size; Add without
// the limit of a whole IPv4 datagram; add that takes a cut fragment for a whole one.
func TestJoinerHostile(t *testing.T) {
	c, eight := cut{id: 1}, make([]byte, 8)
	long := c.part(0, udp(6118, 6118, nil), true) // with 40 bytes of options
	long.Data = join(long.Data[:34], make([]byte, 40), long.Data[34:])
	long.Data[14] = 0x4f
	binary.BigEndian.PutUint16(long.Data[16:], 68)
	for _, x := range []struct {
		name  string
		parts []layers.Frame
		want  error // of the last
	}{
		{"of 7 bytes, not the last", []layers.Frame{c.part(0, eight[:7], true)}, frame.ErrMalformed},
		{"empty", []layers.Frame{c.part(8, nil, true)}, frame.ErrMalformed},
		{"beyond 64 KiB", []layers.Frame{c.part(65528, eight, true)}, frame.ErrMalformed},
		{"beyond 64 KiB, IPv6", []layers.Frame{cut{six: true}.part(65528, eight, false)}, frame.ErrMalformed},
		{"beyond 64 KiB by its options", []layers.Frame{c.part(8, make([]byte, 32000), true), c.part(32008, make([]byte, 33500), false), long}, frame.ErrMalformed},
		{"once more", []layers.Frame{c.part(8, eight, true), c.part(8, eight, true)}, nil},
		{"ARP", []layers.Frame{{Data: join(macs, []byte{8, 6}), LinkType: 1}}, frame.ErrNotTIPC},
	} {
		var j layers.Joiner
		for i, f := range x.parts {
			p, err := j.Add(i+1, f)
			want := x.want
			if i < len(x.parts)-1 {
				want = nil
			}
			if !errors.Is(err, want) || p.Whole != nil {
				t.Errorf("%s, fragment %d: got %v, %d bytes, want %v, none", x.name, i, err, len(p.Whole), want)
			}
		}
	}
	var j layers.Joiner
	if _, err := j.Add(1, layers.Frame{Data: join(macs, []byte{0x88, 0xca, 1}), LinkType: 1}); err == nil {
		t.Error("a whole frame: got no error")
	}
	message := []byte("0123456789abcdefghijklmnopqrstuv")
	for _, six := range []bool{false, true} {
		parts := cut{six: six, id: 2}.parts(udp(6118, 6118, message), 16)
		for k := range parts {
			for n := range parts[k].Data {
				var j layers.Joiner
				incomplete := 0
				j.Incomplete = func(layers.Incomplete) { incomplete++ }
				for i, f := range parts {
					if i == k {
						f.Data = f.Data[:n]
					}
					if p, _ := j.Add(i+1, f); p.Whole != nil {
						t.Fatalf("fragment %d cut to %d: joined", k, n)
					}
				}
				if j.Flush(); incomplete != 1 {
					t.Errorf("fragment %d cut to %d: got %d incomplete, want 1", k, n, incomplete)
				}
				whole := false
				for i, f := range parts { // and once more in whole
					p, err := j.Add(i+1, f)
					whole = whole || p.Whole != nil && err == nil
				}
				if !whole {
					t.Errorf("fragment %d cut to %d: not joined from whole ones", k, n)
				}
			}
		}
	}
}
