// SPDX-License-Identifier: Apache-2.0

// Package tipcnats has clients of NATS reach a server by a TIPC name.
//
//	conn, err := nats.Connect("nats://18888:4222", tipcnats.Options(node)...)
//
// The server listens on TCP or not at all (DontListen); Serve hands it what a stack.Listener accepts:
//
//	ln, err := node.Listen(ctx, "tipc", stack.Service{Type: 18888, Instance: 4222})
//	err = tipcnats.Serve(ln, server)
//
// Not implemented: instances above 65535, which a URL of NATS cannot have as its port; routes between
// servers and leaf nodes, for which the server has no dialer.
package tipcnats

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/utipc/utipc/stack"
)

// Options are the options with which nats.Connect connects by n. The host and the port of a URL
// are a type and an instance, which are not looked up anywhere else.
func Options(n *stack.Node) []nats.Option {
	return []nats.Option{nats.SetCustomDialer(dialer{n}), nats.SkipHostLookup()}
}

type dialer struct{ node *stack.Node }

// Dial connects; how long that may take is SocketConfig.DialTimeout's default.
func (d dialer) Dial(_, address string) (net.Conn, error) {
	a, err := stack.ParseAddr(address)
	if err != nil {
		return nil, err
	}
	// NATS has a connection carry small messages both ways, and collects them itself.
	c, err := stack.SocketConfig{NoDelay: true}.Dial(context.Background(), d.node, "tipc", a)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// A Server is what is needed of a NATS server; *server.Server is one.
type Server interface {
	// InProcessConn returns a client's end of a connection.
	InProcessConn() (net.Conn, error)
}

// Serve hands connections that ln accepts to the server until ln is closed, and returns when the
// last of them has ended. Errors: those of Accept and InProcessConn, nil when ln was closed. It
// closes ln.
func Serve(ln *stack.Listener, s Server) error {
	var open sync.WaitGroup
	defer open.Wait()
	defer ln.Close()
	for {
		c, err := ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		inner, err := s.InProcessConn()
		if err != nil {
			c.Close()
			return err
		}
		open.Go(func() { join(c, inner) })
	}
}

// join copies both ways until one of two connections ends, and closes both.
func join(a, b net.Conn) {
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		both.Go(func() {
			io.Copy(way[0], way[1])
			a.Close()
			b.Close()
		})
	}
	both.Wait()
}
