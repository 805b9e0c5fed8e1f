// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"syscall"

	"github.com/utipc/utipc/stack/internal/backend"
)

// SetReadBuffer sets how many bytes may wait to be read, as SocketConfig.ReceiveLimit: at least
// 512 KiB. The peer hears of it as it is told of what was read. Errors, inside *net.OpError:
// ErrConfig, net.ErrClosed.
func (c *Conn) SetReadBuffer(bytes int) error { return c.b.SetReceiveLimit(bytes) }

// SetReadBuffer is SetReceiveLimit.
func (c *PacketConn) SetReadBuffer(bytes int) error { return c.b.SetReceiveLimit(bytes) }

// SetWriteBuffer is there for programs that call it. A node has no send buffers for its sockets:
// what is written waits on the link, or the call does. Of an attached node it sets how much may be on the way
// to the daemon, but not less than the longest record; the system has its own limit. Errors, inside
// *net.OpError: net.ErrClosed, those of the system.
func (c *Conn) SetWriteBuffer(bytes int) error { return setWriteBuffer(c.b, bytes) }

// SetWriteBuffer is as of Conn.
func (c *PacketConn) SetWriteBuffer(bytes int) error { return setWriteBuffer(c.b, bytes) }

func setWriteBuffer(s backend.Socket, bytes int) error {
	if err := s.SetWriteBuffer(bytes); err != nil {
		return backend.OpError("set", s.Network(), s.Addr(), nil, err)
	}
	return nil
}

// SyscallConn returns the descriptor of an attached node's socket, which leads to the daemon: Control
// may look at it and set its options, such as the buffers' sizes. Read and Write fail with
// errors.ErrUnsupported, and Control is to do neither, nor close it: what goes there are records
// of the socket protocol. The descriptor is another after the daemon has restarted. A socket of a
// node in this process has none: there Control fails with errors.ErrUnsupported too, and not this
// call, as packages that ask any net.PacketConn for its descriptor, of QUIC for one, would not do
// without. Errors, inside *net.OpError: net.ErrClosed.
func (c *Conn) SyscallConn() (syscall.RawConn, error) { return syscallConn(c.b) }

// SyscallConn is as of Conn.
func (l *Listener) SyscallConn() (syscall.RawConn, error) { return syscallConn(l.b) }

// SyscallConn is as of Conn.
func (c *PacketConn) SyscallConn() (syscall.RawConn, error) { return syscallConn(c.b) }

func syscallConn(s backend.Socket) (syscall.RawConn, error) {
	r, err := s.SyscallConn()
	if err != nil {
		return nil, backend.OpError("syscall", s.Network(), s.Addr(), nil, err)
	}
	return r, nil
}
