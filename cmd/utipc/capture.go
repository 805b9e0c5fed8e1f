// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/tap"
)

var captureCommand = cmdline.Command{
	Name:  "capture",
	Short: "record what a running node sends and receives, as pcapng",
	Usage: `utipc capture: record what a running node sends and receives, as pcapng.

    utipc capture [FLAGS] [FILE]

Every frame of the node's bearers is written with its time, its direction, the bearer,
and, where there is something to say, a comment: the reason for which the node dropped
it, that it is a retransmission, that the device refused it. Without FILE, or with -, the
capture goes to the standard output, each frame at once. It ends when it is interrupted;
what was lost for want of room is told then. Frames are as they are on the wire: sealed,
where there are keys. Nobody else's frames are in it: the node sees only TIPC.

{flags}

    utipc capture node.pcapng
    utipc capture --bearer eth0 | tshark -r -
    utipc capture --count 1000 | utipc decode -
`,
	Run: func(ctx context.Context, args []string, std cmdline.Stdio) error {
		var h nodeFlags
		var c capturer
		f := cmdline.NewFlags("capture")
		c.flags(f)
		h.flags(f)
		rest, err := cmdline.Parse(f, args, 0, 1)
		if err != nil {
			return err
		}
		if err := c.check(); err != nil {
			return err
		}
		if len(rest) == 1 && rest[0] != "-" {
			c.file = rest[0]
		}
		if o, ok := std.Raw().(*os.File); ok && c.file == "" && isTerminal(o) {
			return cmdline.UsageError("a capture is not for terminals: name a FILE, or pipe it")
		}
		n, finish, err := h.open(ctx, std)
		if err != nil {
			return err
		}
		return errors.Join(c.run(ctx, n, std), closeNode(n, finish))
	},
}

// A capturer is the flags of the command.
type capturer struct {
	admin.CaptureConfig
	count    int
	duration time.Duration
	file     string // empty: the standard output
}

func (c *capturer) flags(f *cmdline.Flags) {
	f.Func("bearer NAME", "this bearer alone; may be given again (default all)", func(s string) error {
		c.Bearers = append(c.Bearers, s)
		return nil
	})
	f.IntVar(&c.count, "count N", 0, "end after N frames; 0: never (default 0)")
	f.DurationVar(&c.duration, "duration D", 0, "end after that time; 0: never (default 0)")
	f.IntVar(&c.Snap, "snap N", 0, "bytes of a frame that are kept; 0: all (default 0)")
	f.IntVar(&c.Frames, "buffer N", 4096, "frames that may wait to be written, 1 to 65536")
}

func (c *capturer) check() error {
	switch {
	case c.count < 0 || c.duration < 0:
		return cmdline.UsageError("--count and --duration must not be negative")
	case c.Snap < 0 || c.Snap > 0 && c.Snap < 14:
		return cmdline.UsageError("--snap is under 14, the Ethernet header")
	case c.Frames < 1 || c.Frames > 65536:
		return cmdline.UsageError("--buffer is not in 1 to 65536")
	}
	return nil
}

// run records until there is enough, or ctx or the node is done.
func (c *capturer) run(ctx context.Context, n *stack.Node, std cmdline.Stdio) (err error) {
	if c.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.duration)
		defer cancel()
	}
	record, err := n.Admin().Capture(ctx, c.CaptureConfig)
	if err != nil {
		return err
	}
	defer record.Close()
	out, flush := std.Raw(), func() error { return nil }
	if c.file != "" {
		f, err := os.Create(c.file)
		if err != nil {
			return err
		}
		b := bufio.NewWriter(f)
		out, flush = b, func() error { return errors.Join(b.Flush(), f.Close()) }
	}
	w := tap.NewMultiWriter(out)
	ifaces := map[string]int{}
	frames := 0
	defer func() {
		err = errors.Join(err, flush())
		fmt.Fprintf(std.Err, "utipc capture: %d frames, %d lost for want of room\n", frames, record.Lost())
	}()
	for c.count == 0 || frames < c.count {
		f, err := record.Next(ctx)
		switch {
		case err != nil && ctx.Err() != nil: // interrupted, or the time is over
			return nil
		case errors.As(err, new(*stack.GoneError)): // which n may not know yet
			return err
		case errors.Is(err, net.ErrClosed):
			return n.Err()
		case err != nil:
			return err
		}
		dir := tap.In
		if f.Out {
			dir = tap.Out
		}
		id, known := ifaces[f.Bearer]
		if !known {
			if id, err = w.Interface(f.Bearer, c.Snap); err != nil {
				return err
			}
			ifaces[f.Bearer] = id
		}
		if err := w.WriteCut(id, f.Time, dir, f.Data, f.Length, f.Comment); err != nil {
			return err
		}
		frames++
	}
	return nil
}
