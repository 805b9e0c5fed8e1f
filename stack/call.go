// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"

	"github.com/utipc/utipc/stack/internal/backend"
)

// A CallConfig is the options of calls; its zero value means the defaults.
type CallConfig struct {
	// PreferIdle is that of a SocketConfig: the request goes to a socket that has least to do.
	PreferIdle bool
}

// Call is CallConfig.Call with default options.
func (n *Node) Call(ctx context.Context, addr net.Addr, req, resp []byte) (k int, from SocketAddr, err error) {
	return CallConfig{}.Call(ctx, n, addr, req, resp)
}

// Call sends req to addr, a Service, a Range or a SocketAddr, waits for the answer and
// copies it into resp; k is how much of that is filled, from the socket that answered.
// The way from the request to the answer is as short as there is: one turn of the lock,
// and one kick.
//
// The answer to a call of a socket is the first message of that socket, to a call of a
// service or a range the first of anybody. Each call has a socket to itself. That of a
// call that got no answer, or of one of a range, is closed, so that what is late is never
// taken for the answer to another call; who answers one request twice, later than at
// once, may be, and on an attached node whenever the second answer has not yet come from the
// daemon when the next call begins.
//
// A request that nobody takes comes back: then the error is a *RejectError. When the socket
// that took it closes without an answer, as that of a program does that ends, or contact with
// its node is lost, the error is a *CallError with ErrUnreachable, and which socket that was: what
// was asked for may have been done. What tells of that is that the socket's names are withdrawn; a socket without a
// name on another node, or of a Service with a Node other than this one, is waited for as long
// as there is contact. A socket that takes its name back and stays open, as that of a service does that
// ends in order, is waited for too. Requests to a range are
// waited for until ctx is done. While others have the service as well the call ends a second
// later, as one of them may have the request.
//
// The errors, inside *net.OpError, are these; *CallError when ctx is done; io.ErrShortBuffer when resp
// was too short, what does not fit is lost; ErrEmpty of an empty request; and those of
// PacketConn.WriteTo.
//
// A context that was used for the last call too costs no allocation.
func (c CallConfig) Call(ctx context.Context, n *Node, addr net.Addr, req, resp []byte) (k int, from SocketAddr, err error) {
	d, err := backend.DestOf(addr)
	if err == nil && len(req) == 0 {
		err = ErrEmpty
	}
	if err == nil {
		k, from, err = n.b.Call(ctx, backend.CallOptions(c), d, addr, req, filled(resp))
	}
	if err != nil {
		return k, from, backend.OpError("call", "tipcrdm", nil, addr, err)
	}
	return k, from, nil
}
