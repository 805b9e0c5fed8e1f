// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
)

// What is promised of a daemon that is killed; tests allow twenty times as much, as the
// machine may be busy.
const (
	callsEnd     = 100 * time.Millisecond
	reattachedIn = time.Second
	allowance    = 20
)

var (
	keptService  = stack.Service{Type: 18888, Instance: 17}
	laterService = stack.Service{Type: 18888, Instance: 99}
	group        = stack.Service{Type: 4242, Instance: 7}
)

// lives are the sockets that a program has at a daemon, of each kind one.
type lives struct {
	n    *stack.Node
	pc   *stack.PacketConn
	l    *stack.Listener
	conn *stack.Conn
	g    *stack.Group
	port *stack.ActivePort
	sub  *stack.Subscription
}

func openLives(t *testing.T, n *stack.Node, peer stack.Service) *lives {
	t.Helper()
	x := &lives{n: n}
	var err error
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	x.pc, err = n.ListenPacket(within(t), "tipcrdm", keptService)
	must(err)
	x.l, err = n.Listen(within(t), "tipcpacket", stack.Service{Type: 18889, Instance: 1})
	must(err)
	x.g, err = n.Join(within(t), group)
	must(err)
	x.port, err = n.Handle(within(t), stack.Service{Type: 18890, Instance: 1}, stack.HandlerFunc(func(w *stack.Reply, m *stack.Incoming) { w.Send(m.Data) }))
	must(err)
	x.sub, err = n.Subscribe(within(t), stack.Range{Type: 18891, Upper: 9})
	must(err)
	must(n.WaitFor(within(t), peer))
	x.conn, err = n.Dial(within(t), "tipcpacket", peer)
	must(err)
	return x
}

// calls are calls that wait, one of each kind.
func (x *lives) calls(silent stack.SocketAddr) map[string]func() error {
	buf := func() []byte { return make([]byte, 100) }
	return map[string]func() error{
		"PacketConn.ReadFrom": func() error { _, _, err := x.pc.ReadFrom(buf()); return err },
		"Listener.Accept":     func() error { _, err := x.l.Accept(); return err },
		"Group.ReadMsg":       func() error { _, _, err := x.g.ReadMsg(buf()); return err },
		"Group.WaitMembers":   func() error { return x.g.WaitMembers(context.Background(), 5) },
		"Conn.Read":           func() error { _, err := x.conn.Read(buf()); return err },
		"Subscription.Next":   func() error { _, err := x.sub.Next(context.Background()); return err },
		"Node.Call":           func() error { _, _, err := x.n.Call(context.Background(), silent, []byte("?"), buf()); return err },
		"Node.WaitFor":        func() error { return x.n.WaitFor(context.Background(), stack.Service{Type: 18891, Instance: 1}) },
		"Node.Done":           func() error { <-x.n.Done(); return x.n.Err() },
	}
}

// Every call that waits ends when the daemon is killed; Reattach makes the sockets again
// at the next one, and other nodes see each name go once, and come once.
func TestReattachAfterAKill(t *testing.T) {
	all := ports(t, 2)
	path := filepath.Join(t.TempDir(), "utipc.sock")
	words := []string{"PORTS=" + strings.Join(all, " "), "SOCKET=" + path}
	first := startChild(t, "daemon", words...)
	peer, err := overLoopback(all[1], all[0])
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close(within(t))
	ln, err := peer.Listen(within(t), "tipcpacket", stack.Service{Type: 18892, Instance: 1})
	if err != nil {
		t.Fatal(err)
	}
	go func() { // connections stay
		for {
			if _, err := ln.Accept(); err != nil {
				return
			}
		}
	}()
	silent, err := peer.ListenPacket(within(t), "tipcrdm", nil)
	if err != nil {
		t.Fatal(err)
	}
	sub, err := peer.Subscribe(within(t), stack.Range{Type: keptService.Type, Upper: 99})
	if err != nil {
		t.Fatal(err)
	}
	n, err := stack.Attach(within(t), path)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close(within(t))
	x := openLives(t, n, stack.Service{Type: 18892, Instance: 1})
	told := func(want string) {
		t.Helper()
		ev, err := sub.Next(within(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(ev.Withdrawn, ev.Range); got != want {
			t.Fatalf("a peer sees %q, want %q", got, want)
		}
	}
	told("false 18888:17-17")

	type end struct {
		call string
		err  error
		at   time.Time
	}
	ends := make(chan end, 16)
	calls := x.calls(silent.LocalAddr().(stack.SocketAddr))
	for name, call := range calls {
		go func() { ends <- end{name, call(), time.Now()} }()
	}
	for waited := 0; waited < 1; { // the call has reached the peer: the others are under way as well
		if _, _, err := silent.ReadFrom(make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		waited++
	}
	killed := time.Now()
	first.cmd.Process.Kill()
	first.cmd.Wait()
	var slowest end
	for range calls {
		var e end
		select {
		case e = <-ends:
		case <-within(t).Done():
			t.Fatal("a call did not end")
		}
		var gone *stack.GoneError
		if !errors.Is(e.err, net.ErrClosed) || !errors.As(e.err, &gone) {
			t.Errorf("%s: got %v, want %v", e.call, e.err, net.ErrClosed)
		}
		if e.at.After(slowest.at) {
			slowest = e
		}
	}
	took := slowest.at.Sub(killed)
	t.Logf("all %d waiting calls ended within %v of the kill, %s last; target %v", len(calls), took, slowest.call, callsEnd)
	if took > allowance*callsEnd {
		t.Errorf("%s ended %v after the kill", slowest.call, took)
	}
	if n.Links() != nil || n.Sockets() != nil || n.Stats().Sockets != 0 {
		t.Error("something is told of a daemon that is gone")
	}
	if _, err := x.pc.WriteTo([]byte("x"), keptService); !errors.Is(err, net.ErrClosed) {
		t.Errorf("write: got %v", err)
	}
	short, cancel := context.WithCancel(context.Background())
	cancel()
	if err := n.Reattach(short); !errors.Is(err, context.Canceled) {
		t.Errorf("reattach: got %v", err)
	}

	told("true 18888:17-17")
	reattached := make(chan error, 1)
	var at time.Time
	go func() {
		err := n.Reattach(within(t))
		at = time.Now()
		reattached <- err
	}()
	startChild(t, "daemon", words...)
	ready := time.Now()
	if err := <-reattached; err != nil {
		t.Fatal(err)
	}
	t.Logf("5 sockets were there again %v after the daemon was ready; target %v", max(0, at.Sub(ready)), reattachedIn)
	if at.Sub(ready) > allowance*reattachedIn {
		t.Errorf("reattached %v after the daemon was ready", at.Sub(ready))
	}
	told("false 18888:17-17")
	if err := x.pc.Bind(laterService); err != nil {
		t.Fatal(err)
	}
	told("false 18888:99-99") // and nothing before it
	x.use(t, peer)
}

// use has the sockets do what they are there for.
func (x *lives) use(t *testing.T, peer *stack.Node) {
	t.Helper()
	buf := make([]byte, 100)
	by := time.Now().Add(patience)
	from, err := peer.ListenPacket(within(t), "tipcrdm", nil)
	if err != nil {
		t.Fatal(err)
	}
	x.pc.SetReadDeadline(by)
	for _, to := range []net.Addr{keptService, laterService, x.pc.LocalAddr()} {
		if _, err := from.WriteTo([]byte("again"), to); err != nil {
			t.Fatal(err)
		}
		if k, _, err := x.pc.ReadFrom(buf); err != nil || string(buf[:k]) != "again" {
			t.Fatalf("to %v: got %q, %v", to, buf[:k], err)
		}
	}
	if err := peer.WaitFor(within(t), stack.Service{Type: 18890, Instance: 1}); err != nil {
		t.Fatal(err)
	}
	if k, _, err := peer.Call(within(t), stack.Service{Type: 18890, Instance: 1}, []byte("port"), buf); err != nil || string(buf[:k]) != "port" {
		t.Errorf("active port: got %q, %v", buf[:k], err)
	}
	go peer.Dial(within(t), "tipcpacket", stack.Service{Type: 18889, Instance: 1})
	x.l.SetDeadline(by)
	if _, err := x.l.Accept(); err != nil {
		t.Error(err)
	}
	other, err := peer.Join(within(t), stack.Service{Type: group.Type, Instance: 8})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.g.WaitMembers(within(t), 1); err != nil {
		t.Fatal(err)
	}
	if err := other.WaitMembers(within(t), 1); err != nil {
		t.Fatal(err)
	}
	x.g.SetReadDeadline(by)
	if _, err := other.Write([]byte("member")); err != nil {
		t.Fatal(err)
	}
	if k, _, err := x.g.ReadFrom(buf); err != nil || string(buf[:k]) != "member" {
		t.Errorf("group: got %q, %v", buf[:k], err)
	}
	if _, err := x.conn.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a connection: got %v", err)
	}
}
