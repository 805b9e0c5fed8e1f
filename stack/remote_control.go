// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
)

// showWait is how long the daemon has to answer a call that has no context.
const showWait = 8 * time.Second

// welcomed is what the daemon said of its node.
func (f *remoteNode) welcomed() attach.Welcome {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.welcome
}

// call makes a management call. in is its words, or nil; out takes what it tells, or is
// nil. Errors: those of the call itself, as the method of Node has them.
func (f *remoteNode) call(ctx context.Context, verb string, in, out any) error {
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
		told, _ := DecodeError(a.Errno, a.data)
		if inner(told) == told {
			told = opError("call", "tipc", nil, nil, told)
		}
		return response{}, told
	}
	return a, nil
}

// query is a call without params or error. It returns nothing when there is no daemon.
func query[Out any](f *remoteNode, verb string) (out Out) {
	ctx, cancel := context.WithTimeout(context.Background(), showWait)
	defer cancel()
	if f.call(ctx, verb, nil, &out) != nil {
		var none Out
		return none
	}
	return out
}

// command is a call that returns only whether it failed.
func (f *remoteNode) command(verb string, in any) error {
	ctx, cancel := context.WithTimeout(context.Background(), showWait)
	defer cancel()
	return f.call(ctx, verb, in, nil)
}

// property is a call for one property.
func (f *remoteNode) property(verb, name string, p Property) (v int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), showWait)
	defer cancel()
	err = f.call(ctx, verb, propertyWords{Name: name, Property: p}, &v)
	return v, err
}

// SetKey implements nodeBackend. What is left of the key here is wiped.
func (f *remoteNode) SetKey(k Key) error {
	w, err := wordsOf(k)
	if err != nil {
		return opError("set key", "tipc", nil, nil, err)
	}
	defer clear(w.Material)
	ctx, cancel := context.WithTimeout(context.Background(), showWait)
	defer cancel()
	return f.call(ctx, "set-key", &w, nil)
}

// Control implements nodeBackend.
func (f *remoteNode) Control(ctx context.Context, verb string, in, out any) error {
	return f.call(ctx, verb, in, out)
}

// Addr implements nodeBackend.
func (f *remoteNode) Addr() NodeAddr { return f.welcomed().Node }

// Identity implements nodeBackend.
func (f *remoteNode) Identity() Identity { return f.welcomed().Identity }

// Probe implements nodeBackend.
func (f *remoteNode) Probe(ctx context.Context, addr SocketAddr) (bool, time.Duration, error) {
	var told probeTold
	began := time.Now()
	err := f.call(ctx, "probe", probeWords{addr}, &told)
	if why := ctx.Err(); why != nil && err != nil {
		err = opError("probe", "tipc", nil, addr, &SilentError{Node: addr.Node, Waited: time.Since(began), Err: why})
	}
	return told.Alive, told.RTT, err
}

// Audit implements nodeBackend.
func (f *remoteNode) Audit(ctx context.Context, c AuditConfig) (*AuditReport, error) {
	var r AuditReport
	if err := f.call(ctx, "audit", c, &r); err != nil {
		return nil, err
	}
	return &r, nil
}

// querySocket is a call about a socket that cannot fail. It tells nothing when the socket is
// closed, or the daemon gone.
func querySocket[Out any](s *remoteSocket, verb string) (out Out) {
	ctx, cancel := context.WithTimeout(context.Background(), showWait)
	defer cancel()
	if s.line().call(ctx, verb, nil, &out) != nil {
		var none Out
		return none
	}
	return out
}
