// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
)

// accept takes one connection, or with --keep one after the other.
func (c *cat) accept(ctx context.Context, n *stack.Node, std cmdline.Stdio, out *catOutput) error {
	l, err := n.Listen(ctx, c.kind.network, c.addr)
	if err != nil {
		return err
	}
	defer l.Close()
	defer context.AfterFunc(ctx, func() { l.Close() })()
	c.say(std, "%v listens, %s", l.LocalAddr(), c.kind.network)
	in := c.input(std)
	for {
		conn, err := l.AcceptConn()
		if err != nil {
			return err
		}
		if !c.keep {
			l.Close()
		}
		c.say(std, "connection from %v", conn.RemoteAddr())
		err = c.converse(ctx, conn, in, out)
		if !c.keep || errors.Is(err, errEnough) || ctx.Err() != nil || out.broken() != nil {
			return err
		}
		if err != nil {
			c.say(std, "%v", err)
		}
		in = nil // it was the first one's
	}
}

// dial connects.
func (c *cat) dial(ctx context.Context, n *stack.Node, std cmdline.Stdio, out *catOutput) error {
	if err := c.wait(ctx, n); err != nil {
		return err
	}
	conn, err := stack.SocketConfig{DialTimeout: c.timeout}.Dial(ctx, n, c.kind.network, c.addr)
	if err != nil {
		return err
	}
	c.say(std, "connected to %v, %s", conn.RemoteAddr(), c.kind.network)
	return c.converse(ctx, conn, c.input(std), out)
}

// converse copies both ways until the peer closes, or the input has ended and --linger
// is over; with -l the end of in, which is nil if there is none, is not the end.
func (c *cat) converse(ctx context.Context, conn *stack.Conn, in *catInput, out *catOutput) error {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	sent := make(chan error, 1) // how sending has ended
	if in != nil {
		go func() {
			err := in.each(func(b []byte) error {
				_, err := conn.Write(b)
				return err
			})
			sent <- err
			if err != nil || !c.listen {
				conn.SetReadDeadline(time.Now().Add(c.linger))
			}
		}()
	}
	b := make([]byte, frame.MaxPayload)
	for {
		k, err := conn.Read(b)
		switch {
		case err == nil:
			if err := out.write(piece{from: conn.RemoteAddr(), data: b[:k]}); err != nil {
				return err
			}
			if len(sent) > 0 && !c.listen {
				conn.SetReadDeadline(time.Now().Add(c.linger))
			}
			continue
		case err == io.EOF:
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			err = <-sent
		}
		if in != nil && errors.Is(err, syscall.EPIPE) {
			return nil // the peer has closed before it has read all
		}
		return err
	}
}
