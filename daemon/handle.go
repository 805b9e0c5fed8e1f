// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack"
)

// features are what programs are granted.
const features = attach.FeatureRing | attach.FeatureReports | attach.FeatureRequests | attach.FeatureCounts | attach.FeatureHalfClose | attach.FeatureComplete | attach.FeatureExclusive | attach.FeatureAnycast

// handle does what a record asks for. Errors end the session: errBroken, and that the
// program has gone.
func (x *session) handle(h *attach.Header, data []byte) error {
	switch h.Op {
	case attach.OpSend:
		return x.send(h, data)
	case attach.OpAck:
		return x.ack(h)
	case attach.OpHello:
		return fmt.Errorf("%w: a second hello", errBroken)
	case attach.OpPing:
		return x.answer(h, nil)
	case attach.OpCancel:
		x.cancel(h.Arg0)
		return nil
	case attach.OpCall:
		return x.call(h, data)
	case attach.OpStream:
		return x.stream(h, data)
	}
	if x.gather.open {
		return fmt.Errorf("%w: %v within a call", errBroken, h.Op)
	}
	switch h.Op {
	case attach.OpSocket, attach.OpSubscribe, attach.OpJoin:
		if !x.srv.cfg.Policy.Allows(UseRight, x.who) {
			x.refuse(h.Op.String())
			return x.answer(h, syscall.EPERM)
		}
	}
	switch h.Op {
	case attach.OpSocket:
		return x.answerWith(h, x.open(h, data))
	case attach.OpSubscribe:
		return x.subscribe(h)
	case attach.OpRing:
		return x.ring(h)
	case attach.OpJoin:
		return x.answerWith(h, x.join(h))
	case attach.OpBind, attach.OpUnbind, attach.OpListen, attach.OpAccept, attach.OpConnect, attach.OpShutdown,
		attach.OpSetOption, attach.OpGetOption, attach.OpLeave:
		p := x.port
		if p == nil {
			return x.answer(h, syscall.ENOTSOCK)
		}
		return p.handle(h, data)
	}
	return x.answer(h, syscall.EOPNOTSUPP)
}

// answer answers a request, if that was wanted, with what came of it.
func (x *session) answer(h *attach.Header, err error) error {
	if h.ID == 0 {
		return nil
	}
	errno, data := encode(err)
	r := h.Reply(errno)
	return x.write(&r, data)
}

// A told is an answer: what came of a request.
type told struct {
	attach.Header // of which Addr, Addr2 and the arguments count
	data          []byte
	err           error
	charged       int // queued bytes, for data
}

func (x *session) answerWith(h *attach.Header, t told) error {
	if h.ID == 0 {
		return nil
	}
	r := h.Reply(0)
	if t.err != nil {
		r.Errno, t.data = encode(t.err)
		return x.write(&r, t.data)
	}
	r.Addr, r.Addr2, r.Arg0, r.Arg1, r.Wide = t.Addr, t.Addr2, t.Arg0, t.Arg1, t.Wide
	return x.write(&r, t.data)
}

// encode is an error as it travels. Of an errno alone there is no more to say.
func encode(err error) (syscall.Errno, []byte) {
	if errno, ok := err.(syscall.Errno); ok {
		return errno, nil
	}
	var over *LimitError
	if errors.As(err, &over) {
		_, data := control.EncodeError(over)
		return over.Errno, data
	}
	if c, ok := err.(*canceledError); ok { // with what it waited for
		_, data := control.EncodeError(c.error)
		return syscall.ECANCELED, data
	}
	return control.EncodeError(err)
}

// refuse counts and logs that the program may not do something.
func (x *session) refuse(what string) { x.srv.refuse(x.client, x.who, what) }

func (s *Server) refuse(c *client, who attach.Credentials, what string) {
	c.refused.Add(1)
	s.counters.refused.Add(1)
	s.refusals.tell("rights", slog.String("verb", what), slog.String("client", who.String()))
}

// charge takes of what is limited, counts and logs it if there is no more.
func (x *session) charge(r resource, k int) error { return x.srv.charge(x.client, x.who, r, k) }

func (s *Server) charge(c *client, who attach.Credentials, r resource, k int) error {
	err := c.charge(r, k)
	if err != nil {
		c.overLimit.Add(1)
		s.counters.overLimit.Add(1)
		s.refusals.tell("limit", slog.String("client", who.String()), slog.Any("err", err))
	}
	return err
}

// scopeOf is the scope in an address, or without one d.
func scopeOf(a attach.Sockaddr, d frame.Scope) (frame.Scope, error) {
	switch s := frame.Scope(a.Scope); s {
	case 0, 1: // the kernel's TIPC_ZONE_SCOPE means the cluster
		if a.Scope == 1 {
			return stack.ClusterScope, nil
		}
		return d, nil
	case stack.ClusterScope, stack.NodeScope:
		return s, nil
	}
	return 0, syscall.EINVAL
}
