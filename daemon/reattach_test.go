// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// What is promised of a daemon that is killed. Tests log what it took: the machine may be busy.
const (
	callsEnd = 100 * time.Millisecond
	servedIn = time.Second
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

	watch          admin.Watch
	cap            admin.Capture
	other, closing *stack.PacketConn
	closingL       *stack.Listener
	member         *stack.Group // of the peer
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
	x.port, err = n.Handle(within(t), stack.Service{Type: 18890, Instance: 1}, stack.HandlerFunc(func(w *stack.Reply, m *stack.Message) { w.Send(m.Data) }))
	must(err)
	x.sub, err = n.Subscribe(within(t), stack.Range{Type: 18891, Upper: 9})
	must(err)
	x.watch, err = n.Admin().Watch(context.Background())
	must(err)
	x.cap, err = n.Admin().Capture(context.Background(), admin.CaptureConfig{})
	must(err)
	x.other, err = n.ListenPacket(within(t), "tipcrdm", nil)
	must(err)
	x.closing, err = n.ListenPacket(within(t), "tipcrdm", nil)
	must(err)
	x.closingL, err = n.Listen(within(t), "tipc", nil)
	must(err)
	must(n.WaitFor(within(t), peer))
	x.conn, err = n.Dial(within(t), "tipcpacket", peer)
	must(err)
	return x
}

// A lasting is a call that waits for the next daemon, and what it has returned.
type lasting struct {
	name string
	err  error
}

// ended are calls that end with the daemon.
func (x *lives) ended(silent stack.SocketAddr) map[string]func() error {
	buf := func() []byte { return make([]byte, 100) }
	return map[string]func() error{
		"Conn.Read": func() error { _, err := x.conn.Read(buf()); return err },
		"Node.Call": func() error { _, _, err := x.n.Call(context.Background(), silent, []byte("?"), buf()); return err },
		"Capture.Next": func() (err error) {
			for err == nil {
				_, err = x.cap.Next(context.Background())
			}
			return err
		},
	}
}

// lasting are calls that wait for the next daemon.
func (x *lives) lasting() map[string]func() error {
	buf := func() []byte { return make([]byte, 100) }
	return map[string]func() error{
		"PacketConn.ReadFrom": func() error { _, _, err := x.pc.ReadFrom(buf()); return err },
		"Listener.Accept":     func() error { _, err := x.l.Accept(); return err },
		"Group.ReadMsg":       func() error { _, _, err := x.g.ReadMsg(buf()); return err },
		"Group.WaitMembers":   func() error { return x.g.WaitMembers(context.Background(), 1) },
		"Subscription.Next":   func() error { _, err := x.sub.Next(context.Background()); return err },
		"Node.WaitFor":        func() error { return x.n.WaitFor(context.Background(), stack.Service{Type: 18891, Instance: 1}) },
	}
}

// away checks calls that are made while there is no daemon.
func (x *lives) away(t *testing.T) {
	t.Helper()
	n := x.n
	var gone *stack.GoneError
	if links, err := n.Admin().Links(context.Background()); !errors.As(err, &gone) || links != nil {
		t.Errorf("links: got %v, %v", links, err)
	}
	if s, err := n.Admin().Stats(context.Background()); !errors.As(err, &gone) || s.Sockets != 0 {
		t.Errorf("statistics: got %d sockets, %v", s.Sockets, err)
	}
	if err := n.Admin().Rekey(context.Background()); !errors.As(err, &gone) || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a change of the node: got %v", err)
	}
	if n.Err() != nil {
		t.Errorf("the node has ended: %v", n.Err())
	}
	var blocked *stack.BlockedError
	x.pc.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := x.pc.WriteTo([]byte("x"), keptService); !errors.As(err, &blocked) || !errors.Is(err, os.ErrDeadlineExceeded) || blocked.Away == "" {
		t.Errorf("a write at its deadline: got %v", err)
	}
	x.pc.SetWriteDeadline(time.Time{})
	if _, err := x.pc.TryWriteTo([]byte("x"), keptService); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("a write that does not wait: got %v", err)
	}
	if _, _, err := x.other.TryReadMsg(make([]byte, 10)); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("a read that does not wait: got %v", err)
	}
	x.other.SetReadDeadline(time.Unix(1, 0))
	if _, _, err := x.other.ReadFrom(make([]byte, 10)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a read whose deadline is over: got %v", err)
	}
	x.other.SetReadDeadline(time.Time{})
	soon, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	for name, call := range map[string]func() error{
		"ListenPacket": func() error { _, err := n.ListenPacket(soon, "tipcrdm", nil); return err },
		"Listen":       func() error { _, err := n.Listen(soon, "tipc", keptService); return err },
		"Dial":         func() error { _, err := n.Dial(soon, "tipc", keptService); return err },
		"Call":         func() error { _, _, err := n.Call(soon, keptService, []byte("?"), make([]byte, 10)); return err },
		"WaitFor":      func() error { return n.WaitFor(soon, keptService) },
		"Subscribe":    func() error { _, err := n.Subscribe(soon, keptService.Range()); return err },
		"Join":         func() error { _, err := n.Join(soon, group); return err },
	} {
		if err := call(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v, want %v", name, err, context.DeadlineExceeded)
		}
	}
	_, err := (stack.SocketConfig{DialTimeout: 20 * time.Millisecond}).Dial(context.Background(), n, "tipc", keptService)
	var ce *stack.ConnError
	if !errors.As(err, &ce) || !ce.Timeout() || !strings.Contains(err.Error(), "no daemon") {
		t.Errorf("Dial: got %v", err)
	}
	for _, s := range []io.Closer{x.closing, x.closingL} {
		ended := make(chan error, 1)
		go func() {
			switch s := s.(type) {
			case *stack.PacketConn:
				_, _, err := s.ReadFrom(make([]byte, 10))
				ended <- err
			case *stack.Listener:
				_, err := s.Accept()
				ended <- err
			}
		}()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, net.ErrClosed) || errors.As(err, &gone) {
			t.Errorf("a call of a closed socket: got %v", err)
		}
	}
}

// Sockets of every kind outlive a daemon that is killed: calls wait, those of connections end
// with a reset, and other nodes see each name go once, and come once.
//
// Mutations: remoteSocket.follow that returns err; remoteNode.mend that returns at once; succeed that
// does not kick.
//
// Proves: daemon.dies
func TestSocketsOutliveTheDaemon(t *testing.T) {
	t.Parallel()
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
	told := func(want ...string) { // in any order
		t.Helper()
		for len(want) > 0 {
			ev, err := sub.Next(within(t))
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(ev.Withdrawn, ev.Range)
			i := slices.Index(want, got)
			if i < 0 {
				t.Fatalf("a peer sees %q, want one of %q", got, want)
			}
			want = slices.Delete(want, i, i+1)
		}
	}
	told("false 18888:17-17")

	type end struct {
		lasting
		at time.Time
	}
	ends, over := make(chan end, 16), x.ended(silent.LocalAddr().(stack.SocketAddr))
	for name, call := range over {
		go func() { ends <- end{lasting{name, call()}, time.Now()} }()
	}
	later, waits := make(chan lasting, 16), x.lasting()
	for name, call := range waits {
		go func() { later <- lasting{name, call()} }()
	}
	if _, _, err := silent.ReadFrom(make([]byte, 10)); err != nil { // the call has reached the peer
		t.Fatal(err)
	}
	killed := time.Now()
	first.cmd.Process.Kill()
	first.cmd.Wait()
	missSooner(t, peer)
	var slowest end
	for range over {
		var e end
		select {
		case e = <-ends:
		case <-within(t).Done():
			t.Fatal("a call did not end")
		}
		var gone *stack.GoneError
		if !errors.Is(e.err, syscall.ECONNRESET) || !errors.As(e.err, &gone) {
			t.Errorf("%s: got %v, want a *GoneError that is %v", e.name, e.err, syscall.ECONNRESET)
		}
		if e.at.After(slowest.at) {
			slowest = e
		}
	}
	t.Logf("%d calls ended within %v of the kill, %s last; target %v", len(over), slowest.at.Sub(killed), slowest.name, callsEnd)
	x.away(t)
	bound := make(chan error, 1)
	go func() { bound <- x.pc.Bind(laterService) }()
	select {
	case e := <-later:
		t.Fatalf("%s ended with the daemon: %v", e.name, e.err)
	case err := <-bound:
		t.Fatalf("bound without a daemon: %v", err)
	default:
	}
	startChild(t, "daemon", words...)
	if err := <-bound; err != nil {
		t.Fatal(err)
	}
	told("true 18888:17-17") // by the new daemon, which its peer hears sooner than it misses the old one
	told("false 18888:17-17", "false 18888:99-99")
	x.serve(t, peer)
	for range waits {
		select {
		case e := <-later:
			if e.err != nil {
				t.Errorf("%s: %v", e.name, e.err)
			}
		case <-within(t).Done():
			t.Fatal("a call that waited for the daemon did not end")
		}
	}
	x.use(t, peer)
	for _, want := range []admin.EventKind{admin.DaemonLost, admin.DaemonBack} {
		for ev := (admin.NodeEvent{}); ev.Kind != want; {
			if ev, err = x.watch.Next(within(t)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// missSooner has a node whose only peer was killed miss it within 2 s. A RESET of the peer's next node ends the old
// link if its session, which is chosen by chance, is newer than the last: else the node waits for the
// tolerance. The next link has the peer's, which is longer. Source: docs/spec/02-link.md §4.3.
func missSooner(t *testing.T, n *stack.Node) {
	t.Helper()
	links, err := n.Admin().Links(within(t))
	if err != nil || len(links) != 1 {
		t.Fatalf("got links %+v, %v, want one", links, err)
	}
	if err := n.Admin().SetLink(within(t), links[0].Peer, links[0].Bearer, stack.LinkConfig{Tolerance: 2 * time.Second}); err != nil {
		t.Fatal(err)
	}
}

// serve gives the calls of lasting what they wait for.
func (x *lives) serve(t *testing.T, peer *stack.Node) {
	t.Helper()
	for _, svc := range []stack.Service{keptService, {Type: 18889, Instance: 1}} {
		if err := peer.WaitFor(within(t), svc); err != nil {
			t.Fatal(err)
		}
	}
	from, err := peer.ListenPacket(within(t), "tipcrdm", stack.Service{Type: 18891, Instance: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := from.WriteTo([]byte("x"), keptService); err != nil {
		t.Fatal(err)
	}
	if _, err := peer.Dial(within(t), "tipcpacket", stack.Service{Type: 18889, Instance: 1}); err != nil {
		t.Fatal(err)
	}
	if x.member, err = peer.Join(within(t), stack.Service{Type: group.Type, Instance: 8}); err != nil {
		t.Fatal(err)
	}
	if err := x.member.WaitMembers(within(t), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := x.member.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
}

// use has the sockets do what they are there for.
func (x *lives) use(t *testing.T, peer *stack.Node) {
	t.Helper()
	buf := make([]byte, 100)
	by := time.Now().Add(testTimeout)
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
	x.g.SetReadDeadline(by)
	if _, err := x.member.Write([]byte("member")); err != nil {
		t.Fatal(err)
	}
	if k, _, err := x.g.ReadFrom(buf); err != nil || string(buf[:k]) != "member" {
		t.Errorf("group: got %q, %v", buf[:k], err)
	}
	if _, err := x.conn.Write([]byte("x")); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a connection: got %v", err)
	}
}
