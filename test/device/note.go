// SPDX-License-Identifier: Apache-2.0

package device

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// minEthernet is the length Ethernet pads a frame to, in bytes.
const minEthernet = 60

// A note says what a frame is to look like: its addresses, its number, its
// length, and a pattern of bytes that follows from the number.
type note struct {
	dst, src frame.MAC
	number   uint32
	length   int // bytes, at least shortest
}

func (n note) String() string {
	return fmt.Sprintf("frame %d of %d bytes from %v to %v", n.number, n.length, n.src, n.dst)
}

// write fills b, which is n.length bytes, with the frame.
func (n note) write(b []byte) {
	frame.PutEthernet(b, n.dst, n.src)
	p := b[frame.EthernetLen:]
	binary.BigEndian.PutUint32(p, n.number)
	for i := 4; i < len(p); i++ {
		p[i] = byte(int(n.number)*31 + i)
	}
}

// compare says how got differs. Ethernet may have padded it.
func (n note) compare(got []byte) error {
	want := make([]byte, n.length)
	n.write(want)
	switch {
	case len(got) > len(want) && len(got) > minEthernet, len(got) < len(want):
		return fmt.Errorf("%v: got %d bytes", n, len(got))
	case !bytes.Equal(got[:len(want)], want):
		return fmt.Errorf("%v: got other bytes, number %d", n, numberOf(got))
	}
	return nil
}

// numberOf returns the number of a frame.
func numberOf(b []byte) uint32 { return binary.BigEndian.Uint32(b[frame.EthernetLen:]) }

// note describes a frame from s.
func (s *station) note(dst frame.MAC, number, length int) note {
	return note{dst: dst, src: s.dev.Addr(), number: uint32(number), length: length}
}

// build makes the frame, in a chunk of s.
func (s *station) build(n note) *netdev.Buffer {
	s.t.Helper()
	b := s.arena.Get(n.length, netdev.Data)
	if b == nil {
		s.t.Fatalf("no chunk for %v; %d of %d free", n, s.arena.Free(), s.arena.Total())
	}
	n.write(b.Extend(n.length))
	return b
}

// some makes count frames of the shortest length to the station to, numbered
// from first.
func (s *station) some(to *station, first, count int) (notes []note, bufs []*netdev.Buffer) {
	s.t.Helper()
	for i := range count {
		n := s.note(to.dev.Addr(), first+i, shortest)
		notes, bufs = append(notes, n), append(bufs, s.build(n))
	}
	return notes, bufs
}
