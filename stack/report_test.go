// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

// reportModes are the ways in which a send does not wait for the daemon.
var reportModes = map[string]stack.AttachConfig{"socket": {}, "ring": {Ring: stack.RingAlways}}

// nobody has this name.
var nobody = stack.Service{Type: 18890, Instance: 1}

// Sends to a dead name and to a living one by turns: the living socket gets all of its
// messages, and each that failed is reported with its number, destination and text.
// Mutations: trouble returns an error that sendFailed has kept; sendFailed gives no Addr;
// number does not count.
func TestAttachedSendFailsAlone(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	live := listen(t, b, echoService)
	if err := a.WaitFor(within(t), echoService); err != nil {
		t.Fatal(err)
	}
	for name, cfg := range reportModes {
		t.Run(name, func(t *testing.T) {
			n, _ := attachTo(t, a, cfg)
			c := listen(t, n, nil)
			const rounds = 50
			long := strings.Repeat("?", 2000)
			for i := range rounds {
				for to, text := range map[net.Addr]string{nobody: fmt.Sprint("dead ", i, long), echoService: fmt.Sprint("live ", i)} {
					if _, err := c.WriteTo([]byte(text), to); err != nil {
						t.Fatalf("to %v: %v", to, err)
					}
				}
			}
			buf := make([]byte, 3000)
			for i := range rounds {
				if k, _, err := live.ReadFrom(buf); err != nil || string(buf[:k]) != fmt.Sprint("live ", i) {
					t.Fatalf("message %d: got %q, %v", i, buf[:k], err)
				}
			}
			var last uint64
			for i := range rounds {
				r, err := c.NextReport(within(t))
				if err != nil {
					t.Fatal(err)
				}
				text := fmt.Sprint("dead ", i, long)
				if r.Seq <= last || r.Seq > 2*uint64(i)+2 || r.Addr != nobody || string(r.Data) != text[:1024] || r.Len != len(text) || r.Lost != 0 {
					t.Errorf("report %d, the last was about message %d: %+v", i, last, r)
				}
				var op *net.OpError
				if !errors.As(r.Err, &op) || op.Op != "write" || op.Addr != nobody || !errors.Is(r.Err, stack.ErrUnreachable) {
					t.Errorf("report %d: %v", i, r.Err)
				}
				last = r.Seq
			}
			if _, err := c.TryNextReport(); err != syscall.EAGAIN {
				t.Errorf("got %v, want %v", err, syscall.EAGAIN)
			}
			if s := must.Get(c.Stats(context.Background())); s.SendErrors != rounds || s.MessagesOut != rounds {
				t.Errorf("%d sent, %d not, want %d of each", s.MessagesOut, s.SendErrors, rounds)
			}
		})
	}
}

// A program that reads reports late has all of them, or learns how many it has lost. A
// message is found again by its number. Mutation: number counts from 0.
func TestAttachedReportsAreBounded(t *testing.T) {
	t.Parallel()
	a, _ := pair(t, stack.Config{})
	n, _ := attachTo(t, a, stack.AttachConfig{})
	c := listen(t, n, nil)
	const all = 200
	for i := range all {
		if _, err := c.WriteTo(fmt.Append(nil, i+1), nobody); err != nil {
			t.Fatal(err)
		}
	}
	seen, lost := 0, uint64(0)
	for uint64(seen)+lost < all {
		r, err := c.NextReport(within(t))
		if err != nil {
			t.Fatalf("after %d reports, %d lost: %v", seen, lost, err)
		}
		seen++
		lost += r.Lost
		if string(r.Data) != fmt.Sprint(r.Seq) || r.Seq != uint64(seen)+lost {
			t.Errorf("report %d after %d that were lost is about message %d: %q", seen, lost, r.Seq, r.Data)
		}
	}
	if uint64(seen)+lost != all {
		t.Errorf("%d reports, %d lost, of %d", seen, lost, all)
	}
}

// What is sent to members that are none takes nothing from the others. Mutations: as of
// TestAttachedSendFailsAlone; joinFar knows no address of all members.
func TestAttachedGroupSendFailsAlone(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	team := uint32(4242)
	for name, cfg := range reportModes {
		t.Run(name, func(t *testing.T) {
			team++ // members of the group before may not have left yet
			n, _ := attachTo(t, a, cfg)
			g, err := n.Join(within(t), stack.Service{Type: team, Instance: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			if _, err := g.Write([]byte("alone")); err != nil {
				t.Fatal(err)
			}
			all := stack.Range{Type: team, Upper: ^uint32(0)}
			if r, err := g.NextReport(within(t)); err != nil || r.Seq != 1 || r.Addr != all || !errors.Is(r.Err, stack.ErrUnreachable) {
				t.Fatalf("got %+v, %v", r, err)
			}
			h, err := b.Join(within(t), stack.Service{Type: team, Instance: 2})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			if err := g.WaitMembers(within(t), 1); err != nil {
				t.Fatal(err)
			}
			gone := stack.SocketAddr{Port: 12345, Node: b.Addr()}
			for i := range 20 {
				if _, err := g.WriteTo([]byte("gone"), gone); err != nil {
					t.Fatal(err)
				}
				if _, err := g.Write(fmt.Append(nil, i)); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 20 {
				if got, _ := groupRead(t, h); got != fmt.Sprint(i) {
					t.Fatalf("got %q, want %d", got, i)
				}
			}
			if r, err := g.NextReport(within(t)); err != nil || r.Seq != 2 || r.Addr != gone || string(r.Data) != "gone" {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
}

// A message that cannot be sent comes back to a Returnable socket, as if another node had
// rejected it; what cannot come back is reported. Mutations: comeBack takes ranges, too;
// SetReturnable does not reach sendFailed.
func TestAttachedSendComesBack(t *testing.T) {
	a, _ := pair(t, stack.Config{})
	n, _ := attachTo(t, a, stack.AttachConfig{})
	c, err := stack.SocketConfig{Returnable: true}.ListenPacket(within(t), n, "tipcrdm", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	buf := make([]byte, 2000)
	for _, w := range []struct {
		to   net.Addr
		want stack.RejectError
	}{
		{nobody, stack.RejectError{Code: frame.NoName, Dest: stack.SocketAddr{Node: a.Addr()}, Name: nobody}},
		{stack.SocketAddr{Port: 7, Node: 99}, stack.RejectError{Code: frame.NoNode, Dest: stack.SocketAddr{Port: 7, Node: 99}}},
	} {
		text := strings.Repeat("back?", 300)
		if _, err := c.WriteTo([]byte(text), w.to); err != nil {
			t.Fatal(err)
		}
		k, _, err := c.ReadFrom(buf)
		var back *stack.RejectError
		if !errors.As(err, &back) || *back != w.want || string(buf[:k]) != text[:1024] {
			t.Errorf("to %v: got %d bytes, %v", w.to, k, err)
		}
	}
	if err := c.SetReturnable(false); err != nil {
		t.Fatal(err)
	}
	if _, err := c.WriteTo([]byte("x"), nobody); err != nil {
		t.Fatal(err)
	}
	if r, err := c.NextReport(within(t)); err != nil || r.Addr != nobody || r.Seq != 3 {
		t.Errorf("got %+v, %v", r, err)
	}
}

// A read of a socket with a default destination ends with the report, once; the write
// after it is sent. Mutation: next does not heed reports.
func TestAttachedReadTellsOfSends(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	live := listen(t, b, echoService)
	if err := a.WaitFor(within(t), echoService); err != nil {
		t.Fatal(err)
	}
	n, _ := attachTo(t, a, stack.AttachConfig{})
	c, err := n.DialPacket(within(t), "tipcrdm", nobody)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(testTimeout))
	if _, err := c.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, stack.ErrUnreachable) || !strings.Contains(err.Error(), nobody.String()) {
		t.Errorf("got %v", err)
	}
	if _, err := c.TryNextReport(); err != syscall.EAGAIN {
		t.Errorf("got %v, want %v", err, syscall.EAGAIN)
	}
	if _, err := c.WriteTo([]byte("y"), echoService); err != nil {
		t.Fatal(err)
	}
	if k, _, err := live.ReadFrom(make([]byte, 10)); err != nil || k != 1 {
		t.Errorf("got %d bytes, %v", k, err)
	}
}

// Of a node that Open made a send has its own error, and is counted; nothing is reported
// until the context, or the socket, ends the wait. Mutations: shut leaves out went;
// sendError does not count.
func TestNothingIsReportedOfOwnNodes(t *testing.T) {
	a, _ := pair(t, stack.Config{})
	g, err := a.Join(within(t), stack.Service{Type: 4242, Instance: 1})
	if err != nil {
		t.Fatal(err)
	}
	type reporter interface {
		net.PacketConn
		NextReport(context.Context) (stack.SendReport, error)
		TryNextReport() (stack.SendReport, error)
		Stats(ctx context.Context) (stack.SocketStats, error)
	}
	for name, s := range map[string]reporter{"packets": listen(t, a, nil), "group": g} {
		for range 2 {
			if _, err := s.WriteTo([]byte("x"), stack.Service{Type: 4242, Instance: 9}); !errors.Is(err, stack.ErrUnreachable) {
				t.Errorf("%s: got %v, want %v", name, err, stack.ErrUnreachable)
			}
		}
		if got := must.Get(s.Stats(context.Background())).SendErrors; got != 2 {
			t.Errorf("%s: %d sends failed, want 2", name, got)
		}
		if _, err := s.TryNextReport(); err != syscall.EAGAIN {
			t.Errorf("%s: got %v, want %v", name, err, syscall.EAGAIN)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := s.NextReport(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want %v", name, err, context.Canceled)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := s.NextReport(context.Background())
			ended <- err
		}()
		s.Close()
		select {
		case err := <-ended:
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("%s: got %v, want %v", name, err, net.ErrClosed)
			}
		case <-within(t).Done():
			t.Fatalf("%s: the wait did not end", name)
		}
		if r, err := s.TryNextReport(); !errors.Is(err, net.ErrClosed) || !reflect.ValueOf(r).IsZero() {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
	}
}
