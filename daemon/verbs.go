// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/control"
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
	if !x.srv.cfg.Policy.Allows(v.Right, x.who) {
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
	if strings.HasPrefix(name, socketPrefix) {
		return Verb{control.Use, func(ctx context.Context, _ attach.Credentials, in []byte) ([]byte, error) {
			x.mu.Lock()
			p := x.port
			x.mu.Unlock()
			if p == nil {
				return nil, syscall.ENOTSOCK
			}
			return serveSocketVerb(ctx, p.is().any(), name, in)
		}}, true
	}
	return s.nodeVerb(name)
}

// nodeVerb is verb without those about a socket.
func (s *Server) nodeVerb(name string) (Verb, bool) {
	if v, ok := serverVerbs[name]; ok {
		return Verb{control.Show, func(context.Context, attach.Credentials, []byte) ([]byte, error) { return v(s) }}, true
	}
	if v, ok := s.cfg.Verbs[name]; ok {
		return v, true
	}
	c, ok := control.Lookup(name)
	return Verb{c.Right, func(ctx context.Context, _ attach.Credentials, in []byte) (reply []byte, err error) {
		err = s.node.Admin().Call(ctx, name, json.RawMessage(in), (*json.RawMessage)(&reply))
		return reply, err
	}}, ok
}
