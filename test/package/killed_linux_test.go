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
	// The kernel, too, sees it go and come.
	seen, err := c.kernel.Job(ctx, "peer", "subscribe", "0", "16781313", "16781313")
	if err == nil {
		_, err = seen.Expect(ctx, "event published")
	}
	if err != nil {
		c.t.Fatal(err)
	}
	begin := time.Now()
	old.signal("KILL")
	if err := <-ended; !errors.Is(err, syscall.ECONNRESET) {
		c.t.Errorf("a connection of a program whose daemon was killed: %v", err)
	}
	report(c, "connections of programs end after kill -9", time.Since(begin), 100*time.Millisecond)
	<-old.ended
	suspect := func(d time.Duration) { // north's neighbours are to notice soon that it is silent
		c.t.Helper()
		err := south.Admin().SetLink(ctx, 0x1001001, "tipc0", stack.LinkConfig{Tolerance: d})
		if err = errors.Join(err, c.kernel.SetLink(ctx, "1001003:eth0-1001001:tipc0", "tolerance", int(d.Milliseconds()))); err != nil {
			c.t.Fatal(err)
		}
	}
	suspect(1500 * time.Millisecond)
	s := start(ctx, c.north)
	begin = time.Now()
	if err := north.WaitFor(ctx, name); err != nil {
		c.t.Fatal(err)
	}
	report(c, "the name is bound again after the daemon is back", time.Since(begin), time.Second)
	event("withdr")
	event("publish")
	for _, what := range []string{"event withdrawn", "event published"} {
		if _, err := seen.Expect(ctx, what); err != nil {
			c.t.Fatal(err)
		}
	}
	seen.Kill()
	suspect(tolerance)
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

// report prints a time beside what is promised on a machine that has nothing else to do.
func report(c *cluster, what string, took, promised time.Duration) {
	c.t.Helper()
	c.t.Logf("%s: %v (promised: %v)", what, took.Round(time.Microsecond), promised)
}
