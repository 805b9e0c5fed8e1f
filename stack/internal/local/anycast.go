// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"sync"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/internal/backend"
)

// An anycast is a Packet that sends one message to a service, and notes to which socket: another
// call may send from the same Packet before this one has returned.
type anycast struct {
	*Packet
	took frame.SocketAddr
}

var anycasts = sync.Pool{New: func() any { return new(anycast) }}

// put implements sender.
func (c *anycast) put(now time.Duration, d backend.Dest, data []byte) (err error) {
	c.took, err = c.port.SendAny(now, d.Service(), data)
	return err
}

// WriteAny implements backend.Packet.
func (c *Packet) WriteAny(d backend.Dest, b []byte, wait bool) (to frame.SocketAddr, err error) {
	s := anycasts.Get().(*anycast)
	s.Packet = c
	err = c.n.submit(s, d, b)
	switch {
	case err == nil:
	case !wait && c.waits(d, err):
		err = backend.ErrAgain
	default:
		err = c.n.retry(context.Background(), s, d, b, err)
	}
	to = s.took
	s.Packet = nil
	anycasts.Put(s)
	switch err {
	case nil:
		return to, nil
	case backend.ErrAgain:
		return frame.SocketAddr{}, err
	}
	return frame.SocketAddr{}, c.SendError(d.Addr(), err)
}
