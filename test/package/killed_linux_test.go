// SPDX-License-Identifier: Apache-2.0

package packaged

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/utipc/utipc/stack"
)

// killed kills north's daemon and starts it again, while a program of this process has a
// name there, and a program on south watches that name.
func (c *cluster) killed(ctx context.Context, old *service) *service {
	c.t.Helper()
	attach := func(h *host) *stack.Node {
		n, err := stack.Attach(ctx, h.file("/run/utipc/utipc.sock"))
		if err != nil {
			c.t.Fatal(err)
		}
		c.t.Cleanup(func() { n.Close(context.Background()) })
		return n
	}
	north, south := attach(c.north), attach(c.south)
	name := stack.Service{Type: 20000, Instance: 1}
	watch, err := south.Subscribe(ctx, stack.Range{Type: 20000, Lower: 1, Upper: 1})
	if err != nil {
		c.t.Fatal(err)
	}
	event := func(want string) {
		c.t.Helper()
		ev, err := watch.Next(ctx)
		if err != nil || !strings.Contains(strings.ToLower(fmt.Sprint(ev)), want) {
			c.t.Fatalf("event %v, %v, want %s", ev, err, want)
		}
	}
	pc, err := north.ListenPacket(ctx, "tipcrdm", name)
	if err != nil {
		c.t.Fatal(err)
	}
	event("publish")
	l, err := north.Listen(ctx, "tipc", stack.Service{Type: 20001, Instance: 1})
	if err != nil {
		c.t.Fatal(err)
	}
	go func() {
		for {
			if _, err := l.Accept(); err != nil {
				return
			}
		}
	}()
	conn, err := north.Dial(ctx, "tipc", stack.Service{Type: 20001, Instance: 1})
	if err != nil {
		c.t.Fatal(err)
	}
	ended, read := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 100))
		ended <- err
	}()
	go func() {
		_, _, err := pc.ReadFrom(make([]byte, 100))
		read <- err
	}()
	begin := time.Now()
	old.signal("KILL")
	if err := <-ended; !errors.Is(err, syscall.ECONNRESET) {
		c.t.Errorf("a connection of a program whose daemon was killed: %v", err)
	}
	report(c, "connections of programs end after kill -9", time.Since(begin), 100*time.Millisecond)
	<-old.ended
	s := start(ctx, c.north)
	begin = time.Now()
	if err := north.WaitFor(ctx, name); err != nil {
		c.t.Fatal(err)
	}
	report(c, "the name is bound again after the daemon is back", time.Since(begin), time.Second)
	event("withdr")
	event("publish")
	if out := c.south.must(ctx, "utipc nametable show"); len(regexp.MustCompile(`(?m)^20000 `).FindAllString(out, -1)) != 1 {
		c.t.Errorf("the name stands not once in\n%s", out)
	}
	if _, err := pc.WriteTo([]byte("x"), name); err != nil {
		c.t.Errorf("a send after the restart: %v", err)
	}
	if err := <-read; err != nil {
		c.t.Errorf("a read over the restart: %v", err)
	}
	c.t.Logf("south saw one withdrawal and one publication")
	return s
}

// report prints a time beside what is promised, and fails at twenty times that.
func report(c *cluster, what string, took, promised time.Duration) {
	c.t.Helper()
	c.t.Logf("%s: %v (promised: %v)", what, took.Round(time.Microsecond), promised)
	if took > 20*promised {
		c.t.Errorf("%s: %v, promised %v", what, took, promised)
	}
}
