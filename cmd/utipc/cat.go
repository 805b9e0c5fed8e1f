// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
)

var catCommand = cmdline.Command{
	Name:  "cat",
	Short: "netcat on names: standard input to a socket, and back",
	Usage: `utipc cat: netcat on names: the standard input to a socket, what comes from there to
the standard output. Nothing is added, left out or changed.

    utipc cat [FLAGS] ADDRESS
    utipc cat -l [FLAGS] [NAME]

ADDRESS is a service (18888:17), a socket (<1001002:134550589>) or, without a
connection, a range (18888:0-99), which is multicast. The command waits until somebody
has the name. With -l it is the one that NAME, a service or range, leads to; without
NAME its socket's address is told.

Over a connection input and output go on until one side closes. TIPC knows no half of a
close: at the end of its input the command closes, after --linger. The other side reads
everything first. With -l one connection is taken, with --keep one after the other; the
input goes to the first.

Without a connection every piece of input is a message: what was read at once, of a
terminal a line; --lines and --whole cut otherwise. Messages that come are written one
behind the other; with -l the input goes to whoever sent last. What nobody takes comes
back: when it does before the end, the exit status is 1. In a group (--group) all members
read the input.

{flags}

    utipc cat -l 18888:17 > copy           # here
    utipc cat 18888:17 < file              # and on any other node
    echo hello | utipc cat --network tipcrdm --once --linger 1s 18888:17
`,
	Run: func(ctx context.Context, args []string, std cmdline.Stdio) error {
		var h nodeFlags
		var c cat
		f := cmdline.NewFlags("cat")
		c.flags(f)
		h.flags(f)
		rest, err := cmdline.Parse(f, args, 0, 1)
		if err != nil {
			return err
		}
		if err := c.check(rest); err != nil {
			return err
		}
		n, finish, err := h.open(ctx, std)
		if err != nil {
			return err
		}
		return errors.Join(c.run(ctx, n, std), closeNode(n, finish))
	},
}

// A cat is the flags of the command.
type cat struct {
	kind                      socketKind
	listen, keep, once, recv  bool
	lines, whole, json, quiet bool
	count, size               int
	linger, timeout           time.Duration

	addr net.Addr // to send to, or to be; nil: no name
	back error    // the last message that came back
}

func (c *cat) flags(f *cmdline.Flags) {
	f.BoolVar(&c.listen, "l", false, "be the one with the name")
	c.kind.flags(f, "tipc, a stream; tipcpacket, messages over a connection; tipcrdm or tipcgram, messages (default tipc; of a range tipcrdm)",
		"join the communication group of ADDRESS or NAME, a service")
	f.BoolVar(&c.keep, "keep", false, "with -l: when a connection has ended take the next")
	f.BoolVar(&c.once, "once", false, "end with the first message that comes")
	f.BoolVar(&c.recv, "recv", false, "do not read the standard input: only what comes counts")
	f.BoolVar(&c.lines, "lines", false, "every line of the input is a message, its end included")
	f.BoolVar(&c.whole, "whole", false, "all of the input is one message, of 66000 bytes at most")
	f.BoolVar(&c.json, "json", false, "what comes as JSON, an object on a line for each piece: time, from, name, bytes and data, in base64")
	f.BoolVar(&c.quiet, "quiet", false, "no word on the standard error of who is connected")
	f.IntVar(&c.count, "count N", 0, "end with message N that comes; 0: never (default 0)")
	f.IntVar(&c.size, "size N", frame.MaxPayload, "bytes of a message at most, 1 to 66000")
	f.DurationVar(&c.linger, "linger D", 0, "how long to wait, from the end of the input on, for something to come, and again after each; without -l (default 0)")
	f.DurationVar(&c.timeout, "timeout D", 10*time.Second, "how long to wait for the name")
}

// check reads the address and reports flags that do not go together.
func (c *cat) check(rest []string) (err error) {
	if len(rest) == 0 && !c.listen {
		return cmdline.UsageError("too few arguments")
	}
	if err := c.checkCounts(); err != nil {
		return err
	}
	if len(rest) > 0 {
		if c.addr, err = stack.ParseAddr(rest[0]); err != nil {
			return cmdline.UsageError(fmt.Sprintf("%q is no address such as 18888:17, 18888:0-99 or <1001002:7>", rest[0]))
		}
	}
	if !c.kind.given && !c.kind.group {
		c.kind.network = "tipc"
		if _, many := c.addr.(stack.Range); many && !c.listen {
			c.kind.network = "tipcrdm"
		}
	}
	if err := c.kind.check(); err != nil {
		return err
	}
	if err := c.checkAddr(); err != nil {
		return err
	}
	return c.checkConnected()
}

// connected reports whether the socket is one of connections.
func (c *cat) connected() bool { return c.kind.connected() && !c.kind.group }

// checkCounts reports limits that are out of their range, or contradict each other.
func (c *cat) checkCounts() error {
	if c.once {
		if c.count > 1 {
			return cmdline.UsageError("--once and --count do not go together")
		}
		c.count = 1
	}
	switch {
	case c.count < 0 || c.linger < 0 || c.timeout <= 0:
		return cmdline.UsageError("--timeout must be positive, --count and --linger not negative")
	case c.size < 1 || c.size > frame.MaxPayload:
		return cmdline.UsageError(fmt.Sprintf("--size is not in 1 to %d", frame.MaxPayload))
	case c.lines && c.whole:
		return cmdline.UsageError("--lines and --whole do not go together")
	}
	return nil
}

// checkAddr reports an address that the kind of socket cannot have.
func (c *cat) checkAddr() error {
	svc, one := c.addr.(stack.Service)
	one = one && svc.Node == 0
	_, many := c.addr.(stack.Range)
	switch {
	case c.kind.group && !one:
		return cmdline.UsageError("--group wants TYPE:INSTANCE")
	case c.listen && c.addr != nil && !many && !one:
		return cmdline.UsageError("with -l the name is TYPE:INSTANCE or TYPE:LOWER-UPPER")
	case c.connected() && many && !c.listen:
		return cmdline.UsageError("a range is multicast, which is not for connections")
	}
	return nil
}

// checkConnected reports flags that want a socket of connections, or one of messages.
func (c *cat) checkConnected() error {
	switch {
	case c.keep && (!c.listen || !c.connected()):
		return cmdline.UsageError("--keep goes with -l and connections")
	case c.kind.network == "tipc" && (c.lines || c.whole) && c.connected():
		return cmdline.UsageError("a stream has no messages: --lines and --whole do not go with it")
	}
	return nil
}

// run copies until both ways are over.
func (c *cat) run(ctx context.Context, n *stack.Node, std cmdline.Stdio) error {
	out := &catOutput{w: std.Raw(), json: c.json, most: c.count}
	err := c.copy(ctx, n, std, out)
	if err == nil {
		err = c.back
	}
	if errors.Is(err, errEnough) || ctx.Err() != nil && errors.Is(err, net.ErrClosed) {
		return nil // all that was asked for, or interrupted
	}
	return err
}

func (c *cat) copy(ctx context.Context, n *stack.Node, std cmdline.Stdio, out *catOutput) error {
	switch {
	case c.kind.group:
		return c.group(ctx, n, std, out)
	case c.kind.connected() && c.listen:
		return c.accept(ctx, n, std, out)
	case c.kind.connected():
		return c.dial(ctx, n, std, out)
	}
	return c.packets(ctx, n, std, out)
}

// say tells something on the standard error.
func (c *cat) say(std cmdline.Stdio, format string, args ...any) {
	if !c.quiet {
		fmt.Fprintf(std.Err, "utipc cat: "+format+"\n", args...)
	}
}

// wait waits for the name.
func (c *cat) wait(ctx context.Context, n *stack.Node) error {
	svc, ok := c.addr.(stack.Service)
	if r, many := c.addr.(stack.Range); many {
		return c.anybody(ctx, n, r)
	}
	if !ok || svc.Node != 0 {
		return nil
	}
	return c.anybody(ctx, n, stack.Range{Type: svc.Type, Lower: svc.Instance, Upper: svc.Instance})
}

// anybody waits until somebody is bound to what overlaps r.
func (c *cat) anybody(ctx context.Context, n *stack.Node, r stack.Range) error {
	wait, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	sub, err := n.Subscribe(wait, r)
	if err != nil {
		return err
	}
	defer sub.Close()
	for {
		e, err := sub.Next(wait)
		switch {
		case err == nil && !e.Withdrawn:
			return nil
		case errors.Is(err, context.DeadlineExceeded):
			return fmt.Errorf("nobody has bound %v within %v; links: %s", rangeText(r), c.timeout, links(n))
		case err != nil:
			return err
		}
	}
}
