// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/utipc/utipc/stack"
)

// A pingSocket is what messages and answers travel over.
type pingSocket interface {
	send(b []byte) error
	// receive waits for an answer and copies it into b; of a stream it is as long as
	// every message is.
	receive(b []byte) (n int, from net.Addr, err error)
	SetDeadline(t time.Time) error
	Close() error
}

// socket makes the socket that the flags ask for, connected if it is that kind.
func (p *pinger) socket(ctx context.Context, n *stack.Node) (pingSocket, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	switch {
	case p.kind.group:
		return p.member(ctx, n)
	case p.kind.connected():
		c, err := stack.SocketConfig{NoDelay: true, DialTimeout: p.timeout}.Dial(ctx, n, p.kind.network, p.to)
		if err != nil {
			return nil, err
		}
		if p.kind.network == "tipcpacket" {
			return pingConn{c}, nil
		}
		return &pingStream{Conn: c, part: make([]byte, p.size)}, nil
	}
	c, err := stack.SocketConfig{Returnable: true}.ListenPacket(ctx, n, p.kind.network, nil)
	if err != nil {
		return nil, err
	}
	return pingPackets{c, p.to}, nil
}

// member joins the group and waits until the instance that is asked has, too.
func (p *pinger) member(ctx context.Context, n *stack.Node) (pingSocket, error) {
	own := stack.Service{Type: p.to.Type, Instance: uint32(n.Addr())}
	g, err := stack.GroupConfig{Events: true}.Join(ctx, n, own)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { g.Close() })
	for {
		_, m, err := g.ReadMsg(nil)
		if err != nil {
			g.Close()
			if ctx.Err() != nil {
				err = fmt.Errorf("no member of the group is %v within %v", p.to, p.timeout)
			}
			return nil, err
		}
		if m.Kind == stack.MemberJoined && m.Member == p.to {
			stop()
			return pingPackets{g, p.to}, nil
		}
	}
}

// pingPackets sends to a name and takes answers from anybody.
type pingPackets struct {
	net.PacketConn
	to net.Addr
}

func (s pingPackets) send(b []byte) error {
	_, err := s.WriteTo(b, s.to)
	return err
}

func (s pingPackets) receive(b []byte) (int, net.Addr, error) { return s.ReadFrom(b) }

// A pingConn is a connection that keeps messages apart.
type pingConn struct{ *stack.Conn }

func (c pingConn) send(b []byte) error {
	_, err := c.Write(b)
	return err
}

func (c pingConn) receive(b []byte) (int, net.Addr, error) {
	k, err := c.Read(b)
	return k, c.RemoteAddr(), ended(err)
}

// A pingStream is a connection that does not.
type pingStream struct {
	*stack.Conn
	part []byte // of the answer that comes
	have int    // bytes in it; kept when a deadline passes
}

func (c *pingStream) send(b []byte) error { return pingConn{c.Conn}.send(b) }

func (c *pingStream) receive(b []byte) (int, net.Addr, error) {
	for c.have < len(c.part) {
		k, err := c.Read(c.part[c.have:])
		if err != nil {
			return 0, nil, ended(err)
		}
		c.have += k
	}
	c.have = 0
	return copy(b, c.part), c.RemoteAddr(), nil
}

// ended says in words that the peer has closed.
func ended(err error) error {
	if err == io.EOF {
		return errors.New("the echo has closed the connection")
	}
	return err
}
