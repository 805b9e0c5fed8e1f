// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

var team = stack.Service{Type: 4242}

// members makes one member on each of the nodes, with the instances 1, 2 …, who all know
// each other.
func members(t testing.TB, c stack.GroupConfig, nodes ...*stack.Node) (all []*stack.Group) {
	t.Helper()
	for i, n := range nodes {
		g, err := c.Join(within(t), n, stack.Service{Type: team.Type, Instance: uint32(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
	others := len(nodes) - 1
	if c.Loopback {
		others++
	}
	for _, g := range all {
		if err := g.WaitMembers(within(t), others); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func groupRead(t testing.TB, g *stack.Group) (string, stack.Message) {
	t.Helper()
	g.SetReadDeadline(time.Now().Add(testTimeout))
	b := make([]byte, 100)
	n, m, err := g.ReadMsg(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n]), m
}

// Every kind of address reaches those it is for, here and there.
func TestGroupWriteTo(t *testing.T) {
	t.Parallel()
	twoAndOne(t, func(t *testing.T, a, b *stack.Node) {
		g := members(t, stack.GroupConfig{}, a, b, b)
		x := g[0]
		for _, w := range []struct {
			addr net.Addr
			to   []int
		}{
			{nil, []int{1, 2}},
			{stack.Service{Type: 4242, Instance: 3}, []int{2}},
			{stack.Service{Instance: 2}, []int{1}},
			{stack.Range{Type: 4242, Lower: 2, Upper: 9}, []int{1}},
			{g[2].LocalAddr(), []int{2}},
		} {
			text := fmt.Sprint("to ", w.addr)
			var err error
			if w.addr == nil {
				_, err = x.Write([]byte(text))
			} else {
				_, err = x.WriteTo([]byte(text), w.addr)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range w.to {
				got, m := groupRead(t, g[i])
				if got != text || m.From != x.LocalAddr() || m.Member != x.Service() || m.Private == (w.addr == nil) || m.Kind != stack.GroupData {
					t.Errorf("%v: read %q, %+v", w.addr, got, m)
				}
			}
		}
		for _, w := range []struct {
			addr net.Addr
			want error
		}{
			{stack.Service{Type: 4242, Instance: 4}, stack.ErrUnreachable},
			{stack.Range{Type: 4242, Lower: 4, Upper: 4}, stack.ErrUnreachable},
			{stack.SocketAddr{Node: 0x1001001, Port: 1}, stack.ErrUnreachable},
			{stack.Service{Type: 4243, Instance: 2}, nil},
			{nil, nil},
			{&net.TCPAddr{}, nil},
		} {
			n, err := x.WriteTo([]byte("x"), w.addr)
			var e *net.AddrError
			if n != 0 || w.want != nil && !errors.Is(err, w.want) || w.want == nil && !errors.As(err, &e) {
				t.Errorf("to %v: got %d, %v", w.addr, n, err)
			}
		}
		if _, err := x.Write(make([]byte, 66001)); !errors.Is(err, stack.ErrTooLong) {
			t.Errorf("got %v", err)
		}
		// The address that a message came from answers it.
		if _, err := x.Write([]byte("who")); err != nil {
			t.Fatal(err)
		}
		_, from, err := g[1].ReadFrom(make([]byte, 10))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g[1].WriteTo([]byte("me"), from); err != nil {
			t.Fatal(err)
		}
		if got, _ := groupRead(t, x); got != "me" {
			t.Errorf("answered %q", got)
		}
	})
}

// Those who want it read who comes and goes; ReadFrom passes over that.
func TestGroupEvents(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	g := members(t, stack.GroupConfig{Events: true, Loopback: true}, a, b)
	seen := map[string]bool{}
	for range 2 {
		_, m := groupRead(t, g[0])
		seen[fmt.Sprint(m.Kind, m.Member.Instance)] = true
	}
	if !seen[fmt.Sprint(stack.MemberJoined, 1)] || !seen[fmt.Sprint(stack.MemberJoined, 2)] {
		t.Errorf("read %v", seen)
	}
	if _, err := g[1].Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if got, _ := groupRead(t, g[0]); got != "hello" {
		t.Errorf("read %q", got)
	}
	buf := make([]byte, 10)
	if n, from, err := g[1].ReadFrom(buf); err != nil || string(buf[:n]) != "hello" || from != g[1].LocalAddr() {
		t.Errorf("behind events: read %q from %v, %v", buf[:n], from, err)
	}
	if all := must.Get(g[0].Members(context.Background())); len(all) != 2 || !all[0].Joined || !all[1].Joined {
		t.Errorf("members: %+v", all)
	}
	if err := g[1].Close(); err != nil {
		t.Fatal(err)
	}
	if _, m := groupRead(t, g[0]); m.Kind != stack.MemberLeft || m.From != g[1].LocalAddr() {
		t.Errorf("read %+v", m)
	}
}

// fill writes until it blocks, and returns how much was taken, and the error.
func fill(g *stack.Group) (n int, err error) {
	g.SetWriteDeadline(time.Now().Add(time.Hour))
	for ; n < 10000; n++ {
		if must.Get(g.Members(context.Background()))[0].Window == 0 {
			break
		}
		if _, err := g.Write([]byte("x")); err != nil {
			return n, err
		}
	}
	return n, nil
}

// A blocked write ends at its deadline, with its context, and with the socket; and says
// which member it waited for.
//
// Proves: socket.deadlines, group.flow
func TestGroupBlockedWrite(t *testing.T) {
	t.Parallel()
	twoAndOne(t, func(t *testing.T, a, b *stack.Node) {
		g := members(t, stack.GroupConfig{}, a, b)
		x, y := g[0], g[1]
		waitFor(t, func() bool { return must.Get(x.Members(context.Background()))[0].Window > 0 })
		if n, err := fill(x); n != 65 || err != nil {
			t.Fatalf("wrote %d, %v; want 65", n, err)
		}
		waits := func() {
			t.Helper()
			waitFor(t, func() bool { return len(must.Get(a.Waits(context.Background()))) == 1 })
		}
		done := make(chan error, 1)
		go func() {
			_, err := x.Write([]byte("x"))
			done <- err
		}()
		waits()
		x.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
		err := <-done
		var e *stack.BlockedError
		if !errors.As(err, &e) || !errors.Is(err, os.ErrDeadlineExceeded) || e.Peer != y.LocalAddr() || e.Group != 4242 || e.Window != 0 || e.Need != 1 || e.Blocked < 20*time.Millisecond {
			t.Errorf("got %+v", err)
		}
		if want := fmt.Sprintf("member %v of group 4242 lets us send 0 KiB, the message takes 1", y.LocalAddr()); !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
		x.SetWriteDeadline(time.Time{})
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			_, err := x.WriteContext(ctx, []byte("x"))
			done <- err
		}()
		waits()
		if w := must.Get(a.Waits(context.Background()))[0]; w.Peer != y.LocalAddr() || w.Socket != x.LocalAddr() {
			t.Errorf("waits: %+v", w)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		// The reader makes room.
		go func() {
			_, err := x.Write([]byte("y"))
			done <- err
		}()
		waits()
		for i := 0; ; i++ {
			got, _ := groupRead(t, y)
			if got == "y" {
				if i != 65 {
					t.Errorf("read %d before", i)
				}
				break
			}
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		// And the socket's end.
		if _, err := fill(x); err != nil {
			t.Fatal(err)
		}
		go func() {
			_, err := x.Write([]byte("z"))
			done <- err
		}()
		waits()
		x.Close()
		if err := <-done; !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
		if err := x.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a second Close: %v", err)
		}
		if _, _, err := x.ReadMsg(nil); !errors.Is(err, net.ErrClosed) {
			t.Errorf("ReadMsg: %v", err)
		}
		if err := x.SetDeadline(time.Now()); !errors.Is(err, net.ErrClosed) {
			t.Errorf("SetDeadline: %v", err)
		}
		if err := x.WaitMembers(within(t), 1); !errors.Is(err, net.ErrClosed) {
			t.Errorf("WaitMembers: %v", err)
		}
	})
}

// waitFor polls, driving nothing: what it waits for is done by others.
func waitFor(t testing.TB, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	ctx := within(t)
	for !cond() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("waited in vain")
		}
	}
}

// Whatever lasts too long ends when it was said to.
func TestGroupReadDeadline(t *testing.T) {
	a, _ := pair(t, stack.Config{})
	g, err := a.Join(within(t), team)
	if err != nil {
		t.Fatal(err)
	}
	g.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, _, err := g.ReadFrom(nil); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := g.WaitMembers(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if _, err := g.Write([]byte("x")); !errors.Is(err, stack.ErrUnreachable) {
		t.Errorf("alone: got %v", err)
	}
	for _, c := range []struct {
		c    stack.GroupConfig
		svc  stack.Service
		want error
	}{
		{stack.GroupConfig{}, stack.Service{Type: 63}, stack.ErrReserved},
		{stack.GroupConfig{Limit: -1}, team, stack.ErrConfig},
		{stack.GroupConfig{Limit: 4097}, team, stack.ErrConfig},
		{stack.GroupConfig{Policy: 3}, team, stack.ErrConfig},
		{stack.GroupConfig{Importance: 4}, team, stack.ErrConfig},
		{stack.GroupConfig{ReceiveLimit: -1}, team, stack.ErrConfig},
	} {
		if _, err := c.c.Join(within(t), a, c.svc); !errors.Is(err, c.want) {
			t.Errorf("%+v: got %v, want %v", c.c, err, c.want)
		}
	}
}

// All write at once, each several at a time, and each reads everything, in each writer's
// order.
func TestGroupAllWrite(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	g := members(t, stack.GroupConfig{}, a, b, a, b)
	const each = 400
	var wg sync.WaitGroup
	for _, x := range g {
		wg.Add(2)
		go func() {
			defer wg.Done()
			for k := range each {
				if _, err := x.Write(fmt.Append(nil, k)); err != nil {
					t.Error(err)
					return
				}
			}
		}()
		go func() {
			defer wg.Done()
			next := map[stack.SocketAddr]int{}
			x.SetReadDeadline(time.Now().Add(testTimeout))
			buf := make([]byte, 10)
			for range each * (len(g) - 1) {
				n, m, err := x.ReadMsg(buf)
				if err != nil {
					t.Errorf("%v, after %v", err, next)
					return
				}
				if string(buf[:n]) != fmt.Sprint(next[m.From]) {
					t.Errorf("read %s of %v, want %d", buf[:n], m.From, next[m.From])
					return
				}
				next[m.From]++
			}
		}()
	}
	wg.Wait()
}

// A member that does not read holds up nobody under Lag and DropOldest.
//
// Proves: group.flow
func TestGroupSlowMember(t *testing.T) {
	t.Parallel()
	for _, policy := range []stack.SlowPolicy{stack.Lag, stack.DropOldest} {
		a, b := pair(t, stack.Config{})
		g := members(t, stack.GroupConfig{Policy: policy, Limit: 20}, a, b, b)
		x, slow, quick := g[0], g[1], g[2]
		x.SetWriteDeadline(time.Now().Add(testTimeout))
		for k := range 1000 {
			if _, err := x.Write(fmt.Append(nil, k)); err != nil {
				t.Fatal(err)
			}
			if got, _ := groupRead(t, quick); got != fmt.Sprint(k) {
				t.Fatalf("the quick one read %q, want %d", got, k)
			}
		}
		_, m := groupRead(t, x)
		want := map[stack.SlowPolicy]stack.GroupKind{stack.Lag: stack.MemberEvicted, stack.DropOldest: stack.MemberDropping}[policy]
		if m.Kind != want || m.From != slow.LocalAddr() {
			t.Errorf("policy %d: the writer read %+v", policy, m)
		}
		k := must.Get(x.Counters(context.Background()))
		if policy == stack.Lag && k.Evicted != 1 || policy == stack.DropOldest && k.Dropped != 1000-65-20 {
			t.Errorf("policy %d: counted %+v", policy, k)
		}
		last, n := "", 65
		if policy == stack.DropOldest {
			n += 20
		}
		for range n {
			last, _ = groupRead(t, slow)
		}
		if policy == stack.Lag && last != "64" || policy == stack.DropOldest && last != "999" {
			t.Errorf("policy %d: the slow one read %q last", policy, last)
		}
	}
}

// A message of any length goes whole.
func TestGroupLongMessages(t *testing.T) {
	t.Parallel()
	twoAndOne(t, func(t *testing.T, a, b *stack.Node) {
		g := members(t, stack.GroupConfig{}, a, b)
		buf := make([]byte, 66000)
		g[1].SetReadDeadline(time.Now().Add(testTimeout))
		for _, n := range []int{1, 1500, 5000, 66000} {
			data := random(n)
			if _, err := g[0].Write(data); err != nil {
				t.Fatal(err)
			}
			k, m, err := g[1].ReadMsg(buf)
			if err != nil || m.Truncated || !bytes.Equal(buf[:k], data) {
				t.Errorf("%d bytes: got %d, %v", n, k, err)
			}
		}
	})
}

// Writes that wait keep their order, none that comes later overtakes them, and they go on
// though another call drives the node.
func TestGroupWritesKeepOrder(t *testing.T) {
	a, _ := pair(t, stack.Config{})
	idle, err := a.Join(within(t), stack.Service{Type: 4300})
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		idle.ReadFrom(nil)
		close(over)
	}()
	g := members(t, stack.GroupConfig{}, a, a)
	x, y := g[0], g[1]
	waitFor(t, func() bool { return must.Get(x.Members(context.Background()))[0].Window > 0 })
	if n, err := fill(x); n != 65 || err != nil {
		t.Fatalf("wrote %d, %v; want 65", n, err)
	}
	x.SetWriteDeadline(time.Now().Add(testTimeout))
	done := make(chan error, 2)
	for i := range 2 {
		go func() {
			_, err := x.Write(fmt.Append(nil, i))
			done <- err
		}()
		waitFor(t, func() bool { return len(must.Get(a.Waits(context.Background()))) == i+1 })
	}
	groupRead(t, y)
	if _, err := x.Write([]byte("2")); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	next := 0
	for next < 3 {
		if got, _ := groupRead(t, y); got == fmt.Sprint(next) {
			next++
		} else if got != "x" {
			t.Fatalf("read %q, want %d", got, next)
		}
	}
	idle.Close()
	<-over
}
