// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

func TestTwoNodesExchangeByName(t *testing.T) {
	b := newBed(t, 2)
	x, y := b.nodes[0], b.nodes[1]
	svc := frame.Service{Type: 18888, Instance: 17}
	py := y.OpenPort(PortConfig{})
	if err := py.Bind(b.now, svc.Range(), frame.ClusterScope); err != nil {
		t.Fatal(err)
	}
	if !b.until(3*time.Second, func() bool { return x.knows(svc.Range()) }) {
		t.Fatalf("name did not arrive; frames: %q", b.lines)
	}
	px := x.OpenPort(PortConfig{})
	for i := range 500 {
		if err := px.SendService(b.now, svc, []byte{byte(i), byte(i >> 8)}); err != nil {
			t.Fatal(err)
		}
		b.settle()
	}
	var buf [16]byte
	for i := range 500 {
		n, r, ok := py.Read(buf[:])
		if !ok || n != 2 || int(buf[0])|int(buf[1])<<8 != i || r.From != px.Addr() {
			t.Fatalf("message %d: got %v %v %v", i, buf[:n], r, ok)
		}
	}
	y.nodes[0].links[0].SetTolerance(b.now, 400*time.Millisecond)
	b.lose = func(int, []byte) bool { return true }
	start := b.now
	if !b.until(3*time.Second, func() bool { return !x.knows(svc.Range()) }) {
		t.Fatal("a dead node's name stays")
	}
	t.Logf("lost after %v", b.now-start)
	b.lose = nil
	if !b.until(10*time.Second, func() bool {
		return x.knows(svc.Range()) && y.knows(frame.Range{Type: 0, Lower: 0x1001001, Upper: 0x1001001})
	}) {
		t.Fatalf("contact was not made again: %v %v %q", x.nodes[0].contact, y.nodes[0].contact, b.lines[len(b.lines)-30:])
	}
	b.pass(5 * time.Second)
	b.wantFree()
}

func TestTrial(t *testing.T) {
	b := newBed(t, 0)
	id := frame.Identity{'a'}
	b.add(Config{Identity: id}, 7)
	b.until(2*time.Second, func() bool { return b.nodes[0].Address() != 0 })
	if got, want := b.now, time.Second+125*time.Millisecond; got > want || b.nodes[0].Address() != id.Hash() {
		t.Errorf("address %v after %v, want %v within %v", b.nodes[0].Address(), got, id.Hash(), want)
	}
}
