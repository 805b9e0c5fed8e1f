// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// welcomed is what the daemon said of its node.
func (f *Node) welcomed() attach.Welcome {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.welcome
}

// Control makes a management call. in is its parameters, or nil; out takes its reply, or is nil.
// Errors: those of the call itself, as its method has them.
func (f *Node) Control(ctx context.Context, verb string, in, out any) error {
	l, err := f.line()
	if err != nil {
		return backend.OpError("call", "tipc", nil, nil, err)
	}
	return l.call(ctx, verb, in, out)
}

// call makes a call on a line.
func (l *clientConn) call(ctx context.Context, verb string, in, out any) error {
	var words []byte
	if in != nil {
		var err error
		if words, err = json.Marshal(in); err != nil {
			return backend.OpError("call", "tipc", nil, nil, err)
		}
		defer clear(words) // there may be a key in it
	}
	data := attach.AppendCall(nil, verb, words)
	defer clear(data)
	a, err := l.tell(ctx, attach.Header{Op: attach.OpCall}, data)
	if err != nil {
		return err
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(a.data, out); err != nil {
		return backend.OpError("call", "tipc", nil, nil, fmt.Errorf("%w: answer to %s: %w", syscall.EPROTO, verb, err))
	}
	return nil
}

// tell is ask whose errors are the daemon's whole ones; others are inside *net.OpError.
func (l *clientConn) tell(ctx context.Context, h attach.Header, data []byte) (response, error) {
	a, err := l.exchange(ctx, nil, h, data)
	if err != nil {
		return a, backend.OpError("call", "tipc", nil, nil, err)
	}
	if a.Errno != 0 {
		told, _ := control.DecodeError(a.Errno, a.data)
		if inner(told) == told {
			told = backend.OpError("call", "tipc", nil, nil, told)
		}
		return response{}, told
	}
	return a, nil
}

// Admin implements backend.Node.
func (f *Node) Admin() *admin.Admin { return admin.New(f) }

// Do implements control.Backend.
func (f *Node) Do(ctx context.Context, x control.Exchange) error {
	return f.Control(ctx, x.Verb, x.In, x.Out)
}

// AddDevice fails: a device cannot travel.
func (f *Node) AddDevice(_ context.Context, dev netdev.Device, _ admin.BearerConfig) error {
	if dev != nil {
		dev.Close()
	}
	return backend.OpError("enable bearer", "tipc", nil, nil, errors.ErrUnsupported)
}

// NoteBearer implements backend.Node. How a bearer stands is the daemon's to say.
func (f *Node) NoteBearer(string, admin.BearerState) {}

// ForgetBearer implements backend.Node.
func (f *Node) ForgetBearer(string) {}

// BearerNoted implements backend.Node.
func (f *Node) BearerNoted(string) bool { return false }

// HoldBearer implements backend.Node.
func (f *Node) HoldBearer(string, bool) error {
	return backend.ManageError("hold", errors.ErrUnsupported)
}

// Addr implements backend.Node.
func (f *Node) Addr() frame.NodeAddr { return f.welcomed().Node }

// Identity implements backend.Node.
func (f *Node) Identity() frame.Identity { return f.welcomed().Identity }

// Probe implements backend.Node.
func (f *Node) Probe(ctx context.Context, addr frame.SocketAddr) (bool, time.Duration, error) {
	began := time.Now()
	reply, err := backend.ProbeCall.Do(ctx, f, backend.ProbeParams{Addr: addr})
	if why := ctx.Err(); why != nil && err != nil {
		err = backend.OpError("probe", "tipc", nil, addr, &socket.SilentError{Node: addr.Node, Waited: time.Since(began), Err: why})
	}
	return reply.Alive, reply.RTT, err
}

// WaitPublished implements backend.Node.
func (f *Node) WaitPublished(ctx context.Context) error {
	began := time.Now()
	_, err := backend.PublishedCall.Do(ctx, f, control.Nothing{})
	if why := ctx.Err(); why != nil && err != nil {
		err = backend.OpError("publish", "tipc", nil, nil, &socket.SilentError{Node: f.Addr(), Waited: time.Since(began), Err: why})
	}
	return err
}

// querySocket is a call about a socket.
func querySocket[Out any](ctx context.Context, s *Socket, verb string) (out Out, err error) {
	if err := s.line().call(ctx, verb, nil, &out); err != nil {
		return *new(Out), err
	}
	return out, nil
}
