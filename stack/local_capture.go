// SPDX-License-Identifier: Apache-2.0

package stack

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
)

// Capture implements nodeBackend.
func (n *localNode) Capture(ctx context.Context, cfg admin.CaptureConfig) (admin.Capture, error) {
	c, err := n.capture(ctx, cfg)
	if err != nil {
		return nil, manageError("capture", err)
	}
	return c, nil
}

func (n *localNode) capture(ctx context.Context, cfg admin.CaptureConfig) (*frameCapture, error) {
	c, err := newCapture(cfg)
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
		return nil, refuse(syscall.EUSERS, "Too many captures.")
	}
	for _, name := range cfg.Bearers {
		if n.bearer(name) == nil {
			return nil, errNoBearer()
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	c.stop = func() {
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
func (n *localNode) retap() {
	for _, a := range n.attached {
		var all []*frameCapture
		for c := range n.captures {
			if c.takes(a) {
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
func (n *localNode) handleTapped(now time.Duration, a *attachment, f *netdev.Buffer) {
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

// takes reports whether the capture wants a bearer's frames.
func (c *frameCapture) takes(a *attachment) bool {
	return len(c.cfg.Bearers) == 0 || slices.Contains(c.cfg.Bearers, a.Device.Name()) || slices.Contains(c.cfg.Bearers, a.fullName())
}

// taps are the captures of a bearer's frames.
type taps struct {
	all      []*frameCapture
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
		c.put(f)
	}
}
