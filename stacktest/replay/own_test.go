// SPDX-License-Identifier: Apache-2.0

package replay_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/tap"
	"github.com/utipc/utipc/stacktest"
	"github.com/utipc/utipc/stacktest/replay"
)

// record writes a conversation of two nodes in a bubble to a file, over a network that loses a tenth
// of the frames, with the calls beside it: node 1.1.1 answers at a name, and has a tolerance of its own.
func record(t *testing.T, tolerance time.Duration) (file string) {
	file = filepath.Join(t.TempDir(), "talk.pcapng")
	var wire, calls bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := stacktest.Config{Node: func(i int, c *stack.Config) {
			if i == 0 {
				c.Bearers[0] = tap.New(c.Bearers[0], &wire, tap.Config{})
			}
			c.Tolerance = tolerance
		}}.NewCluster(t, 2)
		call := func(format string, args ...any) {
			fmt.Fprintf(&calls, "%.9f 1.1.1 %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
		}
		name := stack.Service{Type: 18888, Instance: 17}
		pc, err := c.Node(0).ListenPacket(t.Context(), "tipcrdm", name)
		if err != nil {
			t.Fatal(err)
		}
		port := pc.LocalAddr().(stack.SocketAddr).Port
		call("open %d echo", port)
		call("bind %d 18888:17", port)
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
		if err := c.Node(1).WaitFor(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		c.All().Lose(0.1)
		for i := range 20 {
			b := make([]byte, 10+500*i)
			if _, _, err := c.Node(1).Call(t.Context(), name, b, b); err != nil {
				t.Fatal(err)
			}
			<-time.After(50 * time.Millisecond)
		}
		c.All().Heal()
		pc.Close()
		call("close %d", port)
		<-time.After(time.Second)
		synctest.Wait()
		whole := bytes.Clone(wire.Bytes()) // without the end of the node
		for name, b := range map[string][]byte{file: whole, strings.TrimSuffix(file, ".pcapng") + ".calls": calls.Bytes()} {
			if err := os.WriteFile(name, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	})
	return file
}

// A node of this implementation that was recorded in a bubble is replayed byte for byte: its timers
// ring when they are due, it is known by its mark, and its links are as its Config had them.
//
// Mutations it catches: configure takes every node for a kernel; timers of an own node ring as a
// kernel's; timers due at one instant with a frame ring before it; Options.Link is ignored.
//
// Proves: replay.own
func TestOwnNode(t *testing.T) {
	for _, tolerance := range []time.Duration{0, 700 * time.Millisecond} {
		file := record(t, tolerance)
		v := replay.Test(t, file, replay.Options{Node: "1.1.1", Link: stack.LinkConfig{Tolerance: tolerance}})
		if v.Sent < 140 || v.Calls != 3 || v.Timers < 10 || v.Runs != 1 {
			t.Errorf("tolerance %v: got %v, want all of it, in one run", tolerance, v)
		}
	}
}
