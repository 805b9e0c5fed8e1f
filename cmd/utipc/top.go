// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
)

var topCommand = cmdline.Command{
	Name:  "top",
	Short: "what a node does now: rates, losses, who waits for whom",
	Usage: `utipc top: what a node does now: rates, losses, who waits for whom.

    utipc top [FLAGS]

The screen is drawn anew with every interval. In a terminal these keys are heard:
r, l, w and n sort by rate, loss, what waits, name; p pauses and goes on; ? shows and hides
what the keys and columns mean; q ends. A narrow terminal has fewer columns. Links that are up are
green, what is worth a look is yellow, what is wrong is red; NO_COLOR in the environment
switches the colours off. While a node cannot be asked, as while its daemon starts again, the
last line says so. With the output elsewhere the pictures follow each other, without any control
characters.

Rates are per second, of the time between two pictures. In the order of the screen:

    node     frames and messages in and out; "local" are messages between its own
             sockets; free chunks of its memory; bytes it keeps for others
    links    packets in and out; "retr%" is the share of packets sent that were
             repetitions, "nak" the requests to repeat that came, "unack" the packets
             under way and "wait" those behind them; "rtt" in microseconds
    sockets  messages and bytes in and out; "queue" what waits to be read, "lost" what
             there was no room for, or came back, "blk%" of the time spent waiting
    waits    writes that wait now, longest first: who for whom, and why

{flags}

    utipc top
    utipc top --once --sort loss
    utipc top --json --interval 10s --count 6
`,
	Run: func(ctx context.Context, args []string, std cmdline.Stdio) error {
		var h nodeFlags
		var t top
		f := cmdline.NewFlags("top")
		t.flags(f)
		h.flags(f)
		if _, err := cmdline.Parse(f, args, 0, 0); err != nil {
			return err
		}
		if err := t.check(); err != nil {
			return err
		}
		n, finish, err := h.open(ctx, std)
		if err != nil {
			return err
		}
		return errors.Join(t.run(ctx, n, std), closeNode(n, finish))
	},
}

// A top is the flags of the command, and what it remembers from picture to picture.
type top struct {
	once, json bool
	interval   time.Duration
	count      int
	rows       int
	sort       string

	paused, help bool
	trouble      error // why there is no newer picture
	last         topSample
	view         topView
}

func (t *top) flags(f *cmdline.Flags) {
	f.BoolVar(&t.once, "once", false, "print one picture and end")
	f.BoolVar(&t.json, "json", false, "a JSON object on a line for each picture, with all rows")
	f.DurationVar(&t.interval, "interval D", time.Second, "from one picture to the next")
	f.IntVar(&t.count, "count N", 0, "end after N pictures; 0: go on (default 0)")
	f.IntVar(&t.rows, "rows N", 20, "links, sockets and waits at most that are shown where there is no terminal to fill; 0: all")
	f.StringVar(&t.sort, "sort rate|loss|wait|name", "rate", "what the rows are sorted by")
}

// topSorts are the orders, by the key that chooses each.
var topSorts = map[byte]string{'r': "rate", 'l': "loss", 'w': "wait", 'n': "name"}

func (t *top) check() error {
	known := false
	for _, s := range topSorts {
		known = known || s == t.sort
	}
	switch {
	case !known:
		return cmdline.UsageError(fmt.Sprintf("--sort %q is not rate, loss, wait or name", t.sort))
	case t.interval < 10*time.Millisecond:
		return cmdline.UsageError("--interval is under 10ms")
	case t.count < 0 || t.rows < 0:
		return cmdline.UsageError("--count and --rows must not be negative")
	case t.once && t.count > 1:
		return cmdline.UsageError("--once and --count do not go together")
	}
	if t.once {
		t.count = 1
	}
	return nil
}

// run draws pictures until there were enough, somebody presses q, or ctx is done.
func (t *top) run(ctx context.Context, n *stack.Node, std cmdline.Stdio) error {
	var screen *terminal
	if !t.json && !t.once {
		screen = openTerminal(std.In, std.Raw())
	}
	keys := make(<-chan byte)
	if screen != nil {
		defer screen.close()
		keys = screen.keys()
	}
	tick := time.NewTicker(t.interval)
	defer tick.Stop()
	var err error
	if t.last, err = takeSample(ctx, n); err != nil && ctx.Err() == nil {
		return err
	}
	for drawn := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-n.Done():
			return n.Err()
		case k := <-keys:
			if k == 'q' || k == 3 { // or ^C
				return nil
			}
			t.press(k)
		case <-tick.C:
			if t.paused {
				continue
			}
			now, err := takeSample(ctx, n)
			if ctx.Err() != nil {
				return nil
			}
			if t.heard(err, screen == nil, std.Err); err == nil {
				t.view = now.since(t.last)
				t.last = now
				drawn++
			} else if screen == nil {
				continue
			}
		}
		if drawn == 0 && screen == nil {
			continue
		}
		if err := t.draw(screen, std); err != nil {
			return err
		}
		if t.count > 0 && drawn >= t.count {
			return nil
		}
	}
}

// press does what a key asks for.
func (t *top) press(key byte) {
	if s := topSorts[key]; s != "" {
		t.sort = s
	}
	switch key {
	case 'p', ' ':
		t.paused = !t.paused
	case '?', 'h':
		t.help = !t.help
	}
}

// heard notes that the node was asked for a picture; err is why it gave none. Where there is no screen
// that shows it, errs is told when that begins.
func (t *top) heard(err error, tell bool, errs io.Writer) {
	if err != nil && t.trouble == nil && tell {
		fmt.Fprintf(errs, "utipc top: no newer picture: %v\n", err)
	}
	t.trouble = err
}

// draw shows the view: on the screen, as text, or as JSON.
func (t *top) draw(screen *terminal, std cmdline.Stdio) error {
	v := t.view
	v.sort(t.sort)
	switch {
	case t.json:
		return newEncoder(std.Out).Encode(v)
	case screen == nil:
		_, err := io.WriteString(std.Out, strings.Join(v.lines(topLayout{links: t.rows, sockets: t.rows, waits: t.rows}), "\n")+"\n\n")
		return err
	}
	w, h := screen.size()
	k := inkOf(std)
	var lines []string
	switch {
	case t.help:
		for _, l := range topHelp {
			lines = append(lines, cut(l, w))
		}
	case v.Time.IsZero():
		lines = []string{k.mark(dim, cut("the first picture comes after "+t.interval.String(), w))}
	default:
		lines = v.lines(v.layout(w, h, k))
	}
	return screen.draw(lines, t.foot(w, k), h)
}

// foot is the last line: the keys, or why the picture is old.
func (t *top) foot(width int, k ink) string {
	if t.trouble != nil {
		return k.mark(bad, cut(fmt.Sprintf("not current since %s: %v", t.last.at.Format("15:04:05"), t.trouble), width))
	}
	foot := "q quit  ? help"
	if !t.help {
		foot = fmt.Sprintf("by %s   r rate  l loss  w waiting  n name  p pause  q quit  ? help", t.sort)
	}
	if t.paused {
		return k.mark(warning, cut("paused   "+foot, width))
	}
	return cut(foot, width)
}

// topHelp is what the keys and columns mean, at most 80 characters a line.
var topHelp = strings.Split(`KEYS
  r l w n   sort by rate, loss, what waits, name
  p, space  pause, and go on
  ?, h      this page
  q         quit

LINKS
  state     ACTIVE carries messages, STANDBY is spare, DEFUNCT is down
  retr%     repetitions, of the packets sent      nak/s  requests to repeat
  unack     packets under way                     wait   packets behind those
  wrtrs     writes that wait for room             rtt    round trip, us or ms
  resets    ends of the link; why the last one ended

SOCKETS
  queue     messages that wait to be read
  lost/s    messages without room, or that came back
  blk%      part of the time that its writes waited

WAITING     writes that wait now: who, for whom, how long, and why`, "\n")
