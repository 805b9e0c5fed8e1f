// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"

	"github.com/utipc/utipc/stack/admin"
)

// A Node is a member of a TIPC cluster: within this process, see Open, or as the daemon of
// this host, see Attach. All methods may be called by any number of goroutines.
type Node struct{ b nodeBackend }

// Open makes this process a node on the given bearers. It returns when the node's
// address is settled: at once when it was configured, after a second of trial if
// not, and without a bearer (Config.NoBearers) at once in any case. The node owns the bearers from now on, and closes them if Open fails.
// Errors: ErrConfig, the context's, the device's own.
func Open(ctx context.Context, cfg Config) (*Node, error) {
	n, err := open(cfg)
	if err != nil {
		for _, d := range cfg.Bearers {
			if d != nil {
				d.Close()
			}
		}
		return nil, opError("open", "tipc", nil, nil, err)
	}
	n.logs.open(cfg.Logger)
	go n.loop.Run()
	if len(cfg.Bearers) == 0 {
		return &Node{n}, nil
	}
	if err := n.settled(ctx); err != nil {
		n.Close(ctx)
		return nil, opError("open", "tipc", nil, nil, err)
	}
	return &Node{n}, nil
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
// Errors: *UnsentError with what ctx said, or with the bytes of connections that were lost
// since the node began, after their own Close had returned; the devices' own. That of an
// attached node closes what this program has, and waits until the daemon has sent what it
// was given, or ctx is done: *UnsentError says what was lost.
func (n *Node) Close(ctx context.Context) error { return n.b.Close(ctx) }
