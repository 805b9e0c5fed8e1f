// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"encoding/binary"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/test/interop/play"
)

// Flags of TIPC_GROUP_JOIN. Source: docs/spec/08-groups.md §1.
const (
	groupLoopback = 1
	groupEvents   = 2
)

// A playedMember is a kernel's socket in a group, for scripts.
type playedMember struct {
	playedSocket
	flags uint32 // to join with
}

var _ play.Member = (*playedMember)(nil)

func (s *playedMember) Set(option string, value int) error {
	flag := uint32(0)
	switch option {
	case "loopback":
		flag = groupLoopback
	case "events":
		flag = groupEvents
	case "wait": // ms that a send waits at most; 0: for ever
		tv := unix.NsecToTimeval(int64(value) * int64(time.Millisecond))
		return played(unix.SetsockoptTimeval(s.fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &tv))
	default:
		return s.playedSocket.Set(option, value)
	}
	if s.flags &^= flag; value != 0 {
		s.flags |= flag
	}
	return nil
}

func (s *playedMember) Join(a frame.Service, sc frame.Scope) error {
	var b []byte
	for _, w := range [...]uint32{a.Type, a.Instance, uint32(sc), s.flags} {
		b = binary.NativeEndian.AppendUint32(b, w)
	}
	return played(unix.SetsockoptString(s.fd, unix.SOL_TIPC, unix.TIPC_GROUP_JOIN, string(b)))
}

func (s *playedMember) Leave() error {
	return played(unix.SetsockoptString(s.fd, unix.SOL_TIPC, unix.TIPC_GROUP_LEAVE, ""))
}

func (s *playedMember) Receive(b []byte, wait time.Duration) (play.Received, error) {
	if wait >= 0 && !s.readable(wait) {
		return play.Received{}, play.ErrTime
	}
	var m memberMessage
	if err := again(func() (err error) {
		m, err = receiveMember(s.fd, b)
		return err
	}); err != nil {
		return play.Received{}, played(err)
	}
	r := play.Received{Len: m.n, Cut: m.flags&unix.MSG_TRUNC != 0}
	// Source: docs/spec/08-groups.md §3: the sender, and what it is in the group.
	r.From = frame.SocketAddr{Port: m.addrs[1], Node: frame.NodeAddr(m.addrs[2])}
	r.Member = fmt.Sprintf("%d:%d", m.addrs[5], m.addrs[6])
	if m.flags&unix.MSG_OOB != 0 {
		r.Event = play.MemberJoined
		if m.flags&unix.MSG_EOR != 0 {
			r.Event = play.MemberLeft
		}
	}
	return r, nil
}
