// SPDX-License-Identifier: Apache-2.0

package stack

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

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/poll"
)

// A ward is a node in a bubble, and what its frames pass.
type ward struct {
	*Node
	wire *fault.Injector
}

// cut takes all frames of the node away, to and from it.
func (w ward) cut() {
	w.wire.Set(fault.Config{In: fault.Faults{Loss: 1}, Out: fault.Faults{Loss: 1}})
}

// inWard runs f with nodes 1, 2 and so on, which all have contact, on a clock that
// jumps. At the end all sockets and chunks have to be back.
func inWard(t *testing.T, nodes int, f func(t *testing.T, all []ward)) {
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(hub.Config{})
		var all []ward
		for i := range nodes {
			port, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
			if err != nil {
				t.Fatal(err)
			}
			wire := fault.New(port, fault.Config{})
			n, err := Open(t.Context(), Config{Bearers: []Bearer{wire}, Address: NodeAddr(i + 1), Wait: Sleep, Chunks: 512})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, ward{n, wire})
			defer func() {
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				defer cancel()
				n.Close(ctx)
				if s := must.Get(n.Admin().Stats(context.Background())); s.ChunksFree != s.ChunksTotal {
					t.Errorf("node %d: %d of %d chunks came back", i+1, s.ChunksFree, s.ChunksTotal)
				}
			}()
		}
		for _, n := range all {
			for i := range all {
				if err := n.WaitFor(t.Context(), Service{Type: NodeState, Instance: uint32(i + 1)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		f(t, all)
		// What was lost while the wire was cut comes again a while after it is mended, and
		// may open a socket whose end comes behind it: all is gone within a few probes.
		for i, n := range all {
			var left string
			for range 200 {
				<-time.After(10 * time.Millisecond)
				synctest.Wait()
				if left = n.left(); left == "" {
					break
				}
			}
			if left != "" {
				t.Errorf("node %d has %s", i+1, left)
			}
		}
	})
}

// left says what a node still has of what was opened on it.
func (n *Node) left() string {
	n.inside().loop.Lock()
	defer n.inside().loop.Unlock()
	if len(n.inside().lines) == 0 && len(n.inside().subs) == 0 && n.inside().eng.Ports() == len(n.inside().sockets) {
		return ""
	}
	return fmt.Sprintf("%d connections, %d subscriptions, %d sockets for %d", len(n.inside().lines), len(n.inside().subs), n.inside().eng.Ports(), len(n.inside().sockets))
}

// driven has another call drive the node, until that is closed.
func (w ward) driven(t *testing.T) {
	t.Helper()
	c := openWith(t, w.Node, SocketConfig{}, nil)
	go c.ReadFrom(make([]byte, 1))
	synctest.Wait()
}

func (w ward) subscribe(t *testing.T, c SubscriptionConfig, r Range) *Subscription {
	t.Helper()
	s, err := c.Subscribe(t.Context(), w.Node, r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// told returns the next events as text, each with a sign.
func told(t *testing.T, s *Subscription, k int) string {
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
			whole := Range{Type: typ, Upper: 99}
			near := openWith(t, server.Node, SocketConfig{Scope: NodeScope}, Range{Type: typ, Lower: 1, Upper: 4})
			remote := openWith(t, server.Node, SocketConfig{}, Range{Type: typ, Lower: 2, Upper: 5})
			subs := map[string]SubscriptionConfig{
				"+1-4 +2-5 +2-5 -2-5 -2-5 -1-4": {},
				"+1-4 +2-5 -2-5 -1-4":           {Ranges: true},
				"+1-4 -1-4":                     {Scope: NodeScope},
				"+2-5 +2-5 -2-5 -2-5":           {Scope: ClusterScope},
				"+2-5 -2-5 -2-5 -1-4":           {Changes: true},
			}
			open := map[string]*Subscription{}
			for want, c := range subs {
				c.At = server.Addr()
				open[want] = asker.subscribe(t, c, whole)
			}
			own := server.subscribe(t, SubscriptionConfig{At: server.Addr(), Limit: 9}, whole)
			remote.Bind(Range{Type: typ, Lower: 2, Upper: 5})
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
			if ev, err := own.Next(t.Context()); err != nil || ev.Scope != NodeScope || ev.Key == 0 {
				t.Errorf("at the own node: %+v, %v", ev, err)
			}
			own.Close()
		}
	})
}

// The links that another node's service tells of are that node's.
func TestSubscribeAtSeesItsLinks(t *testing.T) {
	inWard(t, 3, func(t *testing.T, all []ward) {
		s := all[0].subscribe(t, SubscriptionConfig{At: 2}, AllLinks)
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
			c    SubscriptionConfig
			r    Range
			want error
		}{
			{t.Context(), SubscriptionConfig{At: 99}, Range{}, ErrUnreachable},
			{t.Context(), SubscriptionConfig{At: 2, Limit: 1}, Range{}, ErrConfig},
			{t.Context(), SubscriptionConfig{At: 2, Timeout: -1}, Range{}, ErrConfig},
			{t.Context(), SubscriptionConfig{At: 2}, Range{Lower: 2, Upper: 1}, ErrRange},
			{done, SubscriptionConfig{At: 2}, Range{}, context.Canceled},
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
		c := openWith(t, all[1].Node, SocketConfig{}, absent)
		began := time.Now()
		s := all[0].subscribe(t, SubscriptionConfig{At: 2, Timeout: 1234 * time.Millisecond}, absent.Range())
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
		c := openWith(t, all[1].Node, SocketConfig{}, nil)
		churn := func(times int) {
			for range times {
				c.Bind(absent)
				c.Unbind(absent)
				<-time.After(100 * time.Microsecond)
			}
			<-time.After(100 * time.Millisecond)
		}
		s := all[0].subscribe(t, SubscriptionConfig{At: 2}, absent.Range())
		churn(2000)
		all[0].inside().loop.Lock()
		waits := s.b.(*localSubscription).from.pending()
		all[0].inside().loop.Unlock()
		if waits < 100 || waits > 600 {
			t.Errorf("%d events wait", waits)
		}
		told(t, s, 4000)
		churn(2200)
		k := 0
		var err error
		for ; err == nil; k++ {
			var ev Event
			if ev, err = s.Next(t.Context()); err == nil && ev.Withdrawn != (k%2 == 1) {
				t.Fatalf("event %d: %v", k, ev)
			}
		}
		var e *TopologyError
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
		openWith(t, all[1].Node, SocketConfig{}, absent)
		s := all[0].subscribe(t, SubscriptionConfig{At: 2}, absent.Range())
		unread := all[0].subscribe(t, SubscriptionConfig{At: 2}, absent.Range())
		told(t, s, 1)
		synctest.Wait()
		all[1].cut()
		began := time.Now()
		_, err := s.Next(t.Context())
		var e *TopologyError
		if took := time.Since(began); !errors.As(err, &e) || !errors.Is(err, ErrUnreachable) || took < time.Second || took > 3*time.Second {
			t.Errorf("%v after %v", err, took)
		}
		told(t, unread, 1)
		if _, err := unread.Next(t.Context()); !errors.Is(err, ErrUnreachable) {
			t.Errorf("got %v", err)
		}
	})
}

// A node that closes ends its own subscriptions and those of others at it; calls that
// wait hear of it.
func TestSubscribeAtNodeCloses(t *testing.T) {
	inWard(t, 3, func(t *testing.T, all []ward) {
		ended := make(chan error)
		for _, at := range []NodeAddr{2, 3, 3} {
			s := all[0].subscribe(t, SubscriptionConfig{At: at}, absent.Range())
			go func() {
				_, err := s.Next(context.Background())
				ended <- err
			}()
		}
		synctest.Wait()
		began := time.Now()
		all[1].Close(t.Context())
		if err := <-ended; !errors.Is(err, ErrUnreachable) && !errors.Is(err, io.EOF) {
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
		if _, err := (SubscriptionConfig{At: 3}).Subscribe(t.Context(), all[0].Node, Range{}); !errors.Is(err, net.ErrClosed) {
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
		_, err := SubscriptionConfig{At: 2}.Subscribe(ctx, all[0].Node, Range{})
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != 100*time.Millisecond {
			t.Errorf("%v after %v", err, took)
		}
		ended := make(chan error)
		subscribe := func() {
			_, err := SubscriptionConfig{At: 2}.Subscribe(t.Context(), all[0].Node, Range{})
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
			_, err := SubscriptionConfig{At: 2}.Subscribe(t.Context(), all[0].Node, Range{})
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
		sink := openWith(t, all[1].Node, SocketConfig{}, absent)
		c := openWith(t, all[0].Node, SocketConfig{}, nil)
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
			s, err := SubscriptionConfig{At: 2}.Subscribe(t.Context(), all[0].Node, absent.Range())
			if err == nil {
				told(t, s, 1)
				s.Close()
			}
			ended <- err
		}()
		synctest.Wait()
		all[0].inside().loop.Lock()
		lines, ports := len(all[0].inside().lines), all[0].inside().eng.Ports()
		all[0].inside().loop.Unlock()
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
		c := openWith(t, all[1].Node, SocketConfig{}, absent)
		all[0].driven(t)
		all[1].driven(t)
		began := time.Now()
		s := all[0].subscribe(t, SubscriptionConfig{At: 2}, absent.Range())
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
			n.inside().loop.Lock() // so that nobody looks before all is there
			defer n.inside().loop.Unlock()
			c.Close(now)
			p.n.inside().pollOnce(now, false)
			for range 8 {
				n.inside().pollOnce(n.inside().loop.Now(), true)
			}
		}, []byte("one"))
		n.inside().loop.Lock()
		defer n.inside().loop.Unlock()
		var b [8]byte
		size, ok := l.read(b[:])
		if err := l.ended(); size != 3 || !ok || !errors.Is(err, io.EOF) {
			t.Errorf("%d bytes, %v, then %v", size, ok, err)
		}
		l.close()
		p.close()
	})
}

// Several readers share what comes at once, and all hear of the end.
func TestReadersShareASubscriptionElsewhere(t *testing.T) {
	inWard(t, 2, func(t *testing.T, all []ward) {
		const readers = 5
		s := all[0].subscribe(t, SubscriptionConfig{At: 2}, Range{Type: 100, Upper: 99})
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
		c := openWith(t, all[1].Node, SocketConfig{}, nil)
		for i := range uint32(readers) {
			c.Bind(Service{Type: 100, Instance: i})
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

// An impostor is a socket of a node that answers as a topology service does not.
type impostor struct {
	n  *Node
	l  *engine.Listener
	cs []*engine.Conn
}

// newImpostor makes a socket on n to which to subscribe, by dial.
func newImpostor(t *testing.T, n *Node) *impostor {
	t.Helper()
	n.inside().loop.Lock()
	defer n.inside().loop.Unlock()
	return &impostor{n: n, l: n.inside().eng.Listen(engine.ListenConfig{})}
}

// dial connects a line of from to the impostor with a request that has a record, and
// lets it answer: each message in a write, then with end.
func (p *impostor) dial(t *testing.T, from *Node, record []byte, wait *poll.List, end func(c *engine.Conn, now time.Duration), say ...[]byte) *topologyLine {
	t.Helper()
	l := &topologyLine{n: from.inside(), at: p.n.Addr(), wait: wait}
	made := make(chan error)
	go func() {
		from.inside().loop.Lock()
		defer from.inside().loop.Unlock()
		made <- l.dial(t.Context(), engine.DefaultConnTimeout, func(now time.Duration, c engine.ConnConfig) (*engine.Conn, error) {
			return from.inside().eng.Dial(now, c, p.l.Addr(), record)
		})
	}()
	<-time.After(10 * time.Millisecond)
	p.n.inside().loop.Lock()
	now := p.n.inside().loop.Now()
	c, ok := p.l.Accept(now)
	if !ok {
		p.n.inside().loop.Unlock()
		t.Fatal("nobody has connected")
	}
	c.Owner = &topologyLine{n: p.n.inside(), c: c, wait: new(poll.List)} // who is told of it
	p.cs = append(p.cs, c)
	for _, b := range say {
		if err := c.Write(now, b); err != nil {
			t.Error(err)
		}
	}
	if end != nil {
		end(c, now)
	}
	p.n.inside().pollOnce(now, false)
	p.n.inside().loop.Unlock()
	if err := <-made; err != nil {
		t.Fatal(err)
	}
	return l
}

func (p *impostor) close() {
	p.n.inside().loop.Lock()
	defer p.n.inside().loop.Unlock()
	now := p.n.inside().loop.Now()
	for _, c := range p.cs {
		c.Close(now)
	}
	p.l.Close(now)
	p.n.inside().pollOnce(now, false)
}

// What a topology service may not say ends a subscription with an error that tells
// which it is, behind the events before, and so does each end of the connection.
func TestSubscribeAtImpostor(t *testing.T) {
	r, record := naming.AskRemote(&naming.Subscription{Range: Range{Type: 100, Upper: 99}, Filter: frame.FilterPorts}, 0, 0)
	event := func(typ frame.EventType, of []byte, lower, upper uint32) []byte {
		s, err := frame.ParseSubscription(of, frame.LittleEndian)
		if err != nil {
			t.Fatal(err)
		}
		f := frame.TopologyEventFields{Type: typ, Lower: lower, Upper: upper, Port: 7, Node: 2, Subscription: s.Fields()}
		return f.Append(nil)
	}
	good := event(frame.Published, record, 5, 5)
	_, other := naming.AskRemote(&naming.Subscription{Range: Range{Type: 100, Upper: 99}, Filter: frame.FilterPorts}, 0, 1)
	shutdown := func(c *engine.Conn, now time.Duration) { c.Close(now) }
	for _, c := range []struct {
		name string
		say  [][]byte
		end  func(*engine.Conn, time.Duration)
		want error
	}{
		{"short", [][]byte{good, good[:47]}, nil, ErrTopology},
		{"long", [][]byte{good, append(slices.Clone(good), 0)}, nil, ErrTopology},
		{"very long", [][]byte{good, make([]byte, frame.MaxPayload)}, nil, ErrTopology},
		{"another's", [][]byte{good, event(frame.Published, other, 5, 5)}, nil, ErrTopology},
		{"out of range", [][]byte{good, event(frame.Published, record, 100, 100)}, nil, ErrTopology},
		{"inverted", [][]byte{good, event(frame.Withdrawn, record, 5, 4)}, nil, ErrTopology},
		{"no type", [][]byte{good, event(4, record, 5, 5)}, nil, ErrTopology},
		{"over", [][]byte{good, event(frame.TimedOut, record, 5, 5), good}, nil, os.ErrDeadlineExceeded},
		{"closes", [][]byte{good}, shutdown, io.EOF},
		{"aborts", [][]byte{good}, func(c *engine.Conn, now time.Duration) { c.Abort(now) }, syscall.ECONNRESET},
	} {
		inWard(t, 2, func(t *testing.T, all []ward) {
			n := all[0].Node
			p := newImpostor(t, all[1].Node)
			local := &localSubscription{n: n.inside(), r: Range{Type: 100}}
			s := &Subscription{local, local.r}
			d := &distant{s: local, asked: r}
			d.line = p.dial(t, n, record, &local.wait, c.end, c.say...)
			local.from = d
			if got := told(t, s, 1); got != "+5-5@2" {
				t.Errorf("%s: got %s", c.name, got)
			}
			for range 2 {
				if _, err := s.Next(t.Context()); !errors.Is(err, c.want) {
					t.Errorf("%s: got %v, want %v", c.name, err, c.want)
				}
			}
			s.Close()
			<-time.After(10 * time.Millisecond)
			p.close()
		})
	}
}

// Where nobody serves, the error says so.
func TestSubscribeAtNobody(t *testing.T) {
	inWard(t, 2, func(t *testing.T, all []ward) {
		n := all[0].Node
		n.inside().loop.Lock()
		defer n.inside().loop.Unlock()
		l := &topologyLine{n: n.inside(), at: 2, wait: new(poll.List)}
		err := l.dial(t.Context(), engine.DefaultConnTimeout, func(now time.Duration, c engine.ConnConfig) (*engine.Conn, error) {
			return n.inside().eng.Dial(now, c, SocketAddr{Node: 2, Port: 1}, []byte("x"))
		})
		var e *TopologyError
		if !errors.As(err, &e) || e.Node != 2 || !errors.Is(err, syscall.ECONNREFUSED) || e.Error() != "topology service of 2: refused: no port" {
			t.Errorf("got %v", err)
		}
	})
}
