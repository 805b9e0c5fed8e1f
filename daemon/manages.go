// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// A manages is the node's management as a process may use it that does not speak the daemon's
// protocol: the same verbs, rights and limits as those of a session.
type manages struct {
	srv    *Server
	client *client
	who    attach.Credentials
	held   int // queued bytes, for what the request that is being answered has listed
}

// Addr implements genetlink.Node.
func (m *manages) Addr() stack.NodeAddr { return m.srv.node.Addr() }

// Identity implements genetlink.Node.
func (m *manages) Identity() stack.Identity { return m.srv.node.Identity() }

// Admin implements genetlink.Node.
func (m *manages) Admin() *admin.Admin { return admin.New(m) }

// Do implements admin.Backend.
func (m *manages) Do(ctx context.Context, x control.Exchange) error {
	return m.Control(ctx, x.Verb, x.In, x.Out)
}

// Control implements admin.Backend. Errors: syscall.ENOSYS, syscall.EPERM, *LimitError; those of
// the call.
func (m *manages) Control(ctx context.Context, verb string, in, out any) error {
	v, ok := m.srv.nodeVerb(verb)
	if !ok {
		return syscall.ENOSYS
	}
	if !m.srv.cfg.Policy.Allows(v.Right, m.who) {
		m.srv.refuse(m.client, m.who, verb)
		return syscall.EPERM
	}
	if err := m.srv.charge(m.client, m.who, calls, 1); err != nil {
		return err
	}
	defer m.client.release(calls, 1)
	m.pace(ctx)
	var params []byte
	if in != nil {
		var err error
		if params, err = json.Marshal(in); err != nil {
			return err
		}
		defer clear(params) // it may be a key
	}
	leave, err := m.srv.turns.enter(ctx, verb, v.Right)
	if err != nil {
		return err
	}
	defer leave()
	reply, err := v.Serve(ctx, m.who, params)
	if err != nil || out == nil {
		return err
	}
	if err := m.srv.charge(m.client, m.who, queuedBytes, len(reply)); err != nil {
		return err
	}
	m.held += len(reply)
	return json.Unmarshal(reply, out)
}

// answered lets go of what was charged for a request.
func (m *manages) answered() {
	m.client.release(queuedBytes, m.held)
	m.held = 0
}

// pace waits while the process makes more calls than it may send records, or until ctx is done.
func (m *manages) pace(ctx context.Context) {
	if pause := m.client.pace.take(); pause > 0 {
		m.client.slowed.Add(1)
		m.srv.counters.slowed.Add(1)
		rest(ctx, pause)
	}
}

// AddDevice implements admin.Backend: nobody asks for it.
func (m *manages) AddDevice(context.Context, netdev.Device, admin.BearerConfig) error {
	return errors.ErrUnsupported
}

// Capture implements admin.Backend: nobody asks for it.
func (m *manages) Capture(context.Context, admin.CaptureConfig) (admin.Capture, error) {
	return nil, errors.ErrUnsupported
}

// Watch implements admin.Backend: nobody asks for it.
func (m *manages) Watch(context.Context) (admin.Watch, error) { return nil, errors.ErrUnsupported }
