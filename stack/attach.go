// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/remote"
)

// DefaultSocket is where the daemon listens unless $UTIPC_SOCKET, or its own settings, say
// otherwise.
const DefaultSocket = "/run/utipc/utipc.sock"

// An AttachConfig is how a program uses the daemon; its zero value means the defaults.
type AttachConfig struct {
	// SyncErrors makes every send wait for the daemon's answer, and so return its own error.
	// Otherwise data is sent without waiting, and an error is reported: see Attach.
	// backend.SocketOptions.SyncErrors says so for one socket.
	SyncErrors bool
	// NameWait is how long a send waits for a name that nobody has bound, for sockets that do
	// not say; 0: as the daemon is set, negative: not at all.
	NameWait time.Duration
	// Ring and Wait say how data comes from the daemon and goes there: Wait of Spin looks at
	// a ring without end while a call reads, and owns a core; Adaptive for 50 µs where there
	// is a ring; Sleep never.
	Ring RingMode
	Wait WaitMode
	// Program is how the daemon's lists call this program; empty: its file's name.
	Program string
	// NoReattach has the node end when the daemon ends, as a tool that looks at one daemon
	// wants it: every call fails with a *GoneError from then on, and Node.Done is closed.
	NoReattach bool
}

// Attach makes this program a client of its host's daemon, which listens at path; empty:
// at $UTIPC_SOCKET, or at DefaultSocket. What comes back is a Node as Open's: the same
// methods, with the daemon's address, on which this program has sockets of its own.
//
// Names, connections and options wait for the daemon's answer. Data does not: a message
// that waits for room is taken as soon as it lies between program and daemon, where there
// is room for some 200 KiB. What the daemon then cannot send is reported, and the sends
// after it are not touched: see PacketConn.NextReport. For a connection an error is its
// end, which the next Write returns. With SyncErrors each send waits.
//
// The node outlives the daemon: it attaches to the one that comes next at path by itself, and
// makes its sockets again, with their names, options, deadlines and groups, and with other
// addresses. While no daemon is there,
//
//   - calls of listeners, packet sockets, groups, active ports and subscriptions wait, as far
//     as their deadline or context allows, and so does what makes a socket or connects; the
//     Try calls fail with syscall.EAGAIN;
//   - connections end with a *GoneError, which is syscall.ECONNRESET, and so do captures,
//     subscriptions at another node, and a Call whose answer had not come;
//   - calls that ask how things stand, or change that, fail with a *GoneError; those that have
//     no error, as Links, return nothing.
//
// Subscriptions report every binding that they had reported as withdrawn, groups with
// GroupConfig.Events their members as left, and a Watch DaemonLost and DaemonBack. A daemon
// that refuses this program ends the node with a *ReattachError; one that refuses a single
// socket ends that. With AttachConfig.NoReattach the node ends with the daemon.
//
// docs/reference/attach.md has the differences to Open, and the protocol. Attach itself does not wait
// for a daemon. Errors, inside *net.OpError: those of the system, as syscall.ENOENT and
// ECONNREFUSED where no daemon is, EACCES where one may not connect; *attach.VersionError;
// syscall.EPERM, EMFILE and EUSERS where the daemon refuses; the context's.
func Attach(ctx context.Context, path string) (*Node, error) { return AttachConfig{}.Attach(ctx, path) }

// Attach is stack.Attach with options.
func (c AttachConfig) Attach(ctx context.Context, path string) (*Node, error) {
	path = cmp.Or(path, os.Getenv("UTIPC_SOCKET"), DefaultSocket)
	c.Program = cmp.Or(c.Program, filepath.Base(os.Args[0]))
	b, err := remote.Attach(ctx, path, remote.Config(c))
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ECONNREFUSED):
		err = fmt.Errorf("%w: no daemon is there; start one (systemctl start utipc, or utipc daemon --if IFACE), or name the socket of one that runs (--socket PATH, $UTIPC_SOCKET)", err)
	case errors.Is(err, syscall.EACCES):
		err = fmt.Errorf("%w: the daemon's socket is for root and the group utipc", err)
	}
	if err != nil {
		return nil, backend.OpError("attach", "tipc", nil, &net.UnixAddr{Net: "unixpacket", Name: path}, err)
	}
	return &Node{b}, nil
}
