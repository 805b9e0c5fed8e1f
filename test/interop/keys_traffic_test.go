// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/interop/flow"
	"github.com/utipc/utipc/test/interop/pattern"
)

// sealedSizes are lengths of messages around those at which padding and fragments
// begin.
var sealedSizes = []int{1, 2, 3, 4, 5, 64, 1300, 1370, 1380, 1388, 1400, 1401, 2900, 20000, 66000}

// keyClusterTimeout is for a kernel to answer, emulated on a machine that may be busy.
const keyClusterTimeout = 3 * time.Minute

// meet waits until our node and the kernels know one another, and their names.
func (v *keyCluster) meet(t *testing.T, us *ours, kernels ...*keeper) {
	t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, keyClusterTimeout)
	defer cancel()
	met := *us
	met.ctx = ctx
	for i, k := range kernels {
		met.knows(t, nodeState(k.node))
		met.knows(t, stack.Service{Type: keyClusterCast, Instance: uint32(k.place())})
		k.knows(t, nodeState(us.addr()))
		for _, other := range kernels[:i] {
			k.knows(t, nodeState(other.node))
		}
	}
}

// talk has everything said between our node and the kernels, all at once.
func (v *keyCluster) talk(t *testing.T, us *ours, kernels ...*keeper) {
	t.Helper()
	l, err := us.node.Listen(v.ctx, "tipc", stack.Service{Type: keyClusterOurs})
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go echoConns(l)
	ears := us.listen(t, stack.Service{Type: keyClusterHeard})
	until, _ := v.ctx.Deadline()
	must(t, ears.SetDeadline(until))
	for _, k := range kernels {
		k.knows(t, stack.Service{Type: keyClusterHeard})
		t.Run("datagrams "+string(k.flavour), func(t *testing.T) { v.echo(t, us, k) })
		t.Run("streams "+string(k.flavour), func(t *testing.T) { v.streams(t, us, k) })
		// Both ways, messages of 1 to 66000 bytes.
		v.flows += 2
		there, back := v.flow(t, us, k.theirs, v.flows, 0), v.flow(t, k.theirs, us, v.flows+1, 0)
		(&pair{t: t, ctx: v.ctx}).run(300 * time.Millisecond)
		there.end(t)
		back.end(t)
	}
	v.multicast(t, us, ears, kernels...)
}

// echo has a kernel send our datagrams back.
func (v *keyCluster) echo(t *testing.T, us *ours, k *keeper) {
	c := us.listen(t, nil)
	until := time.Now().Add(keyClusterTimeout)
	must(t, c.SetDeadline(until))
	in := make([]byte, 66001)
	for i, size := range sealedSizes {
		out := make([]byte, size)
		pattern.Fill(out, uint32(i))
		if _, err := c.WriteTo(out, stack.Service{Type: keyClusterEcho, Instance: uint32(k.place())}); err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if n, _, err := c.ReadFrom(in); err != nil || !bytes.Equal(in[:n], out) {
			t.Fatalf("%d bytes: got %d, %v", size, n, err)
		}
	}
}

// streams has a connection made from either side, and data echoed on it.
func (v *keyCluster) streams(t *testing.T, us *ours, k *keeper) {
	c, err := us.node.Dial(v.ctx, "tipc", stack.Service{Type: keyClusterConn, Instance: uint32(k.place())})
	must(t, err)
	defer c.Close()
	until := time.Now().Add(keyClusterTimeout)
	must(t, c.SetDeadline(until))
	out := make([]byte, 50000)
	pattern.Fill(out, 1)
	go c.Write(out)
	in := make([]byte, len(out))
	if n, err := io.ReadFull(c, in); err != nil || !bytes.Equal(in, out) {
		t.Errorf("got %d bytes, %v", n, err)
	}
	if got := k.do(t, "peer dial-stream %d 0 -n 2 -s 30000 -q", keyClusterOurs); !bytes.HasSuffix([]byte(got), []byte("done sent=2 echoed=2 bad=0")) {
		t.Errorf("the kernel's connection: %q", got)
	}
}

// echoConns echoes on each connection.
func echoConns(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			io.Copy(c, c)
			c.Close()
		}()
	}
}

// multicast has all kernels hear ours, by each method, and us hear each kernel's.
func (v *keyCluster) multicast(t *testing.T, us *ours, ears *stack.PacketConn, kernels ...*keeper) {
	t.Helper()
	for _, how := range []stack.Method{stack.Broadcast, stack.Replicast} {
		c, err := stack.SocketConfig{Multicast: how}.ListenPacket(v.ctx, us.node, "tipcrdm", nil)
		must(t, err)
		for i, size := range []int{100, 1400, 20000} {
			out := make([]byte, size)
			v.casts++
			pattern.Fill(out, v.casts)
			if _, err := c.WriteTo(out, stack.Range{Type: keyClusterCast, Lower: 0, Upper: 100}); err != nil {
				t.Fatalf("%v %d: %v", how, i, err)
			}
			for _, k := range kernels {
				_, err := k.heard.Expect(v.ctx, fmt.Sprintf("seq=%d check=ok", v.casts))
				must(t, err)
			}
		}
		c.Close()
	}
	in := make([]byte, 66000)
	for _, k := range kernels {
		k.do(t, "peer mcast-send %d 0 9 -n 3 -s 3000 -b", keyClusterHeard)
		for i := range 3 {
			n, _, err := ears.ReadFrom(in)
			if err == nil && n != 3000 {
				err = errors.New("too short")
			}
			if seq, e := pattern.Check(in[:n]); err != nil || e != nil || seq != uint32(i) {
				t.Fatalf("%s, multicast %d: %d bytes, number %d, %v, %v", k.flavour, i, n, seq, err, e)
			}
		}
	}
}

// A keyClusterFlow is a stream of messages between two stations.
type keyClusterFlow struct {
	name string
	hearer
	speaker
}

// flow starts a stream at a pace, 0 for as fast as it goes.
func (v *keyCluster) flow(t *testing.T, from, to station, instance uint32, pace time.Duration) keyClusterFlow {
	t.Helper()
	at := stack.Service{Type: flowType, Instance: instance}
	plan := flow.Plan{Seed: instance + 1, Longest: longestMessage, Pace: pace}
	f := keyClusterFlow{name: fmt.Sprintf("%v to %v", from.addr(), to.addr()), hearer: to.hear(t, at, plan)}
	from.knows(t, at)
	f.speaker = from.speak(t, at, plan, 0)
	return f
}

// end ends the stream; everything must have arrived, once and in order.
func (f keyClusterFlow) end(t *testing.T) flow.Report {
	t.Helper()
	sent := f.stop(t)
	r := f.report(t)
	if !r.Whole() || r.Messages != sent.Messages || sent.Returned+sent.Stalls > 0 {
		t.Errorf("%s: sent %+v, received %+v", f.name, sent, r)
	}
	return r
}
