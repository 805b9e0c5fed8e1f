// SPDX-License-Identifier: Apache-2.0

package bed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// A Segment is namespaces whose interfaces are on one network: each has a veth pair to a
// bridge, which stands in a namespace of its own. Safe for concurrent use, but for Close.
type Segment struct {
	hub  *Namespace
	ends []*Namespace
}

// segmentName is the interface's name at each end, and bridgeName that of the bridge.
const (
	segmentName = "tipc0"
	bridgeName  = "bridge"
)

func portName(i int) string { return fmt.Sprint("port", i) }

// NewSegment makes a segment of n namespaces; mtu is in bytes. All interfaces are up and
// have carrier. It needs root and a kernel with bridges.
func NewSegment(n, mtu int) (s *Segment, err error) {
	s = new(Segment)
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if s.hub, err = NewNamespace(); err != nil {
		return s, err
	}
	index := 1000 + 2*int(pairs.Add(1)) // not one of a pair's, see pairs
	if err = s.hub.Do(newLink(index, false).withText(unix.IFLA_IFNAME, bridgeName).withKind("bridge", nil).create); err != nil {
		return s, fmt.Errorf("the bridge: %w", err)
	}
	if err = (End{s.hub, bridgeName}).up(index); err != nil {
		return s, err
	}
	for i := range n {
		end, err := NewNamespace()
		if err != nil {
			return s, err
		}
		s.ends = append(s.ends, end)
		if err := Veth(End{end, segmentName}, End{s.hub, portName(i)}, mtu, 1); err != nil {
			return s, err
		}
		if err := s.hub.Do(func() error { return enslave(portName(i), index) }); err != nil {
			return s, fmt.Errorf("%s on the bridge: %w", portName(i), err)
		}
	}
	return s, nil
}

// enslave makes an interface of the calling thread's namespace a port of a bridge.
func enslave(name string, bridge int) error {
	port, err := net.InterfaceByName(name)
	if err != nil {
		return err
	}
	return newLink(port.Index, false).withNumber(unix.IFLA_MASTER, bridge).change()
}

// Name is the name of the interface at end i.
func (s *Segment) Name(int) string { return segmentName }

// Namespace is the one at end i. Close closes it.
func (s *Segment) Namespace(i int) *Namespace { return s.ends[i] }

// Do runs f inside namespace i; see Namespace.Do.
func (s *Segment) Do(i int, f func() error) error { return s.ends[i].Do(f) }

// Plug gives or takes end i its place on the bridge, and returns when that is so. Without
// it the end has no carrier; the others hear nothing of it, and see no other change.
func (s *Segment) Plug(i int, in bool) error {
	if err := s.hub.SetUp(portName(i), in); err != nil {
		return err
	}
	if !in {
		return s.ends[i].WaitCarrier(segmentName, false)
	}
	return errors.Join(End{s.hub, portName(i)}.wait(), End{s.ends[i], segmentName}.wait())
}

// Close lets go of all namespaces, as Bed.Close.
func (s *Segment) Close() {
	if s.hub != nil {
		s.hub.Close()
	}
	for _, n := range s.ends {
		n.Close()
	}
}

// SetUp takes an interface up or down.
func (n *Namespace) SetUp(name string, up bool) error {
	return n.Do(func() error {
		i, err := net.InterfaceByName(name)
		if err != nil {
			return err
		}
		m := newLink(i.Index, true) // says that the flag is meant
		if !up {
			binary.NativeEndian.PutUint32(m[8:], 0)
		}
		if err := m.change(); err != nil {
			return fmt.Errorf("setting %s up=%v: %w", name, up, err)
		}
		return nil
	})
}
