// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
)

var echoCommand = cmdline.Command{
	Name:  "echo",
	Short: "a node that answers on a name, until it is interrupted",
	Usage: `utipc echo: a node that sends everything that comes for a name back to its
sender, until it is interrupted.

    utipc echo [FLAGS] SERVICE

SERVICE is TYPE:INSTANCE or TYPE:LOWER-UPPER, with a type from 64 up.

{flags}

    utipc echo --if eth1 --address 1.1.1 18888:17
    utipc echo --if eth1 --address 1.1.1 --network tipcpacket 18888:17
`,
	Run: func(ctx context.Context, args []string, std cmdline.Stdio) error {
		var h nodeFlags
		var k socketKind
		f := cmdline.NewFlags("echo")
		k.flags(f, "the socket: tipcrdm or tipcgram, messages; tipcpacket or tipc, connections with messages or a stream of bytes, 1000 at a time (default tipcrdm)",
			"a member of the communication group TYPE, with INSTANCE")
		h.flags(f)
		rest, err := cmdline.Parse(f, args, 1, 1)
		if err != nil {
			return err
		}
		if err := k.check(); err != nil {
			return err
		}
		addr, err := bindArg(rest[0])
		if err != nil {
			return err
		}
		if _, one := addr.(stack.Service); k.group && !one {
			return cmdline.UsageError("--group wants TYPE:INSTANCE")
		}
		h.serves = true
		n, finish, err := h.open(ctx, std)
		if err != nil {
			return err
		}
		return errors.Join(echo(ctx, n, h.place(), k, addr, std.Out), closeNode(n, finish))
	},
}

// echo answers on addr until ctx is done.
func echo(ctx context.Context, n *stack.Node, iface string, k socketKind, addr net.Addr, out io.Writer) error {
	begin := func(at net.Addr) {
		fmt.Fprintf(out, "echo: node %v on %s answers on %v at %v%s\n", n.Addr(), iface, addr, at, k.note())
	}
	if k.connected() {
		l, err := stack.SocketConfig{NoDelay: true}.Listen(ctx, n, k.network, addr)
		if err != nil {
			return err
		}
		begin(l.LocalAddr())
		return echoConns(ctx, l, out)
	}
	c, err := k.packets(ctx, n, addr)
	if err != nil {
		return err
	}
	begin(c.LocalAddr())
	return echoPackets(ctx, c, out)
}

// packets makes the socket of an echo without connections.
func (k socketKind) packets(ctx context.Context, n *stack.Node, addr net.Addr) (net.PacketConn, error) {
	if k.group {
		g, err := n.Join(ctx, addr.(stack.Service))
		if err != nil {
			return nil, err
		}
		return echoMember{g}, nil
	}
	c, err := n.ListenPacket(ctx, k.network, addr)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// An echoMember answers members of its group, but none for long that does not read: the
// others wait meanwhile.
type echoMember struct{ *stack.Group }

func (m echoMember) WriteTo(b []byte, to net.Addr) (int, error) {
	m.SetWriteDeadline(time.Now().Add(time.Second))
	return m.Group.WriteTo(b, to)
}

// reported counts the messages that a socket of an attached node has taken and could not
// send; err is about the last of them.
func reported(socket any) (k uint64, err error) {
	s, ok := socket.(interface {
		TryNextReport() (stack.SendReport, error)
	})
	for ok {
		r, none := s.TryNextReport()
		if none != nil {
			break
		}
		k, err = k+1+r.Lost, r.Err
	}
	return k, err
}

// echoPackets sends every message back, but for those that seem to be its own, until ctx
// is done.
func echoPackets(ctx context.Context, c net.PacketConn, out io.Writer) error {
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	b := make([]byte, frame.MaxPayload)
	self := c.LocalAddr().String()
	var answered, failed uint64
	var why error // of the last that could not be
	for {
		k, from, err := c.ReadFrom(b)
		if err != nil {
			lost, last := reported(c)
			if last != nil {
				answered, failed, why = answered-lost, failed+lost, last
			}
			fmt.Fprintf(out, "echo: %d messages answered, %d could not be\n", answered, failed)
			if why != nil {
				fmt.Fprintf(out, "echo: the last one: %v\n", why)
			}
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if from.String() == self { // an answer to itself would come back for ever
			continue
		}
		if _, err := c.WriteTo(b[:k], from); err != nil {
			failed++
			why = err
		} else {
			answered++
		}
	}
}
