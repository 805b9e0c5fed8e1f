// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
)

var mapCommand = cmdline.Command{
	Name:  "map",
	Short: "the cluster as a picture, in the terminal or on a web page",
	Usage: `utipc map: the cluster as a picture, in the terminal or on a web page.

    utipc map [FLAGS]
    utipc map --serve ADDR [FLAGS]

Nodes are those that this node knows. Its own links are shown in full: bearer, state,
priority, tolerance, the share of packets that had to be repeated, round trip time and
how often the link was lost. Links between others are what their topology services tell,
kernels' too; "one-sided" is one that only one end has. More than 16 nodes are shown as a
table of who has links to whom: 1 or 2 links, . none, ? not told.

--serve is a web page that follows the cluster as it changes. It listens on this host
alone (127.0.0.1:8080, [::1]:8080, localhost:8080, port 0 for any) unless --public is
given, and answers only to the names of --host, localhost, and IP addresses. Whoever can
reach it can read it; nothing can be changed through it.

{flags}

    utipc map
    utipc map --serve 127.0.0.1:8080
`,
	Run: func(ctx context.Context, args []string, std cmdline.Stdio) error {
		var h nodeFlags
		var m mapper
		f := cmdline.NewFlags("map")
		m.flags(f)
		h.flags(f)
		if _, err := cmdline.Parse(f, args, 0, 0); err != nil {
			return err
		}
		if err := m.check(); err != nil {
			return err
		}
		n, finish, err := h.open(ctx, std)
		if err != nil {
			return err
		}
		return errors.Join(m.run(ctx, n, std.Out), closeNode(n, finish))
	},
}

// A mapper is the flags of the command.
type mapper struct {
	serve          string
	public         bool
	hosts          []string
	interval, wait time.Duration
	own, svg, json bool
}

func (m *mapper) flags(f *cmdline.Flags) {
	f.StringVar(&m.serve, "serve ADDR", "", "serve the page there, until it is interrupted")
	f.BoolVar(&m.public, "public", false, "let --serve listen on an address that others reach")
	f.Func("host NAME", "a name that the page may be asked for by; may be given again", func(s string) error {
		m.hosts = append(m.hosts, s)
		return nil
	})
	f.DurationVar(&m.interval, "interval D", time.Second, "how often the page looks")
	f.DurationVar(&m.wait, "wait D", 2*time.Second, "how long to wait at most for what other nodes tell")
	f.BoolVar(&m.own, "own", false, "do not ask other nodes: own links alone")
	f.BoolVar(&m.svg, "svg", false, "print the picture as SVG")
	f.BoolVar(&m.json, "json", false, "print what is known as JSON")
}

func (m *mapper) check() error {
	switch {
	case m.interval < 50*time.Millisecond || m.wait <= 0:
		return cmdline.UsageError("--interval is under 50ms, or --wait not positive")
	case m.svg && m.json:
		return cmdline.UsageError("--svg and --json do not go together")
	case m.serve == "" && (m.public || len(m.hosts) > 0):
		return cmdline.UsageError("--public and --host go with --serve")
	case m.serve != "" && (m.svg || m.json):
		return cmdline.UsageError("--svg and --json do not go with --serve: it has /map.svg and /map.json")
	}
	return nil
}

func (m *mapper) run(ctx context.Context, n *stack.Node, out io.Writer) error {
	if m.serve != "" {
		return m.serveMap(ctx, n, out)
	}
	a := newAsker(n)
	defer a.close()
	if !m.own {
		a.settle(ctx, m.wait)
	}
	v, err := a.view()
	if err != nil {
		return err
	}
	switch {
	case m.json:
		return newEncoder(out).Encode(v)
	case m.svg:
		_, err := fmt.Fprintf(out, "%s\n", v.svg(true))
		return err
	}
	_, err = io.WriteString(out, v.text())
	return err
}
