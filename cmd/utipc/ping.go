// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/engine"
)

var pingCommand = cmdline.Command{
	Name:  "ping",
	Short: "measure round trips to an echo on a name",
	Usage: `utipc ping: measure round trips to an echo on a name.

    utipc ping [FLAGS] SERVICE

SERVICE is TYPE:INSTANCE, with @NODE behind it for the one on that node. The
command waits until somebody has the name, then sends. It exits with 1 when an
answer does not come.

{flags}

    utipc ping --if eth1 --address 1.1.2 18888:17
`,
	Run: func(ctx context.Context, args []string, std cmdline.Stdio) error {
		var h nodeFlags
		var p pinger
		f := cmdline.NewFlags("ping")
		p.kind.flags(f, "the socket, as the echo's: tipcrdm or tipcgram, messages; tipcpacket or tipc, over one connection (default tipcrdm)",
			"join the communication group TYPE and ask members with INSTANCE")
		f.IntVar(&p.count, "count N", 10, "messages")
		f.DurationVar(&p.interval, "interval D", 100*time.Millisecond, "from one message to the next; 0: at once, and only the summary is printed")
		f.IntVar(&p.size, "size N", 64, "bytes of a message, 8 to 66000")
		f.DurationVar(&p.timeout, "timeout D", 10*time.Second, "how long to wait for the name, and for an answer")
		f.BoolVar(&p.stats, "stats", false, "print the statistics of all links at the end, how neighbours are watched (tipc link monitor summary), and what was dropped")
		f.BoolVar(&p.json, "json", false, "a JSON object a line: each answer, or why there is none, unless --interval is 0; last the summary. Times are microseconds")
		h.flags(f)
		rest, err := cmdline.Parse(f, args, 1, 1)
		if err != nil {
			return err
		}
		if err := p.kind.check(); err != nil {
			return err
		}
		if p.to, err = serviceArg(rest[0]); err != nil {
			return err
		}
		if err := p.kind.target(p.to); err != nil {
			return err
		}
		if p.size < 8 || p.size > frame.MaxPayload {
			return cmdline.UsageError(fmt.Sprintf("--size is not in 8 to %d", frame.MaxPayload))
		}
		if p.count < 1 || p.interval < 0 || p.timeout <= 0 {
			return cmdline.UsageError("--count and --timeout must be positive, --interval not negative")
		}
		if p.json && p.stats {
			return cmdline.UsageError("--stats has no JSON; utipc link --json statistics show has")
		}
		n, finish, err := h.open(ctx, std)
		if err != nil {
			return err
		}
		return errors.Join(p.run(ctx, n, std.Out), closeNode(n, finish))
	},
}

// A pinger measures round trips.
type pinger struct {
	to       stack.Service
	kind     socketKind
	count    int
	size     int
	interval time.Duration
	timeout  time.Duration
	stats    bool
	json     bool

	trips  []time.Duration
	sent   int
	misses int
}

// run waits for the name, sends and prints. Interrupted, it sums up what it has.
func (p *pinger) run(ctx context.Context, n *stack.Node, out io.Writer) error {
	wait, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	if err := n.WaitFor(wait, p.to); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("nobody has bound %v within %v; links: %s", p.to, p.timeout, links(n))
		}
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		return err
	}
	c, err := p.socket(ctx, n)
	if err != nil {
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if !p.json {
		fmt.Fprintf(out, "ping: node %v to %v, %d bytes%s\n", n.Addr(), p.to, p.size, p.kind.note())
	}
	start := time.Now()
	var broken error // why no more can be sent
	for p.sent < p.count && ctx.Err() == nil {
		if err := p.trip(c, out); errors.Is(err, net.ErrClosed) && ctx.Err() != nil {
			p.sent-- // interrupted: neither answered nor lost
			break
		} else if err != nil {
			p.misses++
			broken = err
			break
		}
		if p.interval > 0 && p.sent < p.count {
			select {
			case <-ctx.Done():
			case <-time.After(p.interval):
			}
		}
	}
	if err = p.sum(out, n.Addr(), time.Since(start)); broken != nil {
		err = broken
	}
	if p.stats {
		err = errors.Join(err, printStatistics(ctx, n, out))
	}
	return err
}

// lookTime is how long a daemon has to report how things stand when a command is over.
const lookTime = 8 * time.Second

// printStatistics prints what the node has counted, when ctx is done too.
func printStatistics(ctx context.Context, n *stack.Node, out io.Writer) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
	defer cancel()
	cast, err1 := n.Admin().BroadcastLink(ctx)
	links, err2 := n.Admin().Links(ctx)
	monitors, err3 := n.Admin().Monitor(ctx)
	s, err4 := n.Admin().Stats(ctx)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%v", cast)
	for _, l := range links {
		fmt.Fprintf(out, "\n%v", &l)
	}
	for _, m := range monitors {
		fmt.Fprint(out, m.Summary())
	}
	fmt.Fprintf(out, "\n%s, %d bytes kept for others\n", dropped(s.Drops), s.Kept)
	return nil
}

// dropped says which frames and messages of others went no further, and why.
func dropped(d fmt.Stringer) string {
	if s := d.String(); s != "" {
		return "Dropped: " + s
	}
	return "Dropped: nothing"
}

// links says how the node's links stand, for an error.
func links(n *stack.Node) string {
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	all, err := n.Admin().Links(ctx)
	if err != nil {
		return "not known: " + err.Error()
	}
	s := ""
	for _, l := range all {
		s += fmt.Sprintf(" %v on %s %s", l.Peer, l.Bearer, strings.ToLower(l.State()))
	}
	if s == "" {
		return "none, no other node was heard" + foreign(n)
	}
	return s[1:]
}

// foreign says, for an error, why frames were dropped where no other node was heard: they
// may be of another network, or under another key.
func foreign(n *stack.Node) string {
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	s, err := n.Admin().Stats(ctx)
	if d := s.Drops.String(); err == nil && d != "" {
		return "; frames dropped: " + d + remedy(&s.Drops)
	}
	return ""
}

// remedy says what to do about frames of other nodes that were dropped.
func remedy(d *engine.Drops) string {
	for _, c := range []struct {
		drop engine.Drop
		text string
	}{
		{engine.DropNetID, "the others are in another cluster: give this node their --netid"},
		{engine.DropEncrypted, "the others have keys: give this node their --keyfile"},
		{engine.DropPlain, "the others have no keys: give them --keyfile, or this node --migrate"},
		{engine.DropNoKey, "the others have another key: compare the files of --keyfile"},
		{engine.DropTag, "the others have another key: compare the files of --keyfile"},
		{engine.DropForeign, "another node may have this node's address: choose another --address"},
	} {
		if d[c.drop] > 0 {
			return ": " + c.text
		}
	}
	return ""
}

// trip sends one message and waits for its answer.
func (p *pinger) trip(c pingSocket, out io.Writer) error {
	b := make([]byte, p.size)
	binary.BigEndian.PutUint64(b, uint64(p.sent))
	p.sent++
	at := time.Now()
	c.SetDeadline(at.Add(p.timeout))
	if err := c.send(b); err != nil {
		return err
	}
	answer := make([]byte, p.size+1)
	for {
		k, from, err := c.receive(answer)
		took := time.Since(at)
		var rejected *stack.RejectError
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			p.misses++
			p.missing(out, fmt.Sprintf("no answer to message %d within %v", p.sent, p.timeout))
			return nil
		case errors.As(err, &rejected):
			p.misses++
			p.missing(out, fmt.Sprintf("message %d: %v", p.sent, rejected))
			return nil
		case err != nil:
			return err
		case !echoes(b, answer[:k]):
			continue // an answer that comes late, or of somebody else
		}
		p.trips = append(p.trips, took)
		if p.interval > 0 {
			p.line(out, from, k, took)
		}
		return nil
	}
}

func echoes(sent, got []byte) bool { return string(sent) == string(got) }
