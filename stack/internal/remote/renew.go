// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"time"

	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// A renewal is a socket that was made again at the next daemon.
type renewal struct {
	s        *Socket
	old, cur *session
	want     wantedState
}

// renew makes sockets again that were lost with their daemon, and reports whether that is all of
// them. With together their names are not settled.
func (f *Node) renew(sockets []*Socket, together bool) (made []renewal, whole bool) {
	whole = true
	for _, s := range sockets {
		old := s.session.Load()
		old.line.mu.Lock()
		old.line.drain()
		old.line.rouseAll()
		old.line.mu.Unlock()
		old.line.conn.Close()
		cur, want, err := s.openSession(f.ctx, old.line.fds, together)
		if err != nil {
			whole = s.notRenewed(old, err) && whole
			continue
		}
		made = append(made, renewal{s, old, cur, want})
	}
	return made, whole
}

// notRenewed keeps why a socket was not made again, and reports whether that is for good.
func (s *Socket) notRenewed(old *session, err error) (final bool) {
	if final = isFinal(err) && !isAway(err); final {
		s.refuse(&socket.ReattachError{Path: s.f.path, Socket: old.local, Err: err})
	} else {
		s.missing(err)
	}
	return final
}

// isSole reports whether the socket has names to itself.
func (s *Socket) isSole() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.exclusive && len(s.names) > 0
}

// soleWait is how long sockets with names to themselves wait for the other nodes, before they are tried
// again and all others go on.
const soleWait = time.Second

// renewSole is renew of sockets that have names to themselves. The other nodes are asked once for all of them
// what they have bound, and once more whether they know what was bound here; see stack/engine, exclusive.go. Where
// one does not say within soleWait, none of these sockets is there yet.
func (f *Node) renewSole(sockets []*Socket) (made []renewal, whole bool) {
	if len(sockets) == 0 {
		return nil, true
	}
	ctx, cancel := context.WithTimeout(f.ctx, soleWait)
	defer cancel()
	published := func() error { return inner(f.Control(ctx, backend.PublishedCall.Verb, nil, nil)) }
	if err := published(); err != nil {
		whole = true
		for _, s := range sockets {
			whole = s.notRenewed(s.session.Load(), err) && whole
		}
		return nil, whole
	}
	bound, whole := f.renew(sockets, true)
	err := published()
	for _, r := range bound {
		why := err
		if why == nil {
			why = inner(r.cur.line.call(ctx, settleVerb, nil, nil))
		}
		if why != nil {
			r.cur.line.close()
			whole = r.s.notRenewed(r.old, why) && whole
			continue
		}
		made = append(made, r)
	}
	return made, whole
}
