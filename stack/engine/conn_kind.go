// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"syscall"

	"github.com/utipc/utipc/frame"
)

// A request says what it asks for, a stream or messages, to nodes that have Kinds, and within the
// node. A listener of the other kind returns it, and says its own kind there:
//
//	dialed as messages ── SYN, MessageKind ──► a listener of streams
//	EndStreams ◄── SYN back, NoPort, StreamKind ────────┘
//
// To all others it is a request that was returned with NoPort. One that does not say what it asks for,
// as of a kernel, is taken by every listener, and so is every request by a listener with AnyKind.
// Source: docs/explanation/protocol.md, "Among nodes of utipc".

// ErrWrongNetwork means a listener that was dialed as one of another network. A *WrongNetworkError
// says which it is of. It is syscall.ECONNREFUSED.
var ErrWrongNetwork = fmt.Errorf("engine: the listener is of another network: %w", syscall.ECONNREFUSED)

// A WrongNetworkError means that the listener's connections are streams, and messages were asked
// for, or the reverse. It unwraps to ErrWrongNetwork.
type WrongNetworkError struct {
	Listener string // its network, "tipc" or "tipcpacket"
}

// Error says what to dial.
func (e *WrongNetworkError) Error() string {
	return fmt.Sprintf("the listener is of network %q (dial it with that)", e.Listener)
}

// Unwrap returns ErrWrongNetwork.
func (e *WrongNetworkError) Unwrap() error { return ErrWrongNetwork }

// kindOf is what sockets ask for, or take.
func kindOf(stream, all bool) frame.ConnKind {
	switch {
	case all:
		return frame.AnyKind
	case stream:
		return frame.StreamKind
	}
	return frame.MessageKind
}

// otherKind is the kind that is not k.
func otherKind(k frame.ConnKind) frame.ConnKind { return kindOf(k != frame.StreamKind, false) }

// otherThan reports whether two kinds are said, and not the same.
func otherThan(a, b frame.ConnKind) bool {
	return a == frame.StreamKind && b == frame.MessageKind || a == frame.MessageKind && b == frame.StreamKind
}

// kindTo is a kind as it may be said to a node.
func (e *Engine) kindTo(to frame.NodeAddr, k frame.ConnKind) frame.ConnKind {
	if k == frame.AnyKind {
		return k
	}
	n := e.home(to)
	if n == nil || e.cfg.AsKernel || n != e.self && !n.has(Kinds) {
		return frame.AnyKind
	}
	return k
}

// isOther reports whether a listener does not take what a request asks for.
func (l *Listener) isOther(f *frame.PayloadFields) bool {
	return l.user == nil && otherThan(f.Kind, kindOf(l.Stream, l.AnyKind))
}

// refusedBy is how a connection ends whose request came back.
func (r *request) refusedBy(f *frame.PayloadFields) ConnEnd {
	switch {
	case !f.Syn || f.Error != frame.NoPort || !otherThan(f.Kind, r.f.Kind):
		return EndRefused
	case f.Kind == frame.StreamKind:
		return EndStreams
	}
	return EndMessages
}
