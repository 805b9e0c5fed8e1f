// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"encoding/binary"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// netlinkError is the kernel's answer to a question it could not answer.
func netlinkError(errno unix.Errno) []byte {
	m := make([]byte, unix.SizeofNlMsghdr+4)
	binary.NativeEndian.PutUint32(m, uint32(len(m)))
	binary.NativeEndian.PutUint16(m[4:], unix.NLMSG_ERROR)
	binary.NativeEndian.PutUint32(m[16:], uint32(-int32(errno)))
	return m
}

func TestLinkNews(t *testing.T) {
	const running = unix.IFF_UP | unix.IFF_RUNNING | unix.IFF_LOWER_UP
	up := linkMessage(unix.RTM_NEWLINK, unix.AF_UNSPEC, 7, running, 1500)
	gone := linkMessage(unix.RTM_DELLINK, unix.AF_UNSPEC, 7, 0, 1500)
	for _, c := range []struct {
		what string
		b    []byte
		want linkState
		told bool
	}{
		{"up", up, linkState{mtu: 1500}, true},
		{"down", linkMessage(unix.RTM_NEWLINK, unix.AF_UNSPEC, 7, 0, 1500), linkState{}, true},
		{"without carrier", linkMessage(unix.RTM_NEWLINK, unix.AF_UNSPEC, 7, unix.IFF_UP, 1500), linkState{}, true},
		{"new, carrier not yet known", linkMessage(unix.RTM_NEWLINK, unix.AF_UNSPEC, 7, unix.IFF_UP|unix.IFF_RUNNING, 1500), linkState{}, true},
		{"removed", gone, linkState{removed: true}, true},
		{"another's", linkMessage(unix.RTM_NEWLINK, unix.AF_UNSPEC, 8, running, 1500), linkState{}, false},
		{"another's removal", linkMessage(unix.RTM_DELLINK, unix.AF_UNSPEC, 8, 0, 0), linkState{}, false},
		{"a bridge's", linkMessage(unix.RTM_DELLINK, unix.AF_BRIDGE, 7, 0, 1500), linkState{}, false},
		{"no such device", netlinkError(unix.ENODEV), linkState{removed: true}, true},
		{"out of memory", netlinkError(unix.ENOMEM), linkState{}, false},
		{"two, the last counts", append(slices.Clone(up), gone...), linkState{removed: true}, true},
		{"its own behind another's", append(linkMessage(unix.RTM_NEWLINK, 0, 8, running, 9000), up...), linkState{mtu: 1500}, true},
		{"an MTU beyond reason", linkMessage(unix.RTM_NEWLINK, unix.AF_UNSPEC, 7, running, 1<<31), linkState{mtu: 1 << 20}, true},
		{"cut before the MTU", up[:len(up)-8], linkState{}, true},
		{"nothing", nil, linkState{}, false},
		{"a length of 0", make([]byte, 64), linkState{}, false},
	} {
		if got, told := linkNews(c.b, 7); got != c.want || told != c.told {
			t.Errorf("%s: got %+v, %v, want %+v, %v", c.what, got, told, c.want, c.told)
		}
	}
	// A message longer than what there was room for is taken as far as it goes.
	long := slices.Clone(up)
	binary.NativeEndian.PutUint32(long, uint32(len(long)+40000))
	if got, told := linkNews(long, 7); !told || got.mtu != 1500 {
		t.Errorf("a message that is cut: got %+v, %v, want an MTU of 1500", got, told)
	}
}

// Proves: device.changes
func FuzzLinkNews(f *testing.F) {
	up := linkMessage(unix.RTM_NEWLINK, unix.AF_UNSPEC, 7, unix.IFF_UP|unix.IFF_RUNNING|unix.IFF_LOWER_UP, 1500)
	for i := range up {
		f.Add(up[:i])
	}
	f.Add(append(slices.Clone(up), linkMessage(unix.RTM_DELLINK, unix.AF_UNSPEC, 7, 0, 0)...))
	f.Add(netlinkError(unix.ENODEV))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, told := linkNews(b, 7)
		if s.mtu < 0 || s.mtu > 1<<20 || s.removed && s.mtu != 0 || !told && s != (linkState{}) {
			t.Errorf("got %+v, %v", s, told)
		}
	})
}
