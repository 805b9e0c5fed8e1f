// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack/socket"
)

// Management calls that are methods of Node.
var (
	_         = control.Query("Node", "addr", Node.Addr)
	_         = control.Query("Node", "identity", Node.Identity)
	WaitsCall = control.Query("Node", "waits", waiting.Waits)
	// PublishedCall has no parameters, and no reply.
	PublishedCall = control.New("Node", "wait-published", control.Use, func(ctx context.Context, n Node, _ control.Nothing) (out control.Nothing, err error) {
		return out, n.WaitPublished(ctx)
	})
	ProbeCall = control.New("Node", "probe", control.Use, func(ctx context.Context, n Node, in ProbeParams) (out probeReply, err error) {
		out.Alive, out.RTT, err = n.Probe(ctx, in.Addr)
		return out, err
	})
)

// waiting is what a node has that carries out calls itself.
type waiting interface{ Waits() []socket.Wait }

type (
	ProbeParams struct{ Addr frame.SocketAddr }
	probeReply  struct {
		Alive bool
		RTT   time.Duration
	}
)
