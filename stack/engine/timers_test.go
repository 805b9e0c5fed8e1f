// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// Each timer is listed, and rings by itself, due or not.
//
// Proves: replay.found
func TestTimers(t *testing.T) {
	b := newBed(t, 2)
	e := b.nodes[0]
	b.pass(2 * time.Second)
	var got []string
	for x := range e.Timers {
		if x.Sockets != 0 && x.Due == flowctl.Never {
			continue
		}
		if x.Due <= b.now-time.Second || x.Due == flowctl.Never {
			t.Errorf("%+v at %v: want one to come", x, b.now)
		}
		got = append(got, fmt.Sprint(x.Bearer, " ", x.Node))
	}
	if want := []string{"0 0", "0 1001002"}; !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for x := range e.Timers {
		if x.Sockets != 0 {
			e.HandleTimer(b.now, x) // nothing waits
			continue
		}
		b.lines = nil
		e.HandleTimer(b.now, x)
		b.settle()
		want := map[frame.NodeAddr]string{0: "disc/request", 0x1001002: "link/state probe"}[x.Node]
		if len(b.lines) == 0 || !strings.Contains(b.lines[0], want) {
			t.Errorf("%+v: got %q, want %s", x, b.lines, want)
		}
	}
	e.HandleTimer(b.now, Timer{Node: 0x1001009}) // nobody: nothing
}

// What sockets wait for is listed, and served by itself: an alarm before it is due too,
// and alone; calls to users in the engine, which are due at once.
func TestSocketTimers(t *testing.T) {
	b := newConnBed(t, false)
	due := func(e *bedNode, k SocketTimer) time.Duration {
		for x := range e.Timers {
			if x.Sockets == k {
				return x.Due
			}
		}
		t.Fatalf("timer %d is not listed", k)
		return 0
	}
	c, _, _ := b.pair(ConnConfig{})
	if got, want := due(b.x, Alarms), c.limit.at; got != want || got <= b.now {
		t.Errorf("alarms are due at %v, want the probe's %v", got, want)
	}
	b.lines = nil
	b.x.HandleTimer(b.now, Timer{Sockets: Alarms})
	b.settle()
	if len(b.lines) < 2 || !strings.Contains(b.lines[0], "conn/probe") || !strings.Contains(b.lines[1], "conn/probe-reply") {
		t.Errorf("got %q, want a probe and its answer", b.lines)
	}

	b = newConnBed(t, true)
	user := &scribe{}
	b.inside(user)
	client := b.dialInside(nil)
	if got := due(b.y, Calls); got != flowctl.Never {
		t.Errorf("calls are due at %v, want never", got)
	}
	client.Close(b.now)
	if got := due(b.y, Calls); got > b.now {
		t.Errorf("calls are due at %v, want at once, %v", got, b.now)
	}
	b.y.HandleTimer(b.now, Timer{Sockets: Calls})
	if want := []string{"accepted established", "ended ended"}; !slices.Equal(user.log, want) {
		t.Errorf("the user heard %q, want %q", user.log, want)
	}
	if got := due(b.y, Calls); got != flowctl.Never {
		t.Errorf("calls are due at %v after they were made, want never", got)
	}
}

// What is announced in place of what is built is in every discovery message.
//
// Proves: replay.found
func TestConfiguredCapabilities(t *testing.T) {
	b := newBed(t, 0)
	b.add(Config{Address: 0x1001001, Capabilities: 0xfff}, 1)
	b.add(Config{Address: 0x1001002}, 2)
	b.pass(2 * time.Second)
	for _, l := range b.lines {
		want := "caps=fff"
		if strings.Contains(l, "1001002>") {
			want = fmt.Sprintf("caps=%03x", uint16(Capabilities))
		}
		if strings.Contains(l, "disc/") && !strings.Contains(l, want) {
			t.Errorf("got %q, want %s", l, want)
		}
	}
	// One end alone announces the record, so no STATE has it.
	if !b.until(time.Second, func() bool { return b.nodes[0].nodes[0].links[0].IsUp() }) {
		t.Error("the link is not up")
	}
}

// Proves: replay.found
func TestSetLink(t *testing.T) {
	b := newBed(t, 2)
	e := b.nodes[0]
	if err := e.SetPriority(b.now, 0x1001002, 0, 15); err != ErrNoLink {
		t.Errorf("before contact: got %v, want %v", err, ErrUnreachable)
	}
	if err := e.SetTolerance(b.now, 0x1001002, 0, time.Second); err != ErrNoLink {
		t.Errorf("before contact: got %v, want %v", err, ErrUnreachable)
	}
	up := func() bool { return e.nodes[0].links[0].IsUp() && b.nodes[1].nodes[0].links[0].IsUp() }
	b.until(2*time.Second, func() bool { return len(e.nodes) > 0 && len(b.nodes[1].nodes) > 0 && up() })
	if err := e.SetTolerance(b.now, 0x1001002, 0, 800*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	b.settle()
	if got := b.nodes[1].nodes[0].links[0].Tolerance(); got != 800*time.Millisecond {
		t.Errorf("the peer's tolerance: got %v, want 800ms", got)
	}
	// The peer takes the priority over and resets the link, as the kernel does
	// (capture 20, frames 28 to 39).
	if err := e.SetPriority(b.now, 0x1001002, 0, 15); err != nil {
		t.Fatal(err)
	}
	b.settle()
	if up() {
		t.Error("the link is still up behind a change of its priority")
	}
	if !b.until(3*time.Second, up) {
		t.Fatal("the link does not come up again")
	}
	if got := b.nodes[1].nodes[0].links[0].Priority(); got != 15 {
		t.Errorf("the peer's priority: got %v, want 15", got)
	}
}
