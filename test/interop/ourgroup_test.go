// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/interop/play"
)

// notOfGroups are the calls that a socket in a group refuses.
type notOfGroups struct{}

func (notOfGroups) Get(string) (int, error)          { return 0, play.ErrInvalid }
func (notOfGroups) Bind(net.Addr, frame.Scope) error { return play.ErrInvalid }
func (notOfGroups) Listen() error                    { return play.ErrInvalid }
func (notOfGroups) Accept() (play.Socket, error)     { return nil, play.ErrInvalid }
func (notOfGroups) Connect(net.Addr, []byte) error   { return play.ErrInvalid }
func (notOfGroups) Peer() (net.Addr, error)          { return nil, play.ErrInvalid }
func (notOfGroups) Shutdown() error                  { return play.ErrInvalid }

// An ourGroup is one of our sockets in a group, for scripts.
type ourGroup struct {
	notOfGroups
	ctx   context.Context
	node  *stack.Node
	cfg   stack.GroupConfig
	wait  time.Duration // for a send; 0: for ever
	group *stack.Group
}

var _ play.Member = (*ourGroup)(nil)

func (s *ourGroup) Set(option string, value int) error {
	switch option {
	case "importance":
		s.cfg.Importance = stack.Importance(value)
	case "loopback":
		s.cfg.Loopback = value != 0
	case "events":
		s.cfg.Events = value != 0
	case "wait":
		s.wait = time.Duration(value) * time.Millisecond
	default:
		return play.ErrInvalid
	}
	return nil
}

func (s *ourGroup) Join(a frame.Service, sc frame.Scope) (err error) {
	if s.group != nil {
		return play.ErrInvalid
	}
	s.cfg.Scope = sc
	s.group, err = s.cfg.Join(s.ctx, s.node, a)
	return named(err)
}

func (s *ourGroup) Leave() error {
	if s.group == nil {
		return play.ErrInvalid
	}
	err := s.group.Close()
	s.group = nil
	return named(err)
}

func (s *ourGroup) Close() error {
	if s.group == nil || errors.Is(s.group.Close(), net.ErrClosed) {
		return nil
	}
	return nil
}

func (s *ourGroup) ID() (net.Addr, error) {
	if s.group == nil {
		return nil, play.ErrInvalid
	}
	return s.group.LocalAddr(), nil
}

func (s *ourGroup) Send(b []byte, to net.Addr) (err error) {
	if s.group == nil {
		return play.ErrInvalid
	}
	var until time.Time
	if s.wait > 0 {
		until = time.Now().Add(s.wait)
	}
	s.group.SetWriteDeadline(until)
	if err := reported(s.group); err != nil {
		return named(err)
	}
	if to == nil {
		_, err = s.group.Write(b)
	} else {
		_, err = s.group.WriteTo(b, to)
	}
	return named(err)
}

func (s *ourGroup) Report() error {
	if s.group == nil {
		return play.ErrInvalid
	}
	return nextReport(s.ctx, s.group)
}

func (s *ourGroup) Receive(b []byte, wait time.Duration) (r play.Received, err error) {
	if s.group == nil {
		return r, play.ErrClosed
	}
	var until time.Time
	if wait >= 0 {
		until = time.Now().Add(max(wait, time.Millisecond))
	}
	s.group.SetReadDeadline(until)
	n, m, err := s.group.ReadMsg(b)
	r = play.Received{Len: n, Cut: m.Truncated, From: m.From, Member: m.Member.String()}
	switch m.Kind {
	case stack.MemberJoined:
		r.Event = play.MemberJoined
	case stack.MemberLeft:
		r.Event = play.MemberLeft
	}
	return r, named(err)
}
