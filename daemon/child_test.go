// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/udp"
)

// A child is another process of the test's binary.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// startChild starts one that plays a part of children, with words in its environment, and
// waits for the line "ready".
func startChild(t testing.TB, part string, words ...string) *child {
	t.Helper()
	return startWith(t, part, func(*exec.Cmd) {}, words...)
}

func startWith(t testing.TB, part string, set func(*exec.Cmd), words ...string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	set(cmd)
	cmd.Env = append(append(os.Environ(), "UTIPC_TEST_CHILD="+part), words...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd, in, bufio.NewScanner(out)}
	t.Cleanup(c.end)
	if got := c.line(); got != "ready" {
		t.Fatalf("%s says %q", part, got)
	}
	return c
}

// end kills it. Ending twice is harmless.
func (c *child) end() {
	c.in.Close()
	c.cmd.Process.Kill()
	c.cmd.Wait()
}

func (c *child) line() string {
	if !c.out.Scan() {
		return fmt.Sprint("nothing: ", c.out.Err())
	}
	return strings.TrimSpace(c.out.Text())
}

// untilClosed waits until the parent has gone.
func untilClosed() { io.Copy(io.Discard, os.Stdin) }

// overLoopback opens a node that speaks UDP from one port of this host to others.
func overLoopback(own string, others ...string) (*stack.Node, error) {
	cfg := udp.Config{Name: "udp", Local: netip.MustParseAddrPort(own)}
	for _, a := range others {
		cfg.Remotes = append(cfg.Remotes, netip.MustParseAddrPort(a))
	}
	d, err := udp.Open(cfg)
	if err != nil {
		return nil, err
	}
	return stack.Open(context.Background(), stack.Config{
		Bearers: []stack.Bearer{d}, GoPoller: true, Tolerance: tolerance,
		Address: stack.NodeAddr(0x1000000 + uint32(cfg.Local.Port())),
	})
}

var usedPorts atomic.Uint32

// ports are ports of UDP that nobody else has: every process has an address of 127.0.0.0/8 to
// itself, as long as it lives, and each call ports of its own. They are none of those that the
// kernel hands out.
func ports(t testing.TB, k int) (all []string) {
	t.Helper()
	pid := os.Getpid()
	ip := netip.AddrFrom4([4]byte{127, 64 | byte(pid>>15)&63, byte(pid >> 7), byte(pid<<1) | 1})
	for range k {
		all = append(all, netip.AddrPortFrom(ip, uint16(10000+usedPorts.Add(1))).String())
	}
	return all
}

func init() {
	// A daemon, at $SOCKET, whose node is at the first of $PORTS.
	children["daemon"] = func() int {
		all := strings.Fields(os.Getenv("PORTS"))
		n, err := overLoopback(all[0], all[1:]...)
		if err == nil {
			var s *daemon.Server
			if s, err = daemon.New(n, daemon.Config{}); err == nil {
				var l *attach.Listener
				if l, err = attach.Listen(os.Getenv("SOCKET"), 0o600, -1); err == nil {
					fmt.Println("ready")
					go s.Serve(l)
					untilClosed()
					s.Shutdown(context.Background(), "told to")
					n.Close(context.Background())
					return 0
				}
			}
		}
		fmt.Println(err)
		return 1
	}
}
