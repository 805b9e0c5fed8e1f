// SPDX-License-Identifier: Apache-2.0

// Package attachc has programs in C that speak the daemon's socket protocol as
// docs/reference/attach.md tells it, and share nothing with ours.
package attachc

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/test/tier"
)

const timeout = 5 * time.Minute

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	t.Cleanup(cancel)
	return ctx
}

// compile makes a program of C source, and returns its path. Without a compiler the test
// is skipped, or fails where all is required.
func compile(t *testing.T, name string, source []byte) string {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		tier.Missing(t, err)
	}
	dir := t.TempDir()
	file, program := filepath.Join(dir, name+".c"), filepath.Join(dir, name)
	if err := os.WriteFile(file, source, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gcc, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

func source(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// bed is a daemon on a hub; it returns the path of its socket, its node, and one beside it.
func bed(t *testing.T) (path string, node, peer *stack.Node) {
	t.Helper()
	h := hub.New(hub.Config{})
	open := func(i int) *stack.Node {
		port, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i)})
		if err != nil {
			t.Fatal(err)
		}
		n, err := stack.Open(within(t), stack.Config{Bearers: []stack.Bearer{port}, Address: stack.NodeAddr(0x1001000 + i), Tolerance: 30 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close(within(t)) })
		return n
	}
	node, peer = open(1), open(2)
	srv, err := daemon.New(node, daemon.Config{})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "s")
	l, err := attach.Listen(path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	t.Cleanup(func() {
		if err := srv.Shutdown(within(t), "the test is over"); err != nil {
			t.Error(err)
		}
		<-served
	})
	return path, node, peer
}

// start runs a program that ends with the test, and returns what it prints.
func start(t *testing.T, program string, args ...string) (out *bufio.Reader, wait func() error) {
	t.Helper()
	cmd := exec.CommandContext(within(t), program, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return bufio.NewReader(pipe), func() error {
		io.Copy(io.Discard, pipe)
		if err := cmd.Wait(); err != nil || said.Len() > 0 {
			return fmt.Errorf("%v %s", err, said.Bytes())
		}
		return nil
	}
}

// The client that docs/reference/attach.md shows works as it stands there.
//
// Proves: daemon.socket
func TestEchoOfTheDocumentation(t *testing.T) {
	doc := string(source(t, "../../docs/reference/attach.md"))
	_, rest, ok := strings.Cut(doc, "<!-- begin echo.c -->\n```c\n")
	text, _, ok2 := strings.Cut(rest, "```\n<!-- end echo.c -->")
	if !ok || !ok2 {
		t.Fatal("docs/reference/attach.md has no echo.c")
	}
	program := compile(t, "echo", []byte(text))
	path, _, peer := bed(t)
	out, wait := start(t, program, path)
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err, wait())
	}
	svc := stack.Service{Type: 18888, Instance: 17}
	if err := peer.WaitFor(within(t), svc); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 64, 1500, 66000} {
		want, room := bytes.Repeat([]byte{byte(size)}, size), make([]byte, 66000)
		n, from, err := peer.Call(within(t), svc, want, room)
		if err != nil || !bytes.Equal(room[:n], want) {
			t.Errorf("%d bytes come back as %d, %v", size, n, err)
		}
		if got := fmt.Sprintf("%v:%d\n", from.Node, from.Port); got != line {
			t.Errorf("from %q; it says that it is %q", got, line)
		}
	}
}

// A stream through a ring, whose other end is in C: more than the ring holds, both ways,
// with both ends asleep again and again.
//
// Proves: daemon.socket
func TestRingInC(t *testing.T) {
	program := compile(t, "ring", source(t, "testdata/ring.c"))
	path, node, peer := bed(t)
	l, err := peer.Listen(within(t), "tipc", stack.Service{Type: 18888, Instance: 18})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := node.WaitFor(within(t), stack.Service{Type: 18888, Instance: 18}); err != nil {
		t.Fatal(err)
	}
	echoed := make(chan error, 1)
	go func() {
		c, err := l.AcceptConn()
		if err != nil {
			echoed <- err
			return
		}
		defer c.Close()
		_, err = io.Copy(struct{ io.Writer }{c}, struct{ io.Reader }{c})
		echoed <- err // nil: it has ended in order
	}()
	total := 4 << 20
	if raceEnabled || testing.Short() {
		total = 1 << 20
	}
	out, wait := start(t, program, path, "18888", "18", fmt.Sprint(total))
	line, err := out.ReadString('\n')
	if want := fmt.Sprintf("%d bytes\n", total); line != want {
		t.Errorf("%q, want %q: %v, %v", line, want, err, wait())
	}
	l.Close() // what was accepted stays
	if err := <-echoed; err != nil {
		t.Error(err)
	}
}

// A listener in C: requests without waiting for answers, one that fails, a connection
// as a descriptor, its messages and its end.
//
// Proves: daemon.socket
func TestAcceptInC(t *testing.T) {
	program := compile(t, "accept", source(t, "testdata/accept.c"))
	path, _, peer := bed(t)
	out, wait := start(t, program, path, "18888", "19")
	if line, err := out.ReadString('\n'); line != "listening\n" {
		t.Fatalf("%q: %v, %v", line, err, wait())
	}
	svc := stack.Service{Type: 18888, Instance: 19}
	if err := peer.WaitFor(within(t), svc); err != nil {
		t.Fatal(err)
	}
	c, err := peer.Dial(within(t), "tipcpacket", svc)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(timeout))
	own := c.LocalAddr().(stack.SocketAddr)
	if line, err := out.ReadString('\n'); line != fmt.Sprintf("%v:%d to 18888:19\n", own.Node, own.Port) {
		t.Errorf("%q of %v, %v", line, own, err)
	}
	total := 0
	for _, size := range []int{1, 64, 1500, 66000} {
		want, room := bytes.Repeat([]byte{byte(size)}, size), make([]byte, 66000)
		if _, err := c.Write(want); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(room); err != nil || !bytes.Equal(room[:n], want) {
			t.Fatalf("%d bytes come back as %d, %v; %v", size, n, err, wait())
		}
		total += size
	}
	c.Close()
	if line, err := out.ReadString('\n'); line != fmt.Sprintf("%d bytes, end 0\n", total) {
		t.Errorf("%q, %v", line, err)
	}
	if err := wait(); err != nil {
		t.Error(err)
	}
}
