// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// The queue's limit doubles with importance; what comes back has 16 times as much
// (spec 07 §7).
//
// Proves: socket.returned
func TestOverload(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*frame.PayloadFields)
		fit    int
	}{
		{"low", nil, 10},
		{"medium", func(f *frame.PayloadFields) { f.Importance = frame.Medium }, 20},
		{"high", func(f *frame.PayloadFields) { f.Importance = frame.High }, 40},
		{"critical", func(f *frame.PayloadFields) { f.Importance = frame.Critical }, 80},
		{"came back", func(f *frame.PayloadFields) { f.Error = frame.NoName }, 160},
	} {
		p := newScriptedPeer(t).up()
		port := p.bound(t, PortConfig{ReceiveLimit: 10 * (recordCost + 36)}, 18888, 17)
		for range c.fit {
			p.packet(data(port.number, c.change, strings.Repeat("x", 36)))
		}
		p.sent = nil
		if port.Pending() != c.fit {
			t.Errorf("%s: got %d messages, want %d", c.name, port.Pending(), c.fit)
		}
		p.packet(data(port.number, c.change, strings.Repeat("y", 36)))
		got := p.drain()
		if c.name == "came back" {
			p.wantDrops(c.name, "receiver's queue full, and not to be returned=1")
		} else if len(got) != 1 || !strings.Contains(got[0], "error=overload bytes=36") {
			t.Errorf("%s: sent %q, want a reject", c.name, got)
		}
		if port.Pending() != c.fit {
			t.Errorf("%s: got %d messages, want %d still", c.name, port.Pending(), c.fit)
		}
		p.packet(data(port.number, func(f *frame.PayloadFields) {
			if c.change != nil {
				c.change(f)
			}
			f.DestDroppable = true
		}, "x"+strings.Repeat("z", 36)))
		p.wantDrops(c.name, "receiver's queue full, and not to be returned=1")
		p.packet(data(port.number, func(f *frame.PayloadFields) {
			if c.change != nil {
				c.change(f)
			}
			f.Syn = true
		}, strings.Repeat("z", 40)))
		if got := p.drain(); c.name != "came back" && (len(got) != 1 || !strings.Contains(got[0], "error=overload syn bytes=0")) {
			t.Errorf("%s: connection request: sent %q, want a reject without data", c.name, got)
		}
		read(port)
		p.packet(data(port.number, c.change, "again"))
		if port.Pending() != 1 || port.queued != recordCost+5 {
			t.Errorf("%s: after reading: %d messages, %d bytes", c.name, port.Pending(), port.queued)
		}
		p.done()
	}
}

// Empty messages are limited too, and those that are never seen count nothing.
func TestEmptyMessagesAreLimited(t *testing.T) {
	p := newScriptedPeer(t).up()
	defer p.done()
	port := p.bound(t, PortConfig{ReceiveLimit: recordCost}, 18888, 17)
	for range 3 {
		p.packet(data(port.number, nil, ""))
	}
	if port.Pending() != 0 || p.Counters().MessagesIn != 3 {
		t.Errorf("got %d waiting, %d counted; want 0, 3", port.Pending(), p.Counters().MessagesIn)
	}
	for range 20 {
		p.packet(data(port.number, func(f *frame.PayloadFields) { f.Error = frame.NoPort }, ""))
	}
	if port.Pending() != 16 {
		t.Errorf("got %d waiting, want 16", port.Pending())
	}
}

// A sender is turned away at its importance's limit, told why, and told of room.
func TestBlockedAndRoom(t *testing.T) {
	p := newScriptedPeer(t).up()
	defer p.done()
	s := p.OpenPort(PortConfig{})
	to := frame.SocketAddr{Port: 9, Node: popAddr}
	var err error
	n := 0
	for ; err == nil; n++ {
		err = s.Send(p.now, to, []byte("hi"))
	}
	b, ok := err.(*Blocked)
	if !ok || b.Node != popAddr || b.Unacked != 50 || b.Backlog != 100 || b.Limit != 100 {
		t.Errorf("message %d: got %v", n, err)
	}
	p.collect()
	p.eventList()
	p.report(nil)
	wantLines(t, "events", p.eventList(), "room for blocked senders 1001002")
	if err := s.Send(p.now, to, []byte("hi")); err != nil {
		t.Errorf("then: %v", err)
	}
	for range 4 {
		p.report(nil)
	}
	if p.Unsent() != 0 {
		t.Errorf("got %d unsent, want 0", p.Unsent())
	}
	p.now += time.Second
}
