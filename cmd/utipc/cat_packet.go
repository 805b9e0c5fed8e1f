// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
)

// packets copies without a connection.
func (c *cat) packets(ctx context.Context, n *stack.Node, std cmdline.Stdio, out *catOutput) error {
	var bound net.Addr
	if c.listen {
		bound = c.addr
	} else if err := c.wait(ctx, n); err != nil {
		return err
	}
	_, many := c.addr.(stack.Range)
	p, err := stack.SocketConfig{Returnable: !many || c.listen}.ListenPacket(ctx, n, c.kind.network, bound)
	if err != nil {
		return err
	}
	if c.listen {
		c.say(std, "%v listens, %s", p.LocalAddr(), c.kind.network)
	}
	var last atomic.Pointer[net.Addr] // who sent last
	first := make(chan struct{})      // closed when somebody has
	to := func() (net.Addr, error) {
		if !c.listen {
			return c.addr, nil
		}
		select {
		case <-first:
			return *last.Load(), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return c.exchange(ctx, std, p, to, out, func(b []byte) (piece, error) {
		k, m, err := p.ReadMsg(b)
		for err == nil && m.Error != frame.OK {
			c.back = fmt.Errorf("a message came back: %w", &stack.RejectError{Code: m.Error, Dest: m.From})
			c.say(std, "%v", c.back)
			k, m, err = p.ReadMsg(b)
		}
		if err != nil {
			return piece{}, err
		}
		from := net.Addr(m.From)
		if last.Swap(&from) == nil {
			close(first)
		}
		got := piece{from: from, data: b[:k]}
		if m.Named {
			got.name = rangeText(m.Name)
		}
		return got, nil
	})
}

// group copies to all members and from all.
func (c *cat) group(ctx context.Context, n *stack.Node, std cmdline.Stdio, out *catOutput) error {
	g, err := n.Join(ctx, c.addr.(stack.Service))
	if err != nil {
		return err
	}
	c.say(std, "%v is in group %d as %v", g.LocalAddr(), g.Service().Type, g.Service())
	if !c.listen {
		wait, cancel := context.WithTimeout(ctx, c.timeout)
		defer cancel()
		if err := g.WaitMembers(wait, 1); err != nil {
			g.Close()
			return err
		}
	}
	to := func() (net.Addr, error) { return nil, nil } // everybody
	return c.exchange(ctx, std, catGroup{g}, to, out, func(b []byte) (piece, error) {
		for {
			k, m, err := g.ReadMsg(b)
			if err != nil {
				return piece{}, err
			}
			if m.Kind == stack.GroupData {
				return piece{from: m.From, name: m.Member.String(), data: b[:k]}, nil
			}
		}
	})
}

// A catSocket is what messages go through.
type catSocket interface {
	WriteTo(b []byte, to net.Addr) (int, error)
	SetReadDeadline(time.Time) error
	Close() error
}

// catGroup writes to everybody where no address is given.
type catGroup struct{ *stack.Group }

func (g catGroup) WriteTo(b []byte, to net.Addr) (int, error) { return g.Write(b) }

// exchange sends the input to whom to says, and writes what read reads, until the input
// has ended and --linger is over, or with -l until it is interrupted.
func (c *cat) exchange(ctx context.Context, std cmdline.Stdio, s catSocket, to func() (net.Addr, error), out *catOutput, read func(b []byte) (piece, error)) error {
	defer s.Close()
	defer context.AfterFunc(ctx, func() { s.Close() })()
	in := c.input(std)
	sent := make(chan error, 1) // how sending has ended
	if in != nil {
		go func() {
			err := in.each(func(b []byte) error {
				_, err := reported(s)
				var dest net.Addr
				if err == nil {
					dest, err = to()
				}
				if err == nil {
					_, err = s.WriteTo(b, dest)
				}
				return err
			})
			sent <- err
			if err != nil || !c.listen {
				s.SetReadDeadline(time.Now().Add(c.linger))
			}
		}()
	}
	b := make([]byte, frame.MaxPayload)
	for {
		p, err := read(b)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			if err = <-sent; err == nil {
				_, err = reported(s)
			}
			return err
		case err != nil:
			return err
		}
		if err := out.write(p); err != nil {
			return err
		}
		if len(sent) > 0 && !c.listen {
			s.SetReadDeadline(time.Now().Add(c.linger))
		}
	}
}
