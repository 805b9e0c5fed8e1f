// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack"
)

// call makes a management call.
func (x *session) call(h *attach.Header, data []byte) error {
	verb, in, done, err := x.gathered(h, data)
	if err != nil || !done {
		return err
	}
	v, ok := x.srv.verb(x, verb)
	if !ok {
		return x.answer(h, syscall.ENOSYS)
	}
	if !x.srv.cfg.Policy.Allows(v.Class, x.who) {
		x.refuse(verb)
		return x.answer(h, syscall.EPERM)
	}
	_, err = x.spawn(*h, func(ctx context.Context) (t told) {
		t = x.serveVerb(ctx, verb, v, in)
		if ctx.Err() != nil && errors.Is(t.err, context.Canceled) {
			t.err = syscall.ECANCELED
		}
		clear(in) // it may be a key
		return t
	}, nil)
	return err
}

// verb finds a management call: one about the session's socket, one of the server's, one
// of the configuration's, one of the node's.
func (s *Server) verb(x *session, name string) (Verb, bool) {
	if strings.HasPrefix(name, stack.SocketControlPrefix) {
		return Verb{stack.UseControl, func(ctx context.Context, _ attach.Credentials, in []byte) ([]byte, error) {
			x.mu.Lock()
			p := x.port
			x.mu.Unlock()
			if p == nil {
				return nil, syscall.ENOTSOCK
			}
			return stack.ServeSocketControl(ctx, p.is().any(), name, in)
		}}, true
	}
	if v, ok := serverVerbs[name]; ok {
		return Verb{stack.ShowControl, func(context.Context, attach.Credentials, []byte) ([]byte, error) { return v(s) }}, true
	}
	if v, ok := s.cfg.Verbs[name]; ok {
		return v, true
	}
	class, ok := stack.ControlClassOf(name)
	return Verb{class, func(ctx context.Context, _ attach.Credentials, in []byte) ([]byte, error) {
		return stack.ServeControl(ctx, s.node, name, in)
	}}, ok
}
