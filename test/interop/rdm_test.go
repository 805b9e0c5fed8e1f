// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	musthave "github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/test/interop/pattern"
)

var echoSizes = []int{1, 2, 3, 15, 16, 17, 63, 64, 100, 500, 1000, 1380, 1387, 1388, 1389, 1399, 1400}

// Proves: link.long, link.kernel
func TestEchoKernelAsks(t *testing.T) {
	b := linked(t, 15*time.Minute)
	b.echoed(ourService)
	b.theirs(ourService)
	for _, size := range echoSizes {
		j, _ := b.job("rdm-send", "18888", "17", "-n", "5", "-s", fmt.Sprint(size), "-q")
		b.expect(j, "done sent=5 echoed=5 rejects=0 bad=0")
	}
}

// Proves: link.kernel
func TestEchoWeAsk(t *testing.T) {
	b := linked(t, 15*time.Minute)
	_, addr := b.job("rdm-echo", "18889", "4", "-q")
	b.ours(kernelService)
	c := b.listen(stack.SocketConfig{}, nil)
	out, in := make([]byte, 1400), make([]byte, 1500)
	for i, size := range echoSizes {
		for j, to := range []any{kernelService, addr} {
			seq := uint32(2*i + j)
			pattern.Fill(out[:size], seq)
			var err error
			if s, ok := to.(stack.Service); ok {
				_, err = c.WriteTo(out[:size], s)
			} else {
				_, err = c.WriteTo(out[:size], addr)
			}
			if err != nil {
				t.Fatal(err)
			}
			n, from, err := c.ReadFrom(in)
			if err != nil || string(in[:n]) != string(out[:size]) {
				t.Fatalf("%d bytes to %v: got %d bytes, %v", size, to, n, err)
			}
			if s := from.(stack.SocketAddr); s.Port != addr.Port || s.Node != kernelAddr {
				t.Errorf("answer from %v, want %v", from, addr)
			}
		}
	}
}

// rejected reads the next message of c, which must be one that came back.
func (b *bed) rejected(c *stack.PacketConn, want frame.ErrorCode, data string) {
	b.t.Helper()
	buf := make([]byte, 2000)
	n, _, err := c.ReadFrom(buf)
	var reject *stack.RejectError
	if !errors.As(err, &reject) || reject.Code != want || string(buf[:n]) != data {
		b.t.Errorf("got %.40q, %v, want %.40q rejected: %v", buf[:n], err, data, want)
	}
}

// Proves: socket.returned
func TestOurMessagesComeBack(t *testing.T) {
	b := linked(t, 15*time.Minute)
	c := b.listen(stack.SocketConfig{Returnable: true}, nil)
	long := make([]byte, 1300)
	pattern.Fill(long, 1)
	for _, m := range [][]byte{[]byte("hello"), long} {
		cut := string(m[:min(len(m), frame.MaxReturned)])
		if _, err := c.WriteTo(m, stack.SocketAddr{Port: 3333, Node: kernelAddr}); err != nil {
			t.Fatal(err)
		}
		b.rejected(c, frame.NoPort, cut)
		if _, err := c.WriteTo(m, stack.Service{Type: 18889, Instance: 99, Node: kernelAddr}); err != nil {
			t.Fatal(err)
		}
		b.rejected(c, frame.NoName, cut)
	}
	if _, err := c.WriteTo([]byte("x"), stack.Service{Type: 18889, Instance: 99}); !errors.Is(err, stack.ErrUnreachable) {
		t.Errorf("to a name nobody has: got %v, want %v", err, stack.ErrUnreachable)
	}
}

// Proves: socket.returned
func TestTheirMessagesComeBack(t *testing.T) {
	b := linked(t, 15*time.Minute)
	for _, args := range [][]string{
		{"@1001001:3333", "err=2"},
		{"18888 99 -N 1001001", "err=1"},
	} {
		for _, size := range []int{9, 1300} {
			ret := min(size, frame.MaxReturned)
			out := b.run("peer rdm-send %s -D -n 1 -s %d", args[0], size)
			if want := fmt.Sprintf("reject %s retlen=%d", args[1], ret); !strings.Contains(out, want) {
				t.Errorf("%s, %d bytes: no %q in %q", args[0], size, want, out)
			}
		}
	}
	// A socket that is closed with messages unread returns them.
	c := b.listen(stack.SocketConfig{}, ourService)
	b.theirs(ourService)
	before := musthave.Get(b.node.Admin().Stats(context.Background())).MessagesIn
	j, _ := b.job("rdm-send", "18888", "17", "-D", "-n", "1")
	for musthave.Get(b.node.Admin().Stats(context.Background())).MessagesIn == before && b.ctx.Err() == nil {
		runtime.Gosched()
	}
	c.Close()
	b.expect(j, "reject err=2")
}

// A kernel under load bundles its messages, and sends long ones in fragments,
// without being asked; frames get lost both ways. Everything arrives, in order.
//
// Proves: link.long, link.order, contact.capabilities
func TestLossBothWays(t *testing.T) {
	b := linked(t, 15*time.Minute)
	b.echoed(ourService)
	b.theirs(ourService)
	_, addr := b.job("rdm-echo", "18889", "4", "-q")
	data := func(fr []byte) bool {
		m, err := frame.Parse(fr[frame.EthernetLen:])
		return err == nil && m.User() != frame.UserDiscovery
	}
	f := fault.Faults{Loss: 0.05, Match: data}
	b.faults.Set(fault.Config{Seed: 7, In: f, Out: f})

	j, _ := b.job("rdm-send", "18888", "17", "-n", "300", "-s", "1400", "-w", "300000", "-q")
	c := b.listen(stack.SocketConfig{}, nil)
	const count = 300
	sent := make(chan error, 1)
	go func() {
		out := make([]byte, 1000)
		for i := range count {
			pattern.Fill(out, uint32(i))
			if _, err := c.WriteTo(out, addr); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	in := make([]byte, 2000)
	for i := range count {
		n, _, err := c.ReadFrom(in)
		if err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
		if seq, err := pattern.Check(in[:n]); err != nil || seq != uint32(i) {
			t.Fatalf("message %d: got number %d, %v", i, seq, err)
		}
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	b.expect(j, "done sent=300 echoed=300 rejects=0 bad=0")
	l := musthave.Get(b.node.Admin().Links(context.Background()))[0]
	lostIn, lostOut := b.faults.Counts()
	t.Logf("lost %d of %d in, %d of %d out; repeated %d, bundles %d, fragments %d", lostIn.Lost, lostIn.Seen,
		lostOut.Lost, lostOut.Seen, l.Retransmits, l.RecvBundles, l.RecvFragments)
	if l.Resets != 0 || l.Retransmits == 0 || l.RecvFragments == 0 {
		t.Errorf("resets %d, repeated %d, fragments %d", l.Resets, l.Retransmits, l.RecvFragments)
	}
}

// A burst fills the kernel's window, so that it bundles what waits. The delay is long enough
// that a slow guest fills the window before the first acknowledgement.
//
// Proves: link.long
func TestKernelBundles(t *testing.T) {
	b := linked(t, 15*time.Minute)
	c := b.listen(stack.SocketConfig{}, ourService)
	b.theirs(ourService)
	b.run("tc2 qdisc add dev eth0 root netem delay 500ms || tc qdisc add dev eth0 root netem delay 500ms")
	j, _ := b.job("rdm-send", "18888", "17", "-1", "-n", "400", "-s", "60", "-q", "-w", "0")
	in := make([]byte, 100)
	for i := range 400 {
		n, _, err := c.ReadFrom(in)
		if err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
		if seq, err := pattern.Check(in[:n]); err != nil || seq != uint32(i) {
			t.Fatalf("message %d: got number %d, %v", i, seq, err)
		}
	}
	b.expect(j, "done sent=400")
	l := musthave.Get(b.node.Admin().Links(context.Background()))[0]
	t.Logf("%d messages in %d bundles", l.RecvBundled, l.RecvBundles)
	if l.RecvBundles == 0 {
		t.Error("no bundle came")
	}
}
