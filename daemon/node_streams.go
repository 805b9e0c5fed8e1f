// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"encoding/json"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// nodeStreams returns the streams of a node: "capture", whose items are frames, and "watch",
// whose items are JSON, a stack.NodeEvent each.
func nodeStreams(n *stack.Node) map[string]Stream {
	return map[string]Stream{
		"capture": {control.Capture, func(ctx context.Context, in []byte, started func() error, give func(Item) error) error {
			return serveCapture(ctx, n, in, started, give)
		}},
		"watch": {control.Show, func(ctx context.Context, in []byte, started func() error, give func(Item) error) error {
			return serveWatch(ctx, n, in, started, give)
		}},
	}
}

func serveCapture(ctx context.Context, n *stack.Node, in []byte, started func() error, give func(Item) error) error {
	var cfg admin.CaptureConfig
	if err := control.Params(in, &cfg); err != nil {
		return err
	}
	c, err := n.Admin().Capture(ctx, cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := started(); err != nil {
		return err
	}
	reported := uint64(0)
	for {
		f, err := c.Next(ctx)
		if err != nil {
			return err
		}
		lost := c.Lost()
		x := attach.Frame{Length: f.Length, Bearer: f.Bearer, Comment: f.Comment, Data: f.Data}
		item := Item{Lost: uint32(lost - reported), Time: f.Time, Data: x.Append(nil)}
		reported = lost
		if f.Out {
			item.Kind = 1
		}
		if err := give(item); err != nil {
			return err
		}
	}
}

func serveWatch(ctx context.Context, n *stack.Node, in []byte, started func() error, give func(Item) error) error {
	if err := control.Params(in, &control.Nothing{}); err != nil {
		return err
	}
	w, err := n.Admin().Watch(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := started(); err != nil {
		return err
	}
	for {
		ev, err := w.Next(ctx)
		if err != nil {
			return err
		}
		data, err := json.Marshal(ev)
		if err != nil {
			return err
		}
		if err := give(Item{Lost: uint32(ev.Lost), Time: ev.Time, Data: data}); err != nil {
			return err
		}
	}
}
