// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"syscall"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack/engine"
)

// takes takes a record of the daemon's.
func (l *clientConn) takes(h attach.Header, data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.take(clientRecord{Header: h, data: data}, -1, false)
}

// A record that says that a name was lost, and comes after the daemon has changed the socket's names
// again, is no news; one of the present names is, whether it comes before the answer to their change or
// behind it.
//
// Mutations it catches: isNews takes what is late, or nothing that does not say its number; an answer leaves
// what was lost before it; it takes away what was lost after it; a refusal counts.
//
// Proves: daemon.calls
func TestLateNewsOfALostName(t *testing.T) {
	errno, data := control.EncodeError(&engine.NameTakenError{Name: frame.Range{Type: 100}, Lost: true})
	lost := func(at uint32) attach.Header { return attach.Header{Op: attach.OpLost, Errno: errno, Arg0: at} }
	answer := func(op attach.Op, errno syscall.Errno) attach.Header {
		return attach.Header{Op: op, Flags: attach.FlagReply, ID: 7, Errno: errno}
	}
	for _, c := range []struct {
		name string
		came []attach.Header
		want bool
	}{
		{"lost", []attach.Header{answer(attach.OpBind, 0), lost(2)}, true},
		{"late, behind unbind", []attach.Header{answer(attach.OpBind, 0), answer(attach.OpUnbind, 0), lost(2)}, false},
		{"late, behind bind", []attach.Header{answer(attach.OpListen, 0), answer(attach.OpBind, 0), lost(2)}, false},
		{"before the answer", []attach.Header{answer(attach.OpBind, 0), lost(3), answer(attach.OpBind, 0)}, true},
		{"bound anew", []attach.Header{answer(attach.OpBind, 0), lost(2), answer(attach.OpBind, 0)}, false},
		{"a bind that fails", []attach.Header{answer(attach.OpBind, 0), lost(2), answer(attach.OpBind, syscall.EADDRINUSE)}, true},
		{"of an older daemon", []attach.Header{answer(attach.OpBind, 0), lost(0)}, true},
		{"of an older daemon, bound anew", []attach.Header{answer(attach.OpBind, 0), lost(0), answer(attach.OpUnbind, 0)}, false},
	} {
		l := newClientConn(nil)
		for _, h := range c.came {
			l.takes(h, data)
		}
		if got := l.nameLost != nil; got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// A name that was lost is not bound again at the next daemon; one that was bound after the loss is.
//
// Mutation it catches: forget does not look at when the name was bound.
//
// Proves: daemon.dies
func TestForgetLostName(t *testing.T) {
	r := frame.Range{Type: 100, Lower: 1, Upper: 1}
	at := attach.RangeSockaddr(r, 0)
	s := &Socket{names: []boundName{{addr: at, renames: 1}, {addr: at, renames: 3}, {addr: attach.RangeSockaddr(frame.Range{Type: 200}, 0), renames: 2}}}
	s.forget(r, 2)
	if len(s.names) != 2 || s.names[0].renames != 3 || s.names[1].renames != 2 {
		t.Errorf("left %v", s.names)
	}
}
