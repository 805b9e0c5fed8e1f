// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"encoding/json"
	"time"

	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack/admin"
)

// Management calls that are methods of Node.
var (
	_         = control.Query("Node", "addr", (*localNode).Addr)
	_         = control.Query("Node", "identity", (*localNode).Identity)
	waitsCall = control.Query("Node", "waits", (*localNode).Waits)
	probeCall = control.New("Node", "probe", control.Use, func(ctx context.Context, n *localNode, in probeParams) (out probeReply, err error) {
		out.Alive, out.RTT, err = n.Probe(ctx, in.Addr)
		return out, err
	})
)

type (
	probeParams struct{ Addr SocketAddr }
	probeReply  struct {
		Alive bool
		RTT   time.Duration
	}
)

// Admin implements nodeBackend.
func (n *localNode) Admin() *admin.Admin { return admin.Local(n) }

// Do implements control.Backend.
func (n *localNode) Do(ctx context.Context, x control.Exchange) error { return x.Run(ctx, n) }

// Control makes a call that is known by its verb alone, as a program that is attached does.
func (n *localNode) Control(ctx context.Context, verb string, in, out any) error {
	params, ok := in.(json.RawMessage)
	if !ok && in != nil {
		var err error
		if params, err = json.Marshal(in); err != nil {
			return err
		}
	}
	reply, err := control.Serve(ctx, n, verb, params)
	switch {
	case err != nil || out == nil:
		return err
	}
	if raw, ok := out.(*json.RawMessage); ok {
		*raw = reply
		return nil
	}
	return json.Unmarshal(reply, out)
}
