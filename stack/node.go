// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"

	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/local"
)

// A Node is a member of a TIPC cluster: within this process, see Open, or as the daemon of
// this host, see Attach. All methods may be called by any number of goroutines.
type Node struct{ b backend.Node }

// Open makes this process a node on the given bearers. It returns when the node's
// address is settled: at once when it was configured, after a second of trial if
// not, and without a bearer (Config.NoBearers) at once in any case. The node owns the bearers from now on, and closes them if Open fails.
// Errors: ErrConfig, the context's, the device's own.
func Open(ctx context.Context, cfg Config) (*Node, error) {
	b, err := local.Open(ctx, local.Config(cfg))
	if err != nil {
		return nil, backend.OpError("open", "tipc", nil, nil, err)
	}
	return &Node{b}, nil
}

// Addr is the node's address; 0 of a node that had no bearer yet and was given none.
func (n *Node) Addr() NodeAddr { return n.b.Addr() }

// Identity is the node's identity.
func (n *Node) Identity() Identity { return n.b.Identity() }

// Admin returns what manages the node: its bearers, links, keys, and what it knows and counts.
func (n *Node) Admin() *admin.Admin { return n.b.Admin() }

// Close ends the node: it closes every socket, which withdraws the names, waits
// until the other nodes have acknowledged everything or ctx is done, tells them
// that it stops, and closes the bearers. A node that does not answer is waited for as
// long as the link to it lasts, and a peer that does not read what a connection has still to
// send as long as its node answers: what is left when ctx is done ends in a reset. A second
// Close waits for the first, at most until its own ctx is done, and returns the same.
// Errors: *UnsentError with what ctx said, and with the bytes of connections that are lost, since
// the node began, and that their own Close has not reported; the devices' own. What a peer has
// delivered and not yet acknowledged counts as lost. That of an
// attached node closes what this program has, and waits until the daemon has sent what it
// was given, or ctx is done: *UnsentError says what was lost.
func (n *Node) Close(ctx context.Context) error { return n.b.Close(ctx) }

// Done returns a channel that is closed when the node has ended: its Close is over, or, of an
// attached node, a daemon refuses it, or with AttachConfig.NoReattach is lost.
func (n *Node) Done() <-chan struct{} { return n.b.Done() }

// Err returns why the node has ended, nil as long as it lives, and while an attached node waits
// for a daemon; it unwraps to net.ErrClosed. Each socket of an attached node has a connection of
// its own to the daemon: with AttachConfig.NoReattach a call on one may fail with a *GoneError a
// moment before Err returns it.
func (n *Node) Err() error { return n.b.Err() }
