// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/stack"
)

// An HTTP server and a server of packets, neither of which has a line about daemons, serve again
// once the daemon that was killed is back, and so do their clients. A message that is sent while
// it is away arrives; what a server's program had been given before is read before that.
//
// Mutations: acceptFar that returns what follow returned first; send that does not go round.
//
// Proves: daemon.dies
func TestServersOutliveTheDaemon(t *testing.T) {
	for name, cfg := range map[string]stack.AttachConfig{
		"sockets":     {},
		"sync errors": {SyncErrors: true},
		"ring":        {Ring: stack.RingAlways},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			serversOutlive(t, cfg)
		})
	}
}

func serversOutlive(t *testing.T, cfg stack.AttachConfig) {
	own := ports(t, 2) // there is nobody at the second
	path := filepath.Join(t.TempDir(), "utipc.sock")
	words := []string{"PORTS=" + strings.Join(own, " "), "SOCKET=" + path}
	d := startChild(t, "daemon", words...)
	n, err := cfg.Attach(within(t), path)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close(within(t))

	ln, err := n.Listen(within(t), "tipc", stack.Service{Type: 500, Instance: 80})
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") })}
	served := make(chan error, 1)
	go func() { served <- web.Serve(ln) }()
	echoed := stack.Service{Type: 18888, Instance: 1}
	pc, err := n.ListenPacket(within(t), "tipcrdm", echoed)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		buf := make([]byte, 100)
		for {
			k, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			pc.WriteTo(buf[:k], from)
		}
	}()

	client := &http.Client{Transport: &http.Transport{DialContext: n.DialContext}}
	get := func() error {
		req, _ := http.NewRequestWithContext(within(t), "GET", "http://500:80/", nil)
		r, err := client.Do(req)
		if err != nil {
			return err
		}
		defer r.Body.Close()
		if b, err := io.ReadAll(r.Body); err != nil || string(b) != "hello" {
			return fmt.Errorf("got %q, %v", b, err)
		}
		return nil
	}
	ask := func(text string) error {
		b := make([]byte, 100)
		k, _, err := n.Call(within(t), echoed, []byte(text), b)
		if err == nil && string(b[:k]) != text {
			err = fmt.Errorf("got %q", b[:k])
		}
		return err
	}
	if err := errors.Join(get(), ask("first")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		d.cmd.Process.Kill()
		d.cmd.Wait()
		answers := make(chan error, 2) // asked for while there is no daemon
		go func() { answers <- get() }()
		go func() { answers <- ask("second") }()
		d = startChild(t, "daemon", words...)
		ready := time.Now()
		for i := range cap(answers) {
			if err := <-answers; err != nil {
				t.Fatal(err)
			}
			t.Logf("answer %d came %v after the daemon was back; target %v", i+1, time.Since(ready).Round(time.Millisecond), servedIn)
		}
	}
	select {
	case err := <-served:
		t.Fatalf("the server ended: %v", err)
	default:
	}
	if err := web.Close(); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
	if err := <-served; err != http.ErrServerClosed {
		t.Errorf("the server ended with %v", err)
	}
	// A connection of the HTTP server or client may have been closed just as the daemon was
	// killed. Whether all its bytes were sent is not known then.
	var unsent *stack.UnsentError
	if err := n.Close(context.Background()); err != nil && (!errors.As(err, &unsent) || unsent.Bytes != 0 || !errors.Is(err, net.ErrClosed)) {
		t.Error(err)
	}
}

// A program of another version of the socket protocol is refused with a sentence, which the
// daemon's answer has and its log, and its connection is closed.
//
// Mutation: greet that answers with an errno alone.
//
// Proves: daemon.versions
func TestProgramOfAnotherVersion(t *testing.T) {
	b := newBed(t, daemon.Config{})
	for _, version := range []uint32{attach.Version + 1, attach.Version + 7} {
		c, err := attach.Dial(within(t), b.path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		h, data := attach.HelloRequest(1, 0, "a program")
		h.Arg1 = version
		if err := c.Write(&h, data); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 1000)
		k, err := c.Read(&h, buf)
		want := fmt.Sprintf("the program speaks version %d of the socket protocol, the daemon version %d", version, attach.Version)
		if err != nil || h.Errno != syscall.EPROTONOSUPPORT || h.Arg1 != attach.Version || !strings.HasPrefix(string(buf[:k]), want) {
			t.Errorf("got %v %q, %v, want %q", &h, buf[:k], err, want)
		}
		if _, err := c.Read(&h, buf); err != io.EOF {
			t.Errorf("then: got %v, want the end", err)
		}
	}
}
