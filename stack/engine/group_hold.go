// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// maxForGroups is how many messages wait for groups that are held; more are dropped.
const maxForGroups = 1024

// A heldMessage is a message for group sockets that waits.
type heldMessage struct {
	n         *node
	msg       []byte
	broadcast bool
}

// HoldGroups has group sockets hear of no binding, and of no message, until it is called
// with on false: as a kernel's socket while a call of its program runs, by when its links
// have taken and acknowledged what comes. It is for replays, of a Join that took its
// time. Source: capture 22, frames 57 to 61: the JOIN acknowledges another that its
// sender hears of only behind it.
func (e *Engine) HoldGroups(now time.Duration, on bool) {
	s := &e.groups
	if s.held = on; on {
		return
	}
	e.groupNews(now)
	for s.kept.Len() > 0 {
		x := s.kept.Pop()
		m, err := frame.Parse(x.msg)
		if err != nil || x.n != e.self && !x.n.up() {
			e.drop(DropNodeState)
			continue
		}
		e.deliverMessage(now, x.n, m, nil, x.broadcast)
	}
	s.kept = flowctl.Queue[heldMessage]{}
}

// TellGroup has a group socket that is held hear of the binding that waits for longest. It
// reports false when none does.
func (e *Engine) TellGroup(now time.Duration) bool {
	s := &e.groups
	if s.news.Len() == 0 {
		return false
	}
	if x := s.news.Pop(); !x.g.closed {
		x.g.heard(now, x.ev)
	}
	return true
}

// holdForGroups keeps a message that is for groups.
func (e *Engine) holdForGroups(n *node, m frame.Message, broadcast bool) bool {
	t := frame.PayloadType(m.RawType())
	if m.User() != frame.UserGroup && (!m.User().IsPayload() || t < frame.GroupBcastMsg || t > frame.GroupUcastMsg) {
		return false
	}
	if s := &e.groups; s.kept.Len() >= maxForGroups {
		e.drop(DropGroup)
	} else {
		s.kept.Push(heldMessage{n, bytes.Clone(m.Bytes()), broadcast})
	}
	return true
}
