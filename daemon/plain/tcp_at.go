// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"context"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/tcpwire"
	"github.com/utipc/utipc/stack"
)

// A program with a node of its own has its ports from the daemon, as the address is the host's, and its connections
// with such programs over its own node. So it says of each socket where it is, and asks, before it connects,
// where a port is, and, before it believes the address of a connection, where that is. The daemon that has the address
// answers; programs without a node of their own connect by the daemons as ever.

// answerWait is for how long another daemon may take to say where a port is. One that does not know the question says
// nothing.
const answerWait = time.Second

// locate notes at which socket of a node of its program's own the socket is, h.Addr2, and answers where h.Addr is,
// if it is an address. Addr2 of the answer is a socket, or nothing: it is at no such node, or nowhere.
func (x *tcpSocket) locate(ctx context.Context, h *attach.Header) Answer {
	if at, ok := h.Addr2.Socket(); ok {
		x.mu.Lock()
		x.at = at
		x.mu.Unlock()
	}
	a := failure(nil)
	of, ok := tcpAddrOf(h.Addr)
	if !ok {
		return a
	}
	at, err := x.all.whereTCP(ctx, of)
	if err != nil {
		return failure(err)
	}
	if at != (frame.SocketAddr{}) {
		a.Addr2 = attach.SocketSockaddr(at)
	}
	return a
}

// whereTCP asks the daemon that has an address. Errors: syscall.EHOSTUNREACH if none has it.
func (s *Sockets) whereTCP(ctx context.Context, of tcpwire.Addr) (at frame.SocketAddr, err error) {
	if of.IP == s.tcp.ip {
		return s.tcp.at(of.Port), nil
	}
	node, err := s.tcp.nodes.node(ctx, of.IP)
	if err != nil {
		return at, err
	}
	ctx, stop := context.WithTimeout(ctx, answerWait)
	defer stop()
	var answer [tcpwire.AnswerLen]byte
	dest := stack.Service{Type: tcpwire.NodeType, Instance: of.IP, Node: node}
	k, _, err := s.node.Call(ctx, dest, tcpwire.AppendQuestion(nil, of.Port), answer[:])
	if err != nil {
		return at, nil // a daemon that does not answer knows of no such nodes
	}
	at, _ = tcpwire.ParseAnswer(answer[:k])
	return at, nil
}

// at is where the port is, zero if at no node of a program's own.
func (t *tcpNet) at(port uint16) frame.SocketAddr {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.ports[port] {
		x.mu.Lock()
		at := x.at
		x.mu.Unlock()
		if at != (frame.SocketAddr{}) {
			return at
		}
	}
	return frame.SocketAddr{}
}

// answer answers the questions of other daemons, until the node's address is no longer bound.
func (t *tcpNet) answer() {
	var question [tcpwire.QuestionLen + 1]byte
	for {
		k, m, err := t.bound.ReadMsg(question[:])
		if err != nil {
			return
		}
		if port, ok := tcpwire.ParseQuestion(question[:k]); ok && m.Error == 0 {
			_, _ = t.bound.TryWriteTo(tcpwire.AppendAnswer(nil, t.at(port)), m.From) // one that is lost is asked for again
		}
	}
}
