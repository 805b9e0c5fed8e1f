// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"errors"
	"net"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/socket"
)

// An Envelope is what a backend knows of a message that it has read.
type Envelope struct {
	From       frame.SocketAddr
	Name       frame.Range
	Named      bool
	Importance frame.Importance
	Truncated  bool
	Error      frame.ErrorCode
	Receipt    uint64

	Addr net.Addr // From, as an interface that is made once for messages in a row
}

// Message is the message without its data.
func (m *Envelope) Message() socket.Message {
	return socket.Message{From: m.From, Name: m.Name, Named: m.Named, Importance: m.Importance, Truncated: m.Truncated, Error: m.Error, Receipt: m.Receipt}
}

// Fill says what is known of a message of a batch, and how much of Data it filled in.
func (m *Envelope) Fill(x *socket.Message, n int) {
	x.N, x.From, x.Name, x.Named, x.Importance, x.Truncated, x.Error, x.Receipt = n, m.From, m.Name, m.Named, m.Importance, m.Truncated, m.Error, m.Receipt
}

// Reject is the error of a message that came back.
func (m *Envelope) Reject() *socket.RejectError {
	e := &socket.RejectError{Code: m.Error, Dest: m.From}
	if m.Named {
		e.Name = frame.Service{Type: m.Name.Type, Instance: m.Name.Lower}
	}
	return e
}

// ErrNoCallee means that the socket which took a request is gone.
var ErrNoCallee = errors.New("stack: nobody is there to answer")

// Unanswered is the error of a request that came back, or that has ended: what comes back
// has data, of which k bytes were read.
func (m *Envelope) Unanswered(k int) error {
	if k == 0 && !m.Truncated {
		return ErrNoCallee
	}
	return m.Reject()
}

// IsFrom reports whether a message came from the socket that was called.
func IsFrom(from, called, own frame.SocketAddr) bool {
	if called.Node == 0 {
		called.Node = own.Node
	}
	return from.Port == called.Port && from.Node == called.Node
}

// A GroupEnvelope is what a backend knows of a message or an event that it has read.
type GroupEnvelope struct {
	Kind       engine.GroupKind
	From       frame.SocketAddr
	Member     frame.Service
	Private    bool
	Importance frame.Importance
	Truncated  bool
	Evicts     bool
	Behind     int
	Idle       time.Duration

	Addr net.Addr // From, as an interface that is made once for messages in a row
}

// Message is the message without its data.
func (m *GroupEnvelope) Message() socket.Message {
	return socket.Message{
		From: m.From, Importance: m.Importance, Truncated: m.Truncated, Kind: m.Kind, Member: m.Member, Private: m.Private,
		Evicts: m.Evicts, Behind: m.Behind, Idle: m.Idle,
	}
}
