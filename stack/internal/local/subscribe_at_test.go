// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/local"
	"github.com/utipc/utipc/stack/internal/poll"
)

func (w ward) subscribe(t *testing.T, c stack.SubscriptionConfig, r stack.Range) *stack.Subscription {
	t.Helper()
	s, err := c.Subscribe(t.Context(), w.Node, r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// told returns the next events as text, each with a sign.
func told(t *testing.T, s interface {
	Next(ctx context.Context) (stack.Event, error)
}, k int,
) string {
	t.Helper()
	var all []string
	for range k {
		ev, err := s.Next(t.Context())
		if err != nil {
			t.Fatalf("after %q: %v", all, err)
		}
		sign := "+"
		if ev.Withdrawn {
			sign = "-"
		}
		all = append(all, fmt.Sprintf("%s%d-%d@%d", sign, ev.Range.Lower, ev.Range.Upper, ev.Socket.Node))
	}
	return strings.Join(all, " ")
}

// Another node's topology service tells what a subscription there would be told, those
// of its own scope too, but for scope and key. To the own node it is the own table.
//
// Proves: names.subscriptions
func TestSubscribeAt(t *testing.T) {
	inWard(t, 2, func(t *testing.T, all []ward) {
		for i, asker := range all {
			server := all[1-i]
			typ := uint32(100 + i)
			whole := stack.Range{Type: typ, Upper: 99}
			near := openWith(t, server.Node, stack.SocketConfig{Scope: stack.NodeScope}, stack.Range{Type: typ, Lower: 1, Upper: 4})
			remote := openWith(t, server.Node, stack.SocketConfig{}, stack.Range{Type: typ, Lower: 2, Upper: 5})
			subs := map[string]stack.SubscriptionConfig{
				"+1-4 +2-5 +2-5 -2-5 -2-5 -1-4": {},
				"+1-4 +2-5 -2-5 -1-4":           {Ranges: true},
				"+1-4 -1-4":                     {Scope: stack.NodeScope},
				"+2-5 +2-5 -2-5 -2-5":           {Scope: stack.ClusterScope},
				"+2-5 -2-5 -2-5 -1-4":           {Changes: true},
			}
			open := map[string]*stack.Subscription{}
			for want, c := range subs {
				c.At = server.Addr()
				open[want] = asker.subscribe(t, c, whole)
			}
			own := server.subscribe(t, stack.SubscriptionConfig{At: server.Addr(), Limit: 9}, whole)
			remote.Bind(stack.Range{Type: typ, Lower: 2, Upper: 5})
			remote.Close()
			near.Close()
			for want, s := range open {
				node := fmt.Sprintf("@%d", server.Addr())
				if got := strings.ReplaceAll(told(t, s, len(want)/5+1), node, ""); got != want {
					t.Errorf("%+v: got %q, want %q", subs[want], got, want)
				}
				s.Close()
				if _, err := s.Next(t.Context()); !errors.Is(err, net.ErrClosed) {
					t.Errorf("closed: %v", err)
				}
			}
			if ev, err := own.Next(t.Context()); err != nil || ev.Scope != stack.NodeScope || ev.Key == 0 {
				t.Errorf("at the own node: %+v, %v", ev, err)
			}
			own.Close()
		}
	})
}

// The links that another node's service tells of are that node's.
func TestSubscribeAtSeesItsLinks(t *testing.T) {
	inWard(t, 3, func(t *testing.T, all []ward) {
		s := all[0].subscribe(t, stack.SubscriptionConfig{At: 2}, stack.AllLinks)
		defer s.Close()
		if got := strings.Fields(told(t, s, 2)); !slices.Contains(got, "+1-1@2") || !slices.Contains(got, "+3-3@2") {
			t.Errorf("got %q", got)
		}
	})
}

// Proves: names.subscriptions
func TestSubscribeAtErrors(t *testing.T) {
	inWard(t, 2, func(t *testing.T, all []ward) {
		done, cancel := context.WithCancel(t.Context())
		cancel()
		for _, c := range []struct {
			ctx  context.Context
			c    stack.SubscriptionConfig
			r    stack.Range
			want error
		}{
			{t.Context(), stack.SubscriptionConfig{At: 99}, stack.Range{}, stack.ErrUnreachable},
			{t.Context(), stack.SubscriptionConfig{At: 2, Limit: 1}, stack.Range{}, stack.ErrConfig},
			{t.Context(), stack.SubscriptionConfig{At: 2, Timeout: -1}, stack.Range{}, stack.ErrConfig},
			{t.Context(), stack.SubscriptionConfig{At: 2}, stack.Range{Lower: 2, Upper: 1}, stack.ErrRange},
			{done, stack.SubscriptionConfig{At: 2}, stack.Range{}, context.Canceled},
		} {
			_, err := c.c.Subscribe(c.ctx, all[0].Node, c.r)
			var op *net.OpError
			if !errors.Is(err, c.want) || !errors.As(err, &op) {
				t.Errorf("%+v %v: got %v, want %v", c.c, c.r, err, c.want)
			}
		}
	})
}

// The time of a subscription elsewhere is over when that node says so, behind what was
// before.
func TestSubscribeAtTimeout(t *testing.T) {
	inWard(t, 2, func(t *testing.T, all []ward) {
		c := openWith(t, all[1].Node, stack.SocketConfig{}, absent)
		began := time.Now()
		s := all[0].subscribe(t, stack.SubscriptionConfig{At: 2, Timeout: 1234 * time.Millisecond}, absent.Range())
		c.Bind(absent)
		told(t, s, 2)
		for range 2 {
			_, err := s.Next(t.Context())
			if took := time.Since(began); !errors.Is(err, os.ErrDeadlineExceeded) || took < 1234*time.Millisecond || took > 1240*time.Millisecond {
				t.Errorf("got %v after %v", err, took)
			}
		}
	})
}

// A subscriber that does not read holds the server back, and reads all that was told;
// after too many events it is cut off, and reads those that were on their way.
//
// Proves: names.subscriptions
func TestSlowSubscriberElsewhere(t *testing.T) {
	inWard(t, 2, func(t *testing.T, all []ward) {
		c := openWith(t, all[1].Node, stack.SocketConfig{}, nil)
		churn := func(times int) {
			for range times {
				c.Bind(absent)
				c.Unbind(absent)
				<-time.After(100 * time.Microsecond)
			}
			<-time.After(100 * time.Millisecond)
		}
		s := all[0].subscribe(t, stack.SubscriptionConfig{At: 2}, absent.Range())
		churn(2000)
		inside(all[0].Node).Loop().Lock()
		waits := hosting.Backend(s).(*local.Subscription).Waiting()
		inside(all[0].Node).Loop().Unlock()
		if waits < 100 || waits > 600 {
			t.Errorf("%d events wait", waits)
		}
		told(t, s, 4000)
		churn(2200)
		k := 0
		var err error
		for ; err == nil; k++ {
			var ev stack.Event
			if ev, err = s.Next(t.Context()); err == nil && ev.Withdrawn != (k%2 == 1) {
				t.Fatalf("event %d: %v", k, ev)
			}
		}
		var e *stack.TopologyError
		if !errors.As(err, &e) || e.Node != 2 || !errors.Is(err, io.EOF) || k < 100 || k > 4400 {
			t.Errorf("%v after %d events", err, k)
		}
		if got := must.Get(all[1].Admin().Stats(context.Background())).SubscribersCut; got != 1 {
			t.Errorf("%d counted", got)
		}
	})
}

// What was told before contact is lost is read, then that it is lost.
func TestSubscribeAtLosesContact(t *testing.T) {
	inWard(t, 2, func(t *testing.T, all []ward) {
		openWith(t, all[1].Node, stack.SocketConfig{}, absent)
		s := all[0].subscribe(t, stack.SubscriptionConfig{At: 2}, absent.Range())
		unread := all[0].subscribe(t, stack.SubscriptionConfig{At: 2}, absent.Range())
		told(t, s, 1)
		synctest.Wait()
		all[1].cut()
		began := time.Now()
		_, err := s.Next(t.Context())
		var e *stack.TopologyError
		if took := time.Since(began); !errors.As(err, &e) || !errors.Is(err, stack.ErrUnreachable) || took < time.Second || took > 3*time.Second {
			t.Errorf("%v after %v", err, took)
		}
		told(t, unread, 1)
		if _, err := unread.Next(t.Context()); !errors.Is(err, stack.ErrUnreachable) {
			t.Errorf("got %v", err)
		}
	})
}

// A node that closes ends its own subscriptions and those of others at it; calls that
// wait hear of it.
func TestSubscribeAtNodeCloses(t *testing.T) {
	inWard(t, 3, func(t *testing.T, all []ward) {
		ended := make(chan error)
		for _, at := range []stack.NodeAddr{2, 3, 3} {
			s := all[0].subscribe(t, stack.SubscriptionConfig{At: at}, absent.Range())
			go func() {
				_, err := s.Next(context.Background())
				ended <- err
			}()
		}
		synctest.Wait()
		began := time.Now()
		all[1].Close(t.Context())
		if err := <-ended; !errors.Is(err, stack.ErrUnreachable) && !errors.Is(err, io.EOF) {
			t.Errorf("the other node closed: %v", err)
		}
		all[0].Close(t.Context())
		for range 2 {
			if err := <-ended; !errors.Is(err, net.ErrClosed) {
				t.Errorf("the own node closed: %v", err)
			}
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
		if _, err := (stack.SubscriptionConfig{At: 3}).Subscribe(t.Context(), all[0].Node, stack.Range{}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after that: %v", err)
		}
	})
}

// Who waits for the answer of a node that is gone stops when it may wait no longer:
// its context, the time of a request, the end of its node.
func TestSubscribeAtSilentNode(t *testing.T) {
	inWard(t, 2, func(t *testing.T, all []ward) {
		all[1].cut()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := stack.SubscriptionConfig{At: 2}.Subscribe(ctx, all[0].Node, stack.Range{})
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != 100*time.Millisecond {
			t.Errorf("%v after %v", err, took)
		}
		ended := make(chan error)
		subscribe := func() {
			_, err := stack.SubscriptionConfig{At: 2}.Subscribe(t.Context(), all[0].Node, stack.Range{})
			ended <- err
		}
		began = time.Now()
		go subscribe()
		err = <-ended
		e := net.Error(nil)
		if took := time.Since(began); !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &e) || !e.Timeout() || took != 8*time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
	inWard(t, 2, func(t *testing.T, all []ward) {
		all[1].cut()
		all[0].driven(t)
		ended := make(chan error)
		go func() {
			_, err := stack.SubscriptionConfig{At: 2}.Subscribe(t.Context(), all[0].Node, stack.Range{})
			ended <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		all[0].Close(ctx)
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	})
}

// A subscription waits its turn when the link is full.
func TestSubscribeAtWaitsForRoom(t *testing.T) {
	inWard(t, 2, func(t *testing.T, all []ward) {
		sink := openWith(t, all[1].Node, stack.SocketConfig{}, absent)
		c := openWith(t, all[0].Node, stack.SocketConfig{}, nil)
		all[0].wire.Set(fault.Config{Out: fault.Faults{Loss: 1}})
		data := make([]byte, 1400)
		all[0].driven(t)
		for {
			c.SetWriteDeadline(time.Now().Add(time.Millisecond))
			if _, err := c.WriteTo(data, sink.LocalAddr()); err != nil {
				break
			}
		}
		ended := make(chan error)
		go func() {
			s, err := stack.SubscriptionConfig{At: 2}.Subscribe(t.Context(), all[0].Node, absent.Range())
			if err == nil {
				told(t, s, 1)
				s.Close()
			}
			ended <- err
		}()
		synctest.Wait()
		inside(all[0].Node).Loop().Lock()
		lines, _, _ := inside(all[0].Node).Opened()
		ports := inside(all[0].Node).Engine().Ports()
		inside(all[0].Node).Loop().Unlock()
		if lines != 1 || ports != 2 {
			t.Errorf("%d connections wait, with %d sockets", lines, ports)
		}
		<-time.After(100 * time.Millisecond)
		all[0].wire.Set(fault.Config{})
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Beside a call that drives, and sleeps, nothing takes longer.
func TestSubscribeAtBesideADriver(t *testing.T) {
	inWard(t, 2, func(t *testing.T, all []ward) {
		c := openWith(t, all[1].Node, stack.SocketConfig{}, absent)
		all[0].driven(t)
		all[1].driven(t)
		began := time.Now()
		s := all[0].subscribe(t, stack.SubscriptionConfig{At: 2}, absent.Range())
		if took := time.Since(began); took > 2*time.Millisecond {
			t.Errorf("it took %v to subscribe", took)
		}
		told(t, s, 1)
		for range 300 { // more than a window
			c.Bind(absent)
			c.Unbind(absent)
			told(t, s, 2)
		}
		s.Close()
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// What a service has told before it closes is read, though the connection is over when
// the request's answer is looked at.
func TestSubscribeAtEndsAtOnce(t *testing.T) {
	inWard(t, 2, func(t *testing.T, all []ward) {
		n, p := all[0].Node, newImpostor(t, all[1].Node)
		var wait poll.List
		l := p.dial(t, n, []byte("x"), &wait, func(c *engine.Conn, now time.Duration) {
			inside(n).Loop().Lock() // so that nobody looks before all is there
			defer inside(n).Loop().Unlock()
			c.Close(now)
			inside(p.n).PollOnce(now, false)
			for range 8 {
				inside(n).PollOnce(inside(n).Loop().Now(), true)
			}
		}, []byte("one"))
		inside(n).Loop().Lock()
		defer inside(n).Loop().Unlock()
		var b [8]byte
		size, ok := l.Read(b[:])
		if err := l.Ended(); size != 3 || !ok || !errors.Is(err, io.EOF) {
			t.Errorf("%d bytes, %v, then %v", size, ok, err)
		}
		l.Close()
		p.close()
	})
}

// Several readers share what comes at once, and all hear of the end.
func TestReadersShareASubscriptionElsewhere(t *testing.T) {
	inWard(t, 2, func(t *testing.T, all []ward) {
		const readers = 5
		s := all[0].subscribe(t, stack.SubscriptionConfig{At: 2}, stack.Range{Type: 100, Upper: 99})
		got, goOn, ended := make(chan uint32, readers), make(chan bool), make(chan error, readers)
		for range readers {
			go func() {
				ev, err := s.Next(t.Context())
				if err != nil {
					t.Error(err)
				}
				got <- ev.Range.Lower
				<-goOn
				_, err = s.Next(t.Context())
				ended <- err
			}()
		}
		synctest.Wait()
		c := openWith(t, all[1].Node, stack.SocketConfig{}, nil)
		for i := range uint32(readers) {
			c.Bind(stack.Service{Type: 100, Instance: i})
		}
		var lower []uint32
		for range readers {
			lower = append(lower, <-got)
		}
		if slices.Sort(lower); !slices.Equal(lower, []uint32{0, 1, 2, 3, 4}) {
			t.Errorf("got %v", lower)
		}
		close(goOn)
		synctest.Wait()
		s.Close()
		for range readers {
			if err := <-ended; !errors.Is(err, net.ErrClosed) {
				t.Error(err)
			}
		}
	})
}

// Where nobody serves, the error says so.
func TestSubscribeAtNobody(t *testing.T) {
	inWard(t, 2, func(t *testing.T, all []ward) {
		n := all[0].Node
		inside(n).Loop().Lock()
		defer inside(n).Loop().Unlock()
		l := local.NewLine(inside(n), 2, nil, new(poll.List))
		err := l.Dial(t.Context(), engine.DefaultConnTimeout, func(now time.Duration, c engine.ConnConfig) (*engine.Conn, error) {
			return inside(n).Engine().Dial(now, c, stack.SocketAddr{Node: 2, Port: 1}, []byte("x"))
		})
		var e *stack.TopologyError
		if !errors.As(err, &e) || e.Node != 2 || !errors.Is(err, syscall.ECONNREFUSED) || e.Error() != "topology service of 2: refused: no port" {
			t.Errorf("got %v", err)
		}
	})
}
