// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/feed"
)

// maxCaptures is how many a node has.
const maxCaptures = 8

// Capture implements backend.Node.
func (n *Node) Capture(ctx context.Context, cfg admin.CaptureConfig) (admin.Capture, error) {
	c, err := n.capture(ctx, cfg)
	if err != nil {
		return nil, backend.ManageError("capture", err)
	}
	return c, nil
}

func (n *Node) capture(ctx context.Context, cfg admin.CaptureConfig) (*feed.Capture, error) {
	c, err := feed.NewCapture(cfg)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n.loop.Lock()
	defer n.loop.Unlock()
	switch {
	case n.closing:
		return nil, net.ErrClosed
	case len(n.captures) >= maxCaptures:
		return nil, backend.Refuse(syscall.EUSERS, "Too many captures.")
	}
	for _, name := range cfg.Bearers {
		if n.bearer(name) == nil {
			return nil, errNoBearer()
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	c.Stop = func() {
		cancel()
		n.loop.Lock()
		defer n.loop.Unlock()
		delete(n.captures, c)
		n.retap()
	}
	n.captures[c] = struct{}{}
	n.retap()
	context.AfterFunc(ctx, func() { c.Close() })
	return c, nil
}

// retap follows a change of captures or bearers.
func (n *Node) retap() {
	for _, a := range n.attached {
		var all []*feed.Capture
		for c := range n.captures {
			if takes(c, a) {
				all = append(all, c)
			}
		}
		switch {
		case len(all) == 0:
			a.taps = nil
		case a.taps == nil:
			a.taps = &taps{all: all}
		default:
			a.taps.all = all
		}
	}
	n.eng.Observe(len(n.captures) > 0)
}

// handleTapped gives the engine a frame and takes down what becomes of it.
func (n *Node) handleTapped(now time.Duration, a *attachment, f *netdev.Buffer) {
	t := a.taps
	t.copy = append(t.copy[:0], f.Bytes()...)
	t.before = n.eng.Counters().Drops
	n.eng.HandleFrame(now, a.id, f)
	after := n.eng.Counters().Drops
	comment := ""
	if after != t.before {
		comment = dropComment(t.before, after)
	}
	t.put(admin.CapturedFrame{Time: time.Now(), Bearer: a.Device.Name(), Length: len(t.copy), Data: t.copy, Comment: comment})
}

// taps are the captures of a bearer's frames.
type taps struct {
	all      []*feed.Capture
	repeated [batch]int // how often the frames in unsent were sent before
	copy     []byte     // of a frame that the engine may open in its place
	before   engine.Drops
}

// dropComment says for what reasons messages were dropped between two counts.
func dropComment(before, after engine.Drops) string {
	var why []string
	for d := range after {
		if k := after[d] - before[d]; k == 1 {
			why = append(why, engine.Drop(d).String())
		} else if k > 1 {
			why = append(why, fmt.Sprintf("%v (%d messages)", engine.Drop(d), k))
		}
	}
	return "dropped: " + strings.Join(why, ", ")
}

// tapSent takes down the first k of the frames that were offered to the device, and
// the next if it refused that.
func (a *attachment) tapSent(k int, err error) {
	now := time.Now()
	for i, f := range a.unsent[:min(k, a.n)] {
		comment := ""
		if r := a.repeated[i]; r > 0 {
			comment = fmt.Sprintf("retransmission %d", r)
		}
		a.putSent(now, f, comment)
	}
	if err != nil && k < a.n && !errors.Is(err, net.ErrClosed) {
		a.putSent(now, a.unsent[k], "refused: "+err.Error())
	}
}

func (a *attachment) putSent(now time.Time, f *netdev.Buffer, comment string) {
	a.taps.put(admin.CapturedFrame{Time: now, Bearer: a.Device.Name(), Out: true, Length: f.Len(), Data: f.Bytes(), Comment: comment})
}

func (t *taps) put(f admin.CapturedFrame) {
	for _, c := range t.all {
		c.Put(f)
	}
}

// takes reports whether a capture wants a bearer's frames.
func takes(c *feed.Capture, a *attachment) bool {
	return len(c.Cfg.Bearers) == 0 || slices.Contains(c.Cfg.Bearers, a.Device.Name()) || slices.Contains(c.Cfg.Bearers, a.fullName())
}
