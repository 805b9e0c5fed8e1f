// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"fmt"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// The kernel's rule, branch by branch. Source: docs/spec/02-link.md §7.3.
//
// Proves: link.windows
func TestAdaptiveWindow(t *testing.T) {
	type state struct{ window, ssthresh, congAcks int32 }
	for _, c := range []struct {
		name     string
		from     state
		unacked  int
		holes    int
		backlog  int
		released int
		repeated bool
		want     state
	}{
		{"repeated, small", state{50, 8191, 3}, 0, 0, 0, 5, true, state{50, 300, 3}},
		{"repeated, 500", state{500, 8191, 3}, 0, 0, 0, 5, true, state{300, 300, 3}},
		{"repeated, 1000", state{1000, 8191, 3}, 0, 0, 0, 0, true, state{500, 500, 3}},
		{"idle", state{1000, 8191, 3}, 0, 0, 0, 0, false, state{50, 500, 3}},
		{"idle, small", state{66, 8191, 3}, 0, 0, 0, 0, false, state{50, 300, 3}},
		{"no pressure", state{50, 8191, 3}, 30, 0, 19, 16, false, state{50, 8191, 3}},
		{"holes", state{50, 8191, 3}, 30, 4, 40, 16, false, state{50, 8191, 3}},
		{"slow start", state{50, 8191, 0}, 34, 0, 16, 16, false, state{66, 8191, 16}},
		{"slow start, nothing under way", state{50, 8191, 0}, 0, 0, 50, 16, false, state{66, 8191, 16}},
		{"slow start at the threshold", state{300, 300, 0}, 300, 0, 16, 16, false, state{316, 300, 16}},
		{"slow start at the end", state{8190, 8191, 0}, 8190, 0, 1, 16, false, state{8191, 8191, 16}},
		{"slow start for long", state{8191, 8191, 8190}, 8191, 0, 1, 16, false, state{8191, 8191, MaxWindow}},
		{"avoidance", state{316, 300, 200}, 316, 0, 16, 16, false, state{316, 300, 216}},
		{"avoidance, a window", state{316, 300, 300}, 316, 0, 16, 16, false, state{317, 300, 0}},
		{"avoidance at the end", state{8191, 300, 8190}, 8191, 0, 16, 16, false, state{8191, 300, 0}},
	} {
		r := newScriptedPeer(t, func(k *Config) { k.MaxWindow = MaxWindow })
		r.window, r.ssthresh, r.congAcks = c.from.window, c.from.ssthresh, c.from.congAcks
		for range c.unacked + c.holes {
			r.transmit.Push(sent{})
		}
		for range c.backlog {
			r.needBacklog().Push(waiting{})
		}
		r.unacked = int32(c.unacked)
		r.adapt(c.released, c.repeated)
		if got := (state{r.window, r.ssthresh, r.congAcks}); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// Capture 13, frames 236 to 262: 16 are acknowledged with more waiting, and 66 are under
// way. After an interval without anything new it is 50 again.
func TestAdaptiveWindowOfLink(t *testing.T) {
	r := newScriptedPeer(t, func(c *Config) { c.MaxWindow = MaxWindow }).up()
	defer r.done()
	r.send(150)
	wantSeqs(t, "at first", r.seqs(), span(1, 50))
	r.ack(16, 0)
	wantSeqs(t, "16 acknowledged", r.seqs(), span(51, 82))
	if r.Unacked() != 66 || r.Window() != 66 {
		t.Errorf("got %d under way, window %d, want 66", r.Unacked(), r.Window())
	}
	r.now = 2 * time.Millisecond
	r.ack(16, 1)
	if s := r.Statistics(0); s.Window != 66 || s.Threshold != 300 || s.MinWindow != 50 || s.MaxWindow != MaxWindow {
		t.Errorf("repeated: got window %d of %d to %d, threshold %d, want 66 of 50 to 8191, 300", s.Window, s.MinWindow, s.MaxWindow, s.Threshold)
	}
	r.Tick(r.now)
	if r.Window() != 66 {
		t.Errorf("a tick with new packets since the last: got window %d, want 66", r.Window())
	}
	r.Tick(r.now)
	if r.Window() != 50 {
		t.Errorf("a tick without: got window %d, want 50", r.Window())
	}
	r.window, r.ssthresh = 77, 333
	r.Fail()
	r.Restart(0)
	if r.window != 77 || r.ssthresh != 333 {
		t.Errorf("after a reset: got %d, %d, want 77, 333", r.window, r.ssthresh)
	}
	r.out()
}

// A static window never changes by itself.
//
// Proves: link.windows
func TestStaticWindow(t *testing.T) {
	r := newScriptedPeer(t, func(c *Config) { c.MinWindow, c.MaxWindow = 1000, 1000 })
	defer r.done()
	for _, c := range []struct {
		released int
		repeated bool
	}{{5, true}, {0, false}, {500, false}} {
		if r.adapt(c.released, c.repeated); r.Window() != 1000 {
			t.Errorf("%+v: got %d, want 1000", c, r.Window())
		}
	}
}

// A changed window takes effect at once.
//
// Proves: link.windows
func TestSetWindow(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.send(150)
	wantSeqs(t, "50", r.seqs(), span(1, 50))
	r.SetWindow(0, 80, 80)
	wantSeqs(t, "wider", r.seqs(), span(51, 80))
	r.SetWindow(0, 20, 20)
	r.ack(59, 0)
	wantSeqs(t, "narrower, 21 under way", r.seqs(), nil)
	r.ack(60, 0)
	r.ack(62, 0)
	wantSeqs(t, "narrower, 2 more", r.seqs(), span(81, 82))
	for _, c := range []struct{ least, most, window int }{
		{0, 0, 1}, {30, 10, 30}, {9000, 9000, MaxWindow}, {50, 8191, MaxWindow}, {50, 100, 100}, {70, 8191, 100},
	} {
		r.SetWindow(0, c.least, c.most)
		r.discard()
		if r.Window() != c.window {
			t.Errorf("%d to %d: got %d, want %d", c.least, c.most, r.Window(), c.window)
		}
	}
	if got := r.Limit(frame.Low); got != 140 {
		t.Errorf("limit: got %d, want twice the least window, 140", got)
	}
}

// A wider window makes room for those turned away.
func TestSetWindowTellsOfRoom(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.send(150)
	b := r.message(4)
	if r.Send(0, b, frame.Low) == nil {
		t.Fatal("taken")
	}
	b.Release()
	r.SetWindow(0, 51, 51)
	if e := r.TakeEvents(); e != Room {
		t.Errorf("got %q, want room", eventText(e))
	}
	r.out()
}

// Large packets count for more by the window there is now.
func TestOpenByBytes(t *testing.T) {
	r := newScriptedPeer(t, func(c *Config) {
		c.MTU = 65000
		c.Arena = netdev.NewArena(netdev.ArenaConfig{Small: 64, Jumbo: 200, JumboSize: 65536})
	})
	r.hear(reset(func(f *frame.ResetFields) { f.MaxPacket = 65000 }))
	r.Up(0)
	r.discard()
	for range 60 {
		if err := r.Send(0, r.message(60000), frame.Low); err != nil {
			t.Fatal(err)
		}
	}
	got := fmt.Sprint(r.Unacked())
	r.SetWindow(0, 500, 500)
	got += fmt.Sprint(" ", r.Unacked())
	if want := "20 35"; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	r.discard()
	r.done()
}
