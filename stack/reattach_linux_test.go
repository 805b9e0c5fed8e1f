// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

// attachAt serves n at a path, and attaches there.
func attachAt(t *testing.T, n *stack.Node, cfg stack.AttachConfig) (*stack.Node, *host) {
	t.Helper()
	h := serveOn(t, n, filepath.Join(t.TempDir(), "utipc.sock"), daemon.Config{})
	a, err := cfg.Attach(within(t), h.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(within(t)) })
	return a, h
}

// again serves n at the path of a daemon that has stopped.
func (h *host) again(t *testing.T, n *stack.Node, cfg daemon.Config) {
	t.Helper()
	next := serveOn(t, n, h.path, cfg)
	t.Cleanup(func() { next.stop(t) })
}

// The next daemon is another node: sockets have other addresses there, and their names. What the
// first had delivered and nobody has read is read first; subscriptions and groups take back what
// they had told, and tell of what is there now.
//
// Mutations: succeed that does not take over the inbox; clientConn.end without takeBack; reportedBindings
// that does not forget what was withdrawn.
//
// Proves: daemon.dies
func TestReattachToAnotherNode(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]stack.AttachConfig{"sockets": {}, "ring": {Ring: stack.RingAlways}} {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t, stack.Config{})
			n, h := attachAt(t, a, cfg)
			pc := listen(t, n, echoService)
			before := pc.LocalAddr().(stack.SocketAddr)
			watched := stack.Range{Type: 700, Upper: 9}
			sub := mustSubscribe(t, n, stack.SubscriptionConfig{}, watched)
			changes := mustSubscribe(t, n, stack.SubscriptionConfig{Changes: true}, watched)
			event := func(s *stack.Subscription) string {
				t.Helper()
				ev, err := s.Next(within(t))
				if err != nil {
					t.Fatal(err)
				}
				return fmt.Sprint(ev.Withdrawn, ev.Range.Lower)
			}
			both := func(all ...string) {
				t.Helper()
				for _, s := range []*stack.Subscription{sub, changes} {
					for _, want := range all {
						if got := event(s); got != want {
							t.Fatalf("got %s, want %s", got, want)
						}
					}
				}
			}
			listen(t, b, stack.Service{Type: 700})
			c := listen(t, b, stack.Service{Type: 700, Instance: 1})
			both("false 0", "false 1")
			c.Close()
			both("true 1")
			listen(t, b, stack.Service{Type: 700, Instance: 2})
			both("false 2")
			g, err := stack.GroupConfig{Events: true}.Join(within(t), n, stack.Service{Type: 4242, Instance: 1})
			if err != nil {
				t.Fatal(err)
			}
			member, err := b.Join(within(t), stack.Service{Type: 4242, Instance: 2})
			if err != nil {
				t.Fatal(err)
			}
			defer member.Close()
			kind := func(want stack.GroupKind) {
				t.Helper()
				_, m, err := g.ReadMsg(make([]byte, 10))
				if err != nil || m.Kind != want || m.Member.Instance != 2 || m.From != member.LocalAddr() {
					t.Fatalf("got %+v, %v, want kind %v of %v", m, err, want, member.LocalAddr())
				}
			}
			g.SetReadDeadline(time.Now().Add(testTimeout))
			kind(stack.MemberJoined)

			from := listen(t, b, nil)
			if err := b.WaitFor(within(t), echoService); err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				if _, err := from.WriteTo([]byte{byte(i)}, echoService); err != nil {
					t.Fatal(err)
				}
			}
			waitFor(t, func() bool { // the daemon has written them
				for _, s := range must.Get(a.Admin().Sockets(context.Background())) {
					if s.Addr.Port == before.Port {
						return s.MessagesIn == 3 && s.Queued == 0
					}
				}
				return false
			})
			h.stop(t)
			h.again(t, b, daemon.Config{})
			kind(stack.MemberLeft)
			kind(stack.MemberJoined)
			both("true 0", "true 2", "false 0", "false 2")
			waitFor(t, func() bool { // it is there, and no more where it was
				at := map[stack.NodeAddr]bool{}
				for _, x := range must.Get(b.Admin().Names(context.Background())) {
					if x.Range == echoService.Range() {
						at[x.Socket.Node] = true
					}
				}
				return pc.LocalAddr().(stack.SocketAddr).Node == b.Addr() && at[b.Addr()] && len(at) == 1
			})
			if n.Addr() != b.Addr() {
				t.Errorf("the node is %v, want %v", n.Addr(), b.Addr())
			}
			if _, err := from.WriteTo([]byte{3}, echoService); err != nil {
				t.Fatal(err)
			}
			pc.SetReadDeadline(time.Now().Add(testTimeout))
			for want := range byte(4) {
				var got [10]byte
				if k, _, err := pc.ReadFrom(got[:]); err != nil || k != 1 || got[0] != want {
					t.Fatalf("got %v, %v, want message %d", got[:k], err, want)
				}
			}
		})
	}
}

// What is at the path meanwhile: nothing, a socket where nobody listens, a file that is none, a
// daemon that closes what it accepts.
//
// Mutation: isAway without one of its errnos.
//
// Proves: daemon.dies
func TestReattachThroughAllStates(t *testing.T) {
	t.Parallel()
	a, _ := pair(t, stack.Config{})
	n, h := attachAt(t, a, stack.AttachConfig{})
	pc := listen(t, n, echoService)
	h.stop(t)
	short := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond) // for some attempts
		defer cancel()
		if _, err := n.ListenPacket(ctx, "tipcrdm", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if n.Err() != nil {
			t.Fatal(n.Err())
		}
	}
	short()
	ul, err := net.ListenUnix("unixpacket", &net.UnixAddr{Net: "unixpacket", Name: h.path})
	if err != nil {
		t.Fatal(err)
	}
	ul.SetUnlinkOnClose(false)
	ul.Close()
	short()
	os.Remove(h.path)
	if err := os.WriteFile(h.path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	short()
	os.Remove(h.path)
	closes, err := attach.Listen(h.path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := closes.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	short()
	h.again(t, a, daemon.Config{}) // in the place of that one
	waitFor(t, func() bool {
		names, err := pc.Bindings(context.Background())
		return err == nil && len(names) == 1
	})
	closes.Close()
	<-done
}

// A limit of the next daemon leaves no room for a socket: its calls wait, and name the limit, and
// it is made as soon as there is room. The other sockets are there all the time.
//
// Mutations: isFinal that is always true; reopen that stops at the first error.
//
// Proves: daemon.dies
func TestReattachWaitsForALimit(t *testing.T) {
	a, _ := pair(t, stack.Config{})
	n, h := attachAt(t, a, stack.AttachConfig{})
	var all [2]*stack.PacketConn
	for i := range all {
		all[i] = listen(t, n, stack.Service{Type: 700, Instance: uint32(i)})
	}
	h.stop(t)
	sub := mustSubscribe(t, a, stack.SubscriptionConfig{}, stack.Range{Type: 700, Upper: 9})
	h.again(t, a, daemon.Config{Quotas: daemon.Quotas{Process: daemon.Limits{Names: 1}}})
	ev, err := sub.Next(within(t))
	if err != nil {
		t.Fatal(err)
	}
	there, missing := all[ev.Range.Lower], all[1-ev.Range.Lower]
	waitFor(t, func() bool {
		missing.SetWriteDeadline(time.Unix(1, 0))
		_, err := missing.WriteTo([]byte("x"), echoService)
		var blocked *stack.BlockedError
		if !errors.As(err, &blocked) || blocked.Away == "" {
			t.Fatalf("got %v, want that the daemon has no room for the socket", err)
		}
		return strings.Contains(err.Error(), "may have 1 names")
	})
	if err := there.Close(); err != nil {
		t.Fatal(err)
	}
	for ev.Withdrawn || ev.Range.Lower == uint32(1-indexOf(all[:], missing)) {
		if ev, err = sub.Next(within(t)); err != nil {
			t.Fatal(err)
		}
	}
	missing.SetDeadline(time.Now().Add(testTimeout))
	if _, err := missing.WriteTo([]byte("x"), stack.Service{Type: 700, Instance: ev.Range.Lower}); err != nil {
		t.Fatal(err)
	}
	if k, _, err := missing.ReadFrom(make([]byte, 10)); err != nil || k != 1 {
		t.Errorf("got %d, %v", k, err)
	}
}

func indexOf(all []*stack.PacketConn, c *stack.PacketConn) int {
	for i := range all {
		if all[i] == c {
			return i
		}
	}
	return -1
}

// refusing is a daemon in so far as it answers: what answer says.
func refusing(t *testing.T, path string, answer func(h *attach.Header) (attach.Header, []byte)) {
	t.Helper()
	l, err := attach.Listen(path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			go func() {
				buf := make([]byte, attach.MaxData)
				var h attach.Header
				for {
					if _, err := c.Read(&h, buf); err != nil {
						return
					}
					if r, data := answer(&h); c.Write(&r, data) != nil {
						return
					}
				}
			}()
		}
	}()
}

// The next daemon does not want this program: of another version of the protocol, or by its
// settings. The node ends, and every call says why.
//
// Mutations: isRefusal that is always false; refuse that does not kick.
//
// Proves: daemon.dies, daemon.versions
func TestReattachRefused(t *testing.T) {
	a, _ := pair(t, stack.Config{})
	for name, c := range map[string]struct {
		answer func(h *attach.Header) (attach.Header, []byte)
		want   error
		text   []string
	}{
		"a newer daemon": {func(h *attach.Header) (attach.Header, []byte) {
			r, text := attach.VersionReply(h)
			r.Arg1 = attach.Version + 1
			return r, text
		}, attach.ErrVersion, []string{"program speaks version 1", "daemon version 2", "update the program"}},
		"an older daemon": {func(h *attach.Header) (attach.Header, []byte) {
			return h.Reply(syscall.EPROTONOSUPPORT), []byte("attach: another version of the protocol")
		}, attach.ErrVersion, []string{"program speaks version 1", "daemon another version"}},
		"rights": {func(h *attach.Header) (attach.Header, []byte) {
			return h.Reply(syscall.EPERM), []byte("neither sockets nor calls are allowed")
		}, syscall.EPERM, []string{"neither sockets nor calls are allowed"}},
	} {
		t.Run(name, func(t *testing.T) {
			n, h := attachAt(t, a, stack.AttachConfig{})
			l, err := n.Listen(within(t), "tipc", nil)
			if err != nil {
				t.Fatal(err)
			}
			pc := listen(t, n, nil)
			ends := make(chan error, 3)
			go func() { _, err := l.Accept(); ends <- err }()
			go func() { _, _, err := pc.ReadFrom(make([]byte, 10)); ends <- err }()
			go func() { ends <- n.WaitFor(within(t), echoService) }()
			h.stop(t)
			refusing(t, h.path, c.answer)
			<-n.Done()
			for _, err := range []error{n.Err(), <-ends, <-ends, <-ends, func() error { _, err := n.Listen(within(t), "tipc", nil); return err }()} {
				var refused *stack.ReattachError
				if !errors.As(err, &refused) || !errors.Is(err, c.want) || !errors.Is(err, net.ErrClosed) || refused.Path != h.path {
					t.Errorf("got %v, want a *ReattachError that is %v", err, c.want)
				}
				for _, part := range append(c.text, h.path) {
					if err != nil && !strings.Contains(err.Error(), part) {
						t.Errorf("%q does not say %q", err, part)
					}
				}
			}
			if err := n.Close(within(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// The next daemon refuses a socket for good: that ends, and the node goes on.
//
// Mutation: isFinal that is always false.
//
// Proves: daemon.dies
func TestReattachRefusesASocket(t *testing.T) {
	a, _ := pair(t, stack.Config{})
	n, h := attachAt(t, a, stack.AttachConfig{})
	pc := listen(t, n, nil)
	was := pc.LocalAddr().(stack.SocketAddr)
	done := make(chan struct{})
	port, err := n.Handle(within(t), nil, stack.HandlerFunc(func(*stack.Reply, *stack.Message) {}))
	if err != nil {
		t.Fatal(err)
	}
	go func() { <-port.Done(); close(done) }()
	h.stop(t)
	refusing(t, h.path, func(h *attach.Header) (attach.Header, []byte) {
		if h.Op == attach.OpHello {
			return attach.HelloReply(h, attach.Welcome{Node: 7})
		}
		return h.Reply(syscall.EPERM), nil
	})
	var refused *stack.ReattachError
	if _, _, err := pc.ReadFrom(make([]byte, 10)); !errors.As(err, &refused) || refused.Socket != was || !errors.Is(err, syscall.EPERM) {
		t.Errorf("read: got %v", err)
	}
	if _, err := pc.WriteTo([]byte("x"), echoService); !errors.As(err, &refused) {
		t.Errorf("write: got %v", err)
	}
	if _, err := pc.TryWriteTo([]byte("x"), echoService); !errors.As(err, &refused) {
		t.Errorf("write without waiting: got %v", err)
	}
	<-done
	if err := port.Err(); !errors.As(err, &refused) {
		t.Errorf("active port: got %v", err)
	}
	waitFor(t, func() bool { return n.Addr() == 7 })
	if n.Err() != nil {
		t.Error(n.Err())
	}
}

// With NoReattach the node ends with the daemon.
//
// Mutation: openWithin that keeps s.kept.
//
// Proves: daemon.dies
func TestNoReattach(t *testing.T) {
	a, _ := pair(t, stack.Config{})
	n, h := attachAt(t, a, stack.AttachConfig{NoReattach: true})
	pc := listen(t, n, nil)
	h.stop(t)
	<-n.Done()
	h.again(t, a, daemon.Config{})
	var gone *stack.GoneError
	for _, err := range []error{
		n.Err(),
		func() error { _, _, err := pc.ReadFrom(make([]byte, 10)); return err }(),
		func() error { _, err := pc.WriteTo([]byte("x"), echoService); return err }(),
	} {
		if !errors.As(err, &gone) || !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v, want a *GoneError", err)
		}
	}
}

// Accept beyond a limit of the daemon fails for now: net/http and gRPC try again.
//
// Mutation: acceptFar without passing.
//
// Proves: daemon.limits
func TestAcceptBeyondALimitPasses(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	h := serveOn(t, a, filepath.Join(t.TempDir(), "utipc.sock"), daemon.Config{Quotas: daemon.Quotas{Process: daemon.Limits{Connections: 3}}})
	defer h.stop(t)
	n, err := stack.Attach(within(t), h.path) // one
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close(within(t))
	l, err := n.Listen(within(t), "tipc", echoService) // two
	if err != nil {
		t.Fatal(err)
	}
	l.SetDeadline(time.Now().Add(testTimeout))
	if err := b.WaitFor(within(t), echoService); err != nil {
		t.Fatal(err)
	}
	accept := func() (net.Conn, error) {
		go b.Dial(within(t), "tipc", echoService)
		return l.Accept()
	}
	c, err := accept() // three
	if err != nil {
		t.Fatal(err)
	}
	_, err = accept()
	var passes net.Error
	//lint:ignore SA1019 accept loops, net/http's among them, still ask for it
	if !errors.As(err, &passes) || !passes.Temporary() || passes.Timeout() || !errors.Is(err, syscall.EMFILE) {
		t.Errorf("beyond the limit: got %v, want an error that is temporary", err)
	}
	c.Close()
	waitFor(t, func() bool { return h.srv.Counters().Connections == 2 })
	if _, err := accept(); err != nil {
		t.Errorf("within the limit again: %v", err)
	}
}
