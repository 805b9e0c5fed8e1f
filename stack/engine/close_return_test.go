// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

// Closing a port returns what nobody read (spec 07 §4.6), but what may be dropped.
//
// Proves: socket.returned
func TestCloseReturnsUnread(t *testing.T) {
	p := newScriptedPeer(t).up()
	port := p.bound(t, PortConfig{}, 18888, 17)
	p.packet(data(port.number, nil, "first"))
	p.packet(data(port.number, func(f *frame.PayloadFields) { f.DestDroppable = true }, "droppable"))
	p.packet(data(port.number, func(f *frame.PayloadFields) { f.Error = frame.NoName }, "came back"))
	p.packet(data(0, func(f *frame.PayloadFields) {
		named(18888, 17)(f)
		f.Importance, f.SrcDroppable, f.Syn = frame.High, true, true
	}, strings.Repeat("x", 1300)))
	p.drain()
	port.Close(p.now)
	port.Close(p.now)
	lines := p.drain()
	for i, l := range lines {
		lines[i], _, _ = strings.Cut(strings.ReplaceAll(l, fmt.Sprint(port.number), "PORT"), " seq=")
	}
	if left, _ := p.pub.Bulk(); len(left) != 1 {
		t.Errorf("names left: %v", left)
	}
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "name/withdraw update=2 18888:17-17=PORT/") ||
		lines[1] != "data-low/direct PORT>77 error=no port bytes=5" ||
		lines[2] != "data-high/named PORT>77 name=18888:17 error=no port reroute=1 syn bytes=1024" {
		t.Errorf("got %q", lines)
	}
	if err := port.Send(p.now, frame.SocketAddr{Port: 1, Node: popAddr}, nil); err != ErrClosed {
		t.Errorf("send: got %v, want %v", err, ErrClosed)
	}
	if err := port.Bind(p.now, frame.Range{Type: 100}, frame.ClusterScope); err != ErrClosed {
		t.Errorf("bind: got %v, want %v", err, ErrClosed)
	}
	if err := port.SendService(p.now, frame.Service{Type: 18888, Instance: 17}, nil); err != ErrClosed {
		t.Errorf("send to a service: got %v, want %v", err, ErrClosed)
	}
	p.packet(data(port.number, nil, "late"))
	if got := p.drain(); len(got) != 1 || !strings.Contains(got[0], "error=no port") {
		t.Errorf("late message: got %q, want a reject", got)
	}
	p.done()
}

// What is closed returns local messages to their sender too.
func TestCloseReturnsLocal(t *testing.T) {
	p := newScriptedPeer(t)
	r, s := p.bound(t, PortConfig{}, 18888, 17), p.OpenPort(PortConfig{Returnable: true})
	svc := frame.Service{Type: 18888, Instance: 17}
	if err := s.SendService(0, svc, []byte("hi")); err != nil {
		t.Fatal(err)
	}
	addr := r.Addr()
	r.Close(0)
	wantLines(t, "came back", read(s), fmt.Sprintf("%v hi error=no port", addr))
	if err := s.SendService(0, svc, []byte("hi")); err != ErrNoName {
		t.Errorf("nobody is bound: got %v, want %v", err, ErrUnreachable)
	}
	s.SendService(0, svc, nil)
	// Nobody left to take it back.
	r = p.bound(t, PortConfig{}, 18888, 17)
	s.SendService(0, svc, []byte("hi"))
	s.Close(0)
	r.Close(0)
	p.wantDrops("sender gone", "nobody to take it, and not to be returned=1")
}
