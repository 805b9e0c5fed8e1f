// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
)

var echoCommand = command{
	name:  "echo",
	short: "a node that answers on a name, until it is interrupted",
	usage: `utipc echo: a node that sends every message on a name back to its sender, until
it is interrupted.

    utipc echo --if IFACE [FLAGS] SERVICE

SERVICE is TYPE:INSTANCE or TYPE:LOWER-UPPER, with a type from 64 up.

` + memberUsage + `
    utipc echo --if eth1 --address 1.1.1 18888:17
`,
	run: func(ctx context.Context, args []string, std stdio) error {
		var m member
		f := flag.NewFlagSet("echo", flag.ContinueOnError)
		m.flags(f)
		rest, err := parse(f, args, 1, 1)
		if err != nil {
			return err
		}
		addr, err := bindArg(rest[0])
		if err != nil {
			return err
		}
		n, finish, err := m.open(ctx, std.err)
		if err != nil {
			return err
		}
		return errors.Join(echo(ctx, n, m.iface, addr, std.out), closeMember(n, finish))
	},
}

// echo answers on addr until ctx is done.
func echo(ctx context.Context, n *stack.Node, iface string, addr net.Addr, out io.Writer) error {
	c, err := n.ListenPacket(ctx, "tipcrdm", addr)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { c.Close() })()
	fmt.Fprintf(out, "echo: node %v on %s answers on %v at %v\n", n.Addr(), iface, addr, c.LocalAddr())
	b := make([]byte, frame.MaxPayload)
	var answered, failed uint64
	var why error // of the last that could not be
	for {
		k, from, err := c.ReadFrom(b)
		if err != nil {
			fmt.Fprintf(out, "echo: %d messages answered, %d could not be\n", answered, failed)
			if why != nil {
				fmt.Fprintf(out, "echo: the last one: %v\n", why)
			}
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if _, err := c.WriteTo(b[:k], from); err != nil {
			failed++
			why = err
		} else {
			answered++
		}
	}
}
