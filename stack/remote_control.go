// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/admin"
)

// welcomed is what the daemon said of its node.
func (f *remoteNode) welcomed() attach.Welcome {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.welcome
}

// Control makes a management call. in is its parameters, or nil; out takes its reply, or is nil.
// Errors: those of the call itself, as its method has them.
func (f *remoteNode) Control(ctx context.Context, verb string, in, out any) error {
	l, err := f.line()
	if err != nil {
		return opError("call", "tipc", nil, nil, err)
	}
	return l.call(ctx, verb, in, out)
}

// call makes a call on a line.
func (l *clientConn) call(ctx context.Context, verb string, in, out any) error {
	var words []byte
	if in != nil {
		var err error
		if words, err = json.Marshal(in); err != nil {
			return opError("call", "tipc", nil, nil, err)
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
		return opError("call", "tipc", nil, nil, fmt.Errorf("%w: answer to %s: %w", syscall.EPROTO, verb, err))
	}
	return nil
}

// tell is ask whose errors are the daemon's whole ones; others are inside *net.OpError.
func (l *clientConn) tell(ctx context.Context, h attach.Header, data []byte) (response, error) {
	a, err := l.exchange(ctx, new(time.Time), h, data)
	if err != nil {
		return a, opError("call", "tipc", nil, nil, err)
	}
	if a.Errno != 0 {
		told, _ := decodeError(a.Errno, a.data)
		if inner(told) == told {
			told = opError("call", "tipc", nil, nil, told)
		}
		return response{}, told
	}
	return a, nil
}

// Admin implements nodeBackend.
func (f *remoteNode) Admin() *admin.Admin { return admin.Remote(f) }

// Do implements control.Backend.
func (f *remoteNode) Do(ctx context.Context, x control.Exchange) error {
	return f.Control(ctx, x.Verb, x.In, x.Out)
}

// AddDevice fails: a device cannot travel.
func (f *remoteNode) AddDevice(_ context.Context, dev netdev.Device, _ admin.BearerConfig) error {
	if dev != nil {
		dev.Close()
	}
	return opError("enable bearer", "tipc", nil, nil, errors.ErrUnsupported)
}

// NoteBearer implements nodeBackend. How a bearer stands is the daemon's to say.
func (f *remoteNode) NoteBearer(string, admin.BearerState) {}

// ForgetBearer implements nodeBackend.
func (f *remoteNode) ForgetBearer(string) {}

// BearerNoted implements nodeBackend.
func (f *remoteNode) BearerNoted(string) bool { return false }

// HoldBearer implements nodeBackend.
func (f *remoteNode) HoldBearer(string, bool) error {
	return manageError("hold", errors.ErrUnsupported)
}

// Addr implements nodeBackend.
func (f *remoteNode) Addr() NodeAddr { return f.welcomed().Node }

// Identity implements nodeBackend.
func (f *remoteNode) Identity() Identity { return f.welcomed().Identity }

// Probe implements nodeBackend.
func (f *remoteNode) Probe(ctx context.Context, addr SocketAddr) (bool, time.Duration, error) {
	began := time.Now()
	reply, err := probeCall.Do(ctx, f, probeParams{addr})
	if why := ctx.Err(); why != nil && err != nil {
		err = opError("probe", "tipc", nil, addr, &SilentError{Node: addr.Node, Waited: time.Since(began), Err: why})
	}
	return reply.Alive, reply.RTT, err
}

// querySocket is a call about a socket.
func querySocket[Out any](ctx context.Context, s *remoteSocket, verb string) (out Out, err error) {
	if err := s.line().call(ctx, verb, nil, &out); err != nil {
		return *new(Out), err
	}
	return out, nil
}
