// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

var watchCommand = cmdline.Command{
	Name:  "watch",
	Short: "tell what comes and goes: nodes, links, names, bearers",
	Usage: `utipc watch: tell what comes and goes: nodes, links, names, bearers.

    utipc watch [FLAGS] [NAMES...]

A line for each event, with the time it was heard of. First comes what is there
already, unless --changes is given. NAMES are service types (18888), services
(18888:17) or ranges (18888:0-99); with none, names are not watched. What is told as
"this node" is its own account: bearers that come and go, why links went down, keys in
use, addresses that two nodes have.

    16:10:02.123456 node 1001002 up
    16:10:02.123470 link 1001002 bearer 0 up
    16:10:03.000123 name 18888:17 published by <1001002:134550589>
    16:10:09.000321 name 18888:17 withdrawn by <1001002:134550589>
    16:10:11.500007 this node: link down 1001002 1001001:eth0-1001002:eth0: silence

{flags}

    utipc watch 18888
    utipc watch --only name --json 18888:0-99
`,
	Run: func(ctx context.Context, args []string, std cmdline.Stdio) error {
		var h nodeFlags
		var w watcher
		f := cmdline.NewFlags("watch")
		w.flags(f)
		h.flags(f)
		rest, err := cmdline.Parse(f, args, 0, -1)
		if err != nil {
			return err
		}
		if err := w.check(rest); err != nil {
			return err
		}
		n, finish, err := h.open(ctx, std)
		if err != nil {
			return err
		}
		return errors.Join(w.run(ctx, n, std.Out), closeNode(n, finish))
	},
}

// A watcher is the flags of the command.
type watcher struct {
	only, at      string
	changes, json bool
	count         int
	timeout       time.Duration

	node   stack.NodeAddr // to ask; 0: this one
	ranges []watched
	own    bool // what the node tells of itself
}

// A watched range, and the kind of its events.
type watched struct {
	kind string
	stack.Range
}

// mostWatched is how many ranges may be watched at a time.
const mostWatched = 100

func (w *watcher) flags(f *cmdline.Flags) {
	f.StringVar(&w.only, "only node|link|name|own", "", "only these; several have commas between")
	f.StringVar(&w.at, "at ADDR", "", "what that node sees, ours or a kernel: its topology service is asked, which tells nothing of its own (default: this node)")
	f.BoolVar(&w.changes, "changes", false, "leave out what is there already")
	f.BoolVar(&w.json, "json", false, "a JSON object on a line for each event: time, event (node, link, name), up, and node, bearer, name, type, lower, "+
		"upper, socket, scope; event own has \"what\" with event, node, link, bearer, reason, count")
	f.IntVar(&w.count, "count N", 0, "end after N events; 0: never (default 0)")
	f.DurationVar(&w.timeout, "timeout D", 0, "end after that time; 0: never (default 0)")
}

// check reads what is to be watched.
func (w *watcher) check(names []string) (err error) {
	kinds, err := listArg("--only", w.only, "node", "link", "name", "own")
	if err != nil {
		return err
	}
	if w.at != "" {
		if w.node, err = stack.ParseNodeAddr(w.at); err != nil || w.node == 0 {
			return cmdline.UsageError(fmt.Sprintf("--at %q is no address", w.at))
		}
	}
	if w.count < 0 || w.timeout < 0 {
		return cmdline.UsageError("--count and --timeout must not be negative")
	}
	if len(names) > mostWatched {
		return cmdline.UsageError(fmt.Sprintf("more than %d names", mostWatched))
	}
	w.ranges = nil
	if kinds["node"] {
		w.ranges = append(w.ranges, watched{"node", stack.AllNodes})
	}
	if kinds["link"] {
		w.ranges = append(w.ranges, watched{"link", stack.AllLinks})
	}
	for _, s := range names {
		r, err := rangeArg(s)
		if err != nil {
			return err
		}
		if kinds["name"] {
			w.ranges = append(w.ranges, watched{"name", r})
		}
	}
	w.own = kinds["own"] && w.node == 0
	if len(w.ranges) == 0 && !w.own {
		return cmdline.UsageError("nothing to watch: with --only name the names are missing, and another node tells nothing of its own")
	}
	return nil
}

// listArg reads a list of words, which are to be of known; an empty one means all.
func listArg(flag, s string, known ...string) (map[string]bool, error) {
	set := map[string]bool{}
	for _, k := range known {
		set[k] = s == ""
	}
	if s == "" {
		return set, nil
	}
	for _, word := range strings.Split(s, ",") {
		if _, ok := set[word]; !ok {
			return nil, cmdline.UsageError(fmt.Sprintf("%s: %q is none of %v", flag, word, known))
		}
		set[word] = true
	}
	return set, nil
}

// rangeArg reads a type, a service or a range of names; reserved ones too.
func rangeArg(s string) (stack.Range, error) {
	if typ, err := strconv.ParseUint(s, 10, 32); err == nil {
		return stack.Range{Type: uint32(typ), Upper: 1<<32 - 1}, nil
	}
	a, err := stack.ParseAddr(s)
	if err == nil {
		switch a := a.(type) {
		case stack.Service:
			if a.Node == 0 {
				return stack.Range{Type: a.Type, Lower: a.Instance, Upper: a.Instance}, nil
			}
		case stack.Range:
			return a, nil
		}
	}
	return stack.Range{}, cmdline.UsageError(fmt.Sprintf("%q is no service type, service or range such as 18888, 18888:17 or 18888:0-99", s))
}

// A watchEvent is what is told of an event.
type watchEvent struct {
	Time   time.Time `json:"time"`
	Event  string    `json:"event"`        // node, link, name or own
	Up     *bool     `json:"up,omitempty"` // it came, else it went; not of own
	Node   string    `json:"node,omitempty"`
	Bearer *int      `json:"bearer,omitempty"` // of a link: its number
	Name   string    `json:"name,omitempty"`
	Type   uint32    `json:"type,omitempty"`
	Lower  *uint32   `json:"lower,omitempty"`
	Upper  *uint32   `json:"upper,omitempty"`
	Socket string    `json:"socket,omitempty"`
	Scope  string    `json:"scope,omitempty"`

	What *admin.NodeEvent `json:"what,omitempty"` // of own
}

// newWatchEvent tells of an event of a kind.
func newWatchEvent(now time.Time, kind string, e stack.Event) watchEvent {
	up := !e.Withdrawn
	ev := watchEvent{Time: now, Event: kind, Up: &up}
	switch kind {
	case "node":
		ev.Node = stack.NodeAddr(e.Range.Lower).String()
	case "link":
		ev.Node = stack.NodeAddr(e.Range.Lower).String()
		bearer := int(e.Socket.Port & 0xffff)
		ev.Bearer = &bearer
	case "name":
		r := e.Range
		ev.Name, ev.Type, ev.Lower, ev.Upper = rangeText(r), r.Type, &r.Lower, &r.Upper
		ev.Socket = e.Socket.String()
		if e.Scope != 0 {
			ev.Scope = e.Scope.String()
		}
	}
	return ev
}

func (e watchEvent) String() string {
	at, up := e.Time.Format("15:04:05.000000"), "up"
	if e.What != nil {
		return at + " this node: " + printable.Prefix(e.What.String(), longestText)
	}
	if !*e.Up {
		up = "down"
	}
	switch e.Event {
	case "node":
		return fmt.Sprintf("%s node %s %s", at, e.Node, up)
	case "link":
		return fmt.Sprintf("%s link %s bearer %d %s", at, e.Node, *e.Bearer, up)
	}
	verb := "published"
	if !*e.Up {
		verb = "withdrawn"
	}
	return fmt.Sprintf("%s name %s %s by %s", at, e.Name, verb, e.Socket)
}

// run prints events until there were enough, or ctx or the time is over.
func (w *watcher) run(ctx context.Context, n *stack.Node, out io.Writer) error {
	if w.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.timeout)
		defer cancel()
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	events := make(chan watchEvent)
	var readers sync.WaitGroup
	defer readers.Wait()
	defer stop(nil)
	tell := func(next func() (watchEvent, error)) {
		for {
			e, err := next()
			if err != nil {
				stop(err) // the first counts
				return
			}
			select {
			case events <- e:
			case <-ctx.Done():
				return
			}
		}
	}
	if w.own {
		own, err := n.Admin().Watch(ctx)
		if err != nil {
			return err
		}
		defer own.Close()
		readers.Go(func() {
			tell(func() (watchEvent, error) {
				e, err := own.Next(ctx)
				return watchEvent{Time: e.Time, Event: "own", What: &e}, err
			})
		})
	}
	for _, r := range w.ranges {
		sub, err := stack.SubscriptionConfig{At: w.node, Changes: w.changes}.Subscribe(ctx, n, r.Range)
		if err != nil {
			return err
		}
		defer sub.Close()
		readers.Go(func() {
			tell(func() (watchEvent, error) {
				e, err := sub.Next(ctx)
				return newWatchEvent(time.Now(), r.kind, e), err
			})
		})
	}
	enc := newEncoder(out)
	for k := 0; w.count == 0 || k < w.count; k++ {
		select {
		case e := <-events:
			var err error
			if w.json {
				err = enc.Encode(e)
			} else {
				_, err = fmt.Fprintln(out, e)
			}
			if err != nil {
				return err
			}
		case <-ctx.Done():
			switch err := context.Cause(ctx); {
			case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
				return nil // interrupted, or the time is over
			default:
				return err
			}
		}
	}
	return nil
}
