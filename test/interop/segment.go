// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/test/interop/rig"
)

// A Segment is an Ethernet of several stations, ours or guests. Faults befall
// frames on the way to each station, apart from those on the way to the others: a
// broadcast is lost at some and arrives at the rest.
type Segment struct {
	hub   *rig.Hub
	ends  []*segmentEnd
	marks chan int // stations whose mark has come, see settle
}

// NewSegment makes a segment and returns the station's ends, in the order of their
// addresses, which their maker closes.
func NewSegment(macs ...frame.MAC) (*Segment, []rig.Link, error) {
	s := Segment{marks: make(chan int, len(macs))}
	var links []rig.Link
	var ports []rig.Port
	for _, mac := range macs {
		link, wire, err := rig.NewLink(net.HardwareAddr(mac[:]))
		if err != nil {
			for i := range links {
				links[i].Close()
				ports[i].Close()
			}
			return nil, nil, err
		}
		links = append(links, link)
		s.ends = append(s.ends, &segmentEnd{lineEnd{Port: wire}, mac})
		ports = append(ports, s.ends[len(s.ends)-1])
	}
	s.hub = rig.NewHub(ports...)
	return &s, links, nil
}

// Set changes the faults on the way to every station and starts the dice again.
func (s *Segment) Set(f fault.Faults, seed uint64) {
	for i, e := range s.ends {
		e.set(f, seed, uint64(i))
	}
}

// Counts returns what happened on the way to all stations since the segment was made.
func (s *Segment) Counts() (sum fault.Counts) {
	for _, e := range s.ends {
		c := e.count()
		sum.Seen += c.Seen
		sum.Lost += c.Lost
		sum.Duplicated += c.Duplicated
		sum.Reordered += c.Reordered
	}
	return sum
}

// Close ends the segment.
func (s *Segment) Close() error { return s.hub.Close() }

// A segmentEnd is the way to one station. As in a switch that knows its stations,
// frames for another do not take it.
type segmentEnd struct {
	lineEnd
	mac frame.MAC
}

// WriteFrame implements rig.Port.
func (e *segmentEnd) WriteFrame(b []byte) error {
	if to := frame.MAC(b); to != e.mac && !to.IsGroup() {
		return nil
	}
	return e.lineEnd.WriteFrame(b)
}

// watch has all frames seen by a function, which must be quick; nil ends that.
func (s *Segment) watch(see func(frame []byte)) {
	s.hub.Filter(func(from int, b []byte) bool {
		switch {
		case isMark(b):
			s.marks <- from
			return false
		case see != nil:
			see(b)
		}
		return true
	})
}

// settle returns once all frames that the stations have sent before are seen. links are those
// that NewSegment returned, and watch has been called.
func (s *Segment) settle(links []rig.Link) error {
	mark := make([]byte, 60)
	mark[12], mark[13] = markType>>8, markType&0xff
	for _, l := range links {
		raw, err := l.File.SyscallConn()
		if err != nil {
			return err
		}
		// Behind what the station has sent; the socket may be full.
		if err := raw.Write(func(fd uintptr) bool {
			_, err = unix.Write(int(fd), mark)
			return err != unix.EAGAIN
		}); err != nil {
			return err
		}
		if err != nil {
			return os.NewSyscallError("write", err)
		}
	}
	for range links {
		<-s.marks
	}
	return nil
}

// markType is the type of frames of no station: that for local experiments.
const markType = 0x88b5

func isMark(b []byte) bool {
	return len(b) >= frame.EthernetLen && int(b[12])<<8|int(b[13]) == markType
}
