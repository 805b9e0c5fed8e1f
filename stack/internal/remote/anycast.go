// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/internal/backend"
)

// WriteAny implements backend.Packet: the answer of the daemon has the socket.
func (c *Packet) WriteAny(d backend.Dest, b []byte, wait bool) (frame.SocketAddr, error) {
	if !wait || c.f.welcomed().Features&attach.FeatureAnycast == 0 {
		return frame.SocketAddr{}, c.opError("write", d.Addr(), errors.ErrUnsupported)
	}
	h, _ := recordTo(&d) // of a service it is no error
	h.Flags |= attach.FlagAnswer
	waited, err := c.send(context.Background(), &h, b)
	if err != nil {
		return frame.SocketAddr{}, c.notSent(d.Addr(), waited, err)
	}
	to, _ := h.Addr2.Socket()
	return to, nil
}
