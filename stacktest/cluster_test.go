// SPDX-License-Identifier: Apache-2.0

package stacktest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/tap"
	"github.com/utipc/utipc/stacktest"
)

var service = stack.Service{Type: 18888, Instance: 17}

// serve answers every message to the service with itself, until the node ends.
func serve(t testing.TB, n *stack.Node) {
	t.Helper()
	pc, err := n.ListenPacket(t.Context(), "tipcrdm", service)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pc.Close() })
	go func() {
		b := make([]byte, 66000)
		for {
			n, from, err := pc.ReadFrom(b)
			if err != nil {
				return
			}
			pc.WriteTo(b[:n], from)
		}
	}()
}

// ask sends a message to the service and returns how long its answer took.
func ask(t testing.TB, n *stack.Node, text string) time.Duration {
	t.Helper()
	if err := n.WaitFor(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	b := make([]byte, len(text))
	if k, _, err := n.Call(t.Context(), service, []byte(text), b); err != nil || string(b[:k]) != text {
		t.Fatalf("got %.20q of %d bytes, %v, want %.20q of %d", b[:k], k, err, text, len(text))
	}
	return time.Since(began)
}

// watch returns a function that waits for the next event of a kind.
func watch(t testing.TB, n *stack.Node) func(admin.EventKind) admin.NodeEvent {
	t.Helper()
	w, err := n.Admin().Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return func(kind admin.EventKind) admin.NodeEvent {
		t.Helper()
		for {
			ev, err := w.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if ev.Kind == kind {
				return ev
			}
		}
	}
}

// Nodes of a cluster have met when NewCluster returns: a message from each to each needs no wait.
//
// Mutation it catches: NewCluster does not call Meet.
//
// Proves: stacktest.cluster
func TestNewCluster(t *testing.T) {
	test := func(t *testing.T) {
		c := stacktest.NewCluster(t, 3)
		for i, n := range c.Nodes() {
			if n != c.Node(i) || n.Addr() != stacktest.FirstAddr+stack.NodeAddr(i) {
				t.Errorf("node %d: got %v", i, n.Addr())
			}
			peers, err := n.Admin().Peers(t.Context())
			if err != nil || len(peers) != 2 || !peers[0].Up || !peers[1].Up {
				t.Errorf("node %d: got peers %+v, %v, want 2 that are up", i, peers, err)
			}
		}
		serve(t, c.Node(0))
		ask(t, c.Node(1), "hello")
		ask(t, c.Node(2), "hello")
	}
	t.Run("system's clock", test)
	t.Run("bubble", func(t *testing.T) { synctest.Test(t, test) })
}

// A pipe carries bytes both ways, and its end.
//
// Mutation it catches: Pipe returns one end twice.
//
// Proves: stacktest.cluster
func TestPipe(t *testing.T) {
	test := func(t *testing.T) {
		a, b := stacktest.Pipe(t)
		var _, _ net.Conn = a, b
		fmt.Fprint(a, "there")
		fmt.Fprint(b, "back")
		buf := make([]byte, 5)
		if _, err := io.ReadFull(b, buf); err != nil || string(buf) != "there" {
			t.Errorf("got %q, %v", buf, err)
		}
		a.Close()
		if _, err := b.Read(buf); err != io.EOF && !errors.Is(err, net.ErrClosed) {
			t.Errorf("behind the end: got %v, want EOF", err)
		}
	}
	t.Run("system's clock", test)
	t.Run("bubble", func(t *testing.T) { synctest.Test(t, test) })
}

// A cut ends contact after the tolerance, and contact comes back when it is healed. A cut of one of
// two bearers does not end it. Other nodes notice nothing.
//
// Mutations it catches: Around is one way; Heal leaves the cut; On is ignored.
//
// Proves: stacktest.faults
func TestCutAndHeal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := stacktest.Config{Bearers: 2}.NewCluster(t, 3)
		serve(t, c.Node(0))
		ask(t, c.Node(1), "hello")
		zero, one, two := watch(t, c.Node(0)), watch(t, c.Node(1)), watch(t, c.Node(2))

		c.Between(0, 1).On(1).Cut()
		if ev := one(admin.LinkDown); !strings.Contains(ev.Link, "eth1") {
			t.Errorf("got %v, want the link on eth1", ev)
		}
		ask(t, c.Node(1), "by the other")

		began := time.Now()
		c.Bearer(0).Cut() // 0 and 1 are parted, 2 has eth1
		for _, next := range []func(admin.EventKind) admin.NodeEvent{zero, one} {
			if ev, gone := next(admin.PeerLost), time.Since(began); ev.Node == c.Node(2).Addr() || gone < 1500*time.Millisecond || gone > 3*time.Second {
				t.Errorf("got %v after %v, want the other within 1.5 s to 3 s", ev, gone)
			}
		}
		c.Meet() // those that can
		ask(t, c.Node(2), "by eth1")
		c.All().Heal()
		if ev := one(admin.PeerUp); ev.Node != c.Node(0).Addr() {
			t.Errorf("got %v, want node 0", ev)
		}
		ask(t, c.Node(1), "healed")

		c.Around(2).Cut()
		if ev := two(admin.PeerLost); ev.Reason == "ended by peer" {
			t.Errorf("got %v", ev)
		}
		ask(t, c.Node(1), "without 2")
	})
}

// What is sent on a path takes as long as it was told to, to the last nanosecond in a bubble, and
// in one direction alone where that is meant.
//
// Mutations it catches: frames of a path overtake one another when its delay falls; From is both
// ways; Between is one way; a frame that is sent does not set the receiver's timer.
//
// Proves: stacktest.faults
func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := stacktest.NewCluster(t, 2)
		serve(t, c.Node(0))
		if took := ask(t, c.Node(1), "hello"); took != 2*stacktest.MinDelay {
			t.Errorf("got %v, want twice %v", took, stacktest.MinDelay)
		}
		c.From(0, 1).Delay(30 * time.Millisecond)
		if took, want := ask(t, c.Node(1), "hello"), 30*time.Millisecond+stacktest.MinDelay; took != want {
			t.Errorf("got %v, want %v", took, want)
		}
		c.Between(0, 1).Delay(20 * time.Millisecond)
		if took := ask(t, c.Node(1), "hello"); took != 40*time.Millisecond {
			t.Errorf("both ways: got %v, want 40ms", took)
		}
		c.From(0, 1).Delay(30 * time.Millisecond)
		a, b := c.Pipe("tipcpacket", 0, 1)
		fmt.Fprint(a, "first")
		c.From(0, 1).Delay(0)
		began := time.Now()
		fmt.Fprint(a, "second")
		buf := make([]byte, 10)
		for _, want := range []string{"first", "second"} {
			if n, err := b.Read(buf); err != nil || string(buf[:n]) != want || time.Since(began) != 30*time.Millisecond {
				t.Errorf("got %q, %v after %v, want %q after 30ms", buf[:n], err, time.Since(began), want)
			}
		}
	})
}

// The same delays hold on the system's clock.
//
// Mutation it catches: Delay sets the least there may be.
//
// Proves: stacktest.faults
func TestDelayOutsideOfABubble(t *testing.T) {
	c := stacktest.NewCluster(t, 2)
	serve(t, c.Node(0))
	c.All().Delay(time.Millisecond)
	if took := ask(t, c.Node(1), "hello"); took < 2*time.Millisecond {
		t.Errorf("got an answer after %v, want 2ms or more", took)
	}
}

// trace runs a conversation over a network that loses a fifth of all frames, and returns all of
// them, with their times.
func trace(t *testing.T, seed uint64) []byte {
	var wire [2]bytes.Buffer
	t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := stacktest.Config{Seed: seed, Node: func(i int, c *stack.Config) {
				c.Bearers[0] = tap.New(c.Bearers[0], &wire[i], tap.Config{})
			}}.NewCluster(t, 2)
			c.All().Lose(0.2)
			h, err := c.Node(0).Handle(t.Context(), service, stack.HandlerFunc(func(w *stack.Reply, m *stack.Message) { w.Send(m.Data) }))
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			for i := range 80 {
				ask(t, c.Node(1), strings.Repeat("0123456789", 1+i*i)) // up to 66000 bytes, of many frames
			}
		})
	})
	return append(wire[0].Bytes(), wire[1].Bytes()...)
}

// In a bubble all that happens follows from the seed: every frame, its bytes and its time.
//
// Mutations it catches: nodes draw from the system's generator; the dice have no seed; frames take
// no time in a bubble; nothing settles between two nodes that are opened.
//
// Proves: stacktest.seed
func TestSameSeedSameFrames(t *testing.T) {
	first := trace(t, 1)
	if len(first) < 200000 {
		t.Fatalf("got %d bytes of capture", len(first))
	}
	if again := trace(t, 1); !bytes.Equal(first, again) {
		t.Error("one seed gave two conversations")
	}
	if other := trace(t, 2); bytes.Equal(first, other) {
		t.Error("two seeds gave the same conversation")
	}
}

// A node that crashes is missed after the tolerance, as it says nothing; its calls end. What is
// restarted has its address, and is a new node.
//
// Mutations it catches: Crash closes the node in order; the crashed port goes on sending; Restart
// does not wait until the nodes have met.
//
// Proves: stacktest.faults
func TestCrashAndRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := stacktest.NewCluster(t, 3)
		serve(t, c.Node(0))
		ask(t, c.Node(1), "hello")
		one := watch(t, c.Node(1))
		old := c.Node(0)
		began := time.Now()
		c.Crash(0)
		if took := time.Since(began); took != 0 {
			t.Errorf("to crash took %v", took)
		}
		if _, err := old.ListenPacket(t.Context(), "tipcrdm", nil); !errors.Is(err, net.ErrClosed) {
			t.Errorf("crashed: got %v, want net.ErrClosed", err)
		}
		if ev, gone := one(admin.PeerLost), time.Since(began); ev.Node != old.Addr() || gone < 1500*time.Millisecond || gone > 2500*time.Millisecond {
			t.Errorf("got %v after %v, want node 0 after 1.5 s to 2.5 s", ev, gone)
		}
		n := c.Restart(0)
		if n == old || n != c.Node(0) || n.Addr() != old.Addr() {
			t.Errorf("got %p at %v", n, n.Addr())
		}
		if peers, err := n.Admin().Peers(t.Context()); err != nil || len(peers) != 2 || !peers[0].Up || !peers[1].Up {
			t.Errorf("restarted: got peers %+v, %v, want 2 that are up", peers, err)
		}
		serve(t, n)
		ask(t, c.Node(1), "again")

		c.Restart(0) // one that runs
		if ev := one(admin.PeerLost); ev.Reason != "ended by peer" {
			t.Errorf("got %v, want that it stopped", ev)
		}
		c.Crash(0)
		c.Restart(0) // before anybody has noticed
		serve(t, c.Node(0))
		ask(t, c.Node(2), "at once")
	})
}
