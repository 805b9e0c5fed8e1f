// SPDX-License-Identifier: Apache-2.0

package stacktest_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stacktest"
)

// A judged is a test whose errors are looked at by another.
type judged struct {
	testing.TB
	ends   []func()
	errors []string
}

func (j *judged) Cleanup(f func()) { j.ends = append(j.ends, f) }
func (j *judged) Errorf(format string, of ...any) {
	j.errors = append(j.errors, fmt.Sprintf(format, of...))
}
func (j *judged) Failed() bool { return len(j.errors) > 0 }

// end ends it, and returns what it says, the numbers of lines left out.
func (j *judged) end() (said []string) {
	for _, f := range slices.Backward(j.ends) {
		f()
	}
	for _, e := range j.errors {
		said = append(said, regexp.MustCompile(`\.go:\d+`).ReplaceAllString(e, ".go"))
	}
	slices.Sort(said)
	return said
}

// What a test leaves open is an error of it, each with its line, whatever it is; and what it has
// closed, or what closes itself within LeaveTimeout, is not.
//
// Mutations it catches: a kind of socket is not noted when it is opened, or when it is closed; the
// goroutines that a goroutine of the test has started are not its own; those of another test are;
// the place is one in the standard library.
//
// Proves: stacktest.left
func TestLeftOpen(t *testing.T) {
	ctx := context.Background()
	for _, x := range []struct {
		name string
		run  func(t testing.TB, c *stacktest.Cluster)
		want []string
	}{
		{"nothing", func(testing.TB, *stacktest.Cluster) {}, nil},
		{"sockets", func(t testing.TB, c *stacktest.Cluster) {
			n := c.Node(1)
			n.ListenPacket(ctx, "tipcrdm", nil)
			n.Listen(ctx, "tipcpacket", service)
			n.Join(ctx, stack.Service{Type: 300, Instance: 1})
			n.Subscribe(ctx, stack.AllNodes)
			n.Handle(ctx, stack.Service{Type: 301, Instance: 1}, stack.HandlerFunc(func(*stack.Reply, *stack.Message) {}))
		}, []string{
			"left open: node 1: subscription, opened at left_test.go",
			"left open: node 1: tipcpacket listener, opened at left_test.go",
			"left open: node 1: tipcrdm membership, opened at left_test.go",
			"left open: node 1: tipcrdm socket, opened at left_test.go",
			"left open: node 1: tipcrdm socket, opened at left_test.go",
		}},
		{"closed", func(t testing.TB, c *stacktest.Cluster) {
			n := c.Node(1)
			pc, _ := n.ListenPacket(ctx, "tipcrdm", nil)
			ln, _ := n.Listen(ctx, "tipcpacket", service)
			g, _ := n.Join(ctx, stack.Service{Type: 300, Instance: 1})
			sub, _ := n.Subscribe(ctx, stack.AllNodes)
			for _, x := range []interface{ Close() error }{pc, ln, g, sub} {
				x.Close()
			}
			c.Pipe("tipc", 0, 1)
			stacktest.Pipe(t)
			n.ListenPacket(ctx, "tipcrdm", nil)
			n.Close(ctx)
		}, nil},
		{"connections", func(t testing.TB, c *stacktest.Cluster) {
			ln, _ := c.Node(0).Listen(ctx, "tipc", service)
			defer ln.Close()
			dialed := make(chan error)
			go func() {
				_, err := c.Node(0).Dial(ctx, "tipc", service)
				dialed <- err
			}()
			ln.Accept()
			<-dialed
		}, []string{
			"left open: node 0: tipc connection, opened at left_test.go",
			"left open: node 0: tipc connection, opened at left_test.go",
		}},
		{"goroutines", func(t testing.TB, c *stacktest.Cluster) {
			pc, _ := c.Node(0).ListenPacket(ctx, "tipcrdm", nil)
			go func() { go func() { pc.ReadFrom(make([]byte, 1)) }() }()
		}, []string{
			"left open: a goroutine in (*PacketConn).ReadFrom, called at left_test.go",
			"left open: node 0: tipcrdm socket, opened at left_test.go",
		}},
		{"a server in the standard library", func(t testing.TB, c *stacktest.Cluster) {
			ln, _ := c.Node(0).Listen(ctx, "tipc", service)
			go func() { http.Serve(ln, nil) }()
			c.Node(1).WaitFor(ctx, service)
			client := &http.Client{Transport: &http.Transport{DialContext: c.Node(1).DialContext}}
			if r, err := client.Get("http://18888:17/"); err == nil {
				r.Body.Close()
			}
			client.CloseIdleConnections()
		}, []string{
			"left open: a goroutine in (*Listener).Accept, called at left_test.go",
			"left open: node 0: tipc listener, opened at left_test.go",
		}},
		{"a server that ends by itself", func(t testing.TB, c *stacktest.Cluster) {
			ln, _ := c.Node(0).Listen(ctx, "tipc", service)
			go func() {
				defer ln.Close()
				s, err := ln.Accept()
				if err != nil {
					return
				}
				s.Read(make([]byte, 1)) // until the client is gone
				s.Close()
			}()
			c.Node(1).WaitFor(ctx, service)
			if s, err := c.Node(1).Dial(ctx, "tipc", service); err == nil {
				s.Close()
			}
		}, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &judged{TB: t}
				x.run(j, stacktest.NewCluster(j, 2))
				got := j.end()
				for i := range got {
					got[i] = strings.TrimPrefix(got[i], "stacktest: ")
				}
				if !slices.Equal(got, x.want) {
					t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(x.want, "\n"))
				}
			})
		})
	}
}

// A test does not answer for another's goroutines, and one that has failed reports nothing more.
//
// Mutations it catches: blocked takes every goroutine with a label; report reports after a failure.
//
// Proves: stacktest.left
func TestLeftByAnother(t *testing.T) {
	first := &judged{TB: t}
	c := stacktest.NewCluster(first, 1)
	pc, err := c.Node(0).ListenPacket(t.Context(), "tipcrdm", nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, _, err := pc.ReadFrom(make([]byte, 1))
		ended <- err
	}()
	second := &judged{TB: t}
	stacktest.NewCluster(second, 1)
	if got := second.end(); got != nil {
		t.Errorf("got %q of another test", got)
	}
	first.Errorf("failed")
	if got := first.end(); len(got) != 1 {
		t.Errorf("got %q of a test that has failed", got)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), net.ErrClosed.Error()) {
		t.Errorf("the call ended with %v, want net.ErrClosed", err)
	}
}
