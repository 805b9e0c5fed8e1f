// SPDX-License-Identifier: Apache-2.0

package stack

import "sync"

// An ending is why and when a node ended.
type ending struct {
	once sync.Once
	over chan struct{}
	why  error // once over is closed
}

func newEnding() *ending { return &ending{over: make(chan struct{})} }

// end ends the node, for the first reason that is given.
func (e *ending) end(why error) {
	e.once.Do(func() {
		e.why = why
		close(e.over)
	})
}

// life implements nodeBackend.
func (e *ending) life() *ending { return e }

// Done returns a channel that is closed when the node has ended: its Close is over, or, of an
// attached node, a daemon refuses it, or with AttachConfig.NoReattach is lost.
func (n *Node) Done() <-chan struct{} { return n.b.life().over }

// Err returns why the node has ended, nil as long as it lives, and while an attached node waits
// for a daemon; it unwraps to net.ErrClosed. Each socket of an attached node has a connection of
// its own to the daemon: with AttachConfig.NoReattach a call on one may fail with a *GoneError a
// moment before Err returns it.
func (n *Node) Err() error {
	e := n.b.life()
	select {
	case <-e.over:
		return e.why
	default:
		return nil
	}
}
