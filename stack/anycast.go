// SPDX-License-Identifier: Apache-2.0

package stack

import "github.com/utipc/utipc/stack/internal/backend"

// WriteToAny is WriteTo of a Service that reports the socket which the message was sent to. When
// that has closed meanwhile, its node may have passed the message on to another that has the name:
// who answers, or a *RejectError, tells. Of a Service with a Node other than this one the port is 0:
// that node chooses.
//
// On an attached node the daemon chooses, so that the call waits for its answer, with SyncErrors or
// without. Errors as for WriteTo; errors.ErrUnsupported where the daemon is an older one.
func (c *PacketConn) WriteToAny(b []byte, svc Service) (SocketAddr, error) {
	return c.b.WriteAny(backend.ServiceDest(svc), b, true)
}

// TryWriteToAny is WriteToAny that does not wait for room or for a name. Errors as for WriteToAny,
// and syscall.EAGAIN; on an attached node, where it had to wait, errors.ErrUnsupported.
func (c *PacketConn) TryWriteToAny(b []byte, svc Service) (SocketAddr, error) {
	return c.b.WriteAny(backend.ServiceDest(svc), b, false)
}
