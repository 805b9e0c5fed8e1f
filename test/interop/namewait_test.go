// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"runtime"
	"testing"
	"time"

	musthave "github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/interop/pattern"
)

// A kernel's messages, short and in fragments, for a name that we bind after they came,
// arrive, in order; the kernel sees none of them come back.
//
// Proves: names.late
func TestTheirMessagesWaitForName(t *testing.T) {
	b := newBed(t, 15*time.Minute)
	b.openNode(stack.Config{NamePark: time.Minute})
	b.boot()
	b.contact()
	const count = 5
	for _, size := range []string{"60", "5000"} {
		parked := musthave.Get(b.node.Admin().Stats(context.Background())).Parked
		j, _ := b.job("rdm-send", "18888", "17", "-N", "1001001", "-1", "-D", "-n", "5", "-s", size, "-q", "-w", "0")
		for musthave.Get(b.node.Admin().Stats(context.Background())).Parked < parked+count && b.ctx.Err() == nil {
			runtime.Gosched()
		}
		c := b.listen(stack.SocketConfig{}, ourService)
		in := make([]byte, 6000)
		for i := range count {
			n, _, err := c.ReadFrom(in)
			if err != nil {
				t.Fatalf("message %d: %v", i, err)
			}
			if seq, err := pattern.Check(in[:n]); err != nil || seq != uint32(i) {
				t.Fatalf("message %d: got number %d, %v", i, seq, err)
			}
		}
		b.expect(j, "done sent=5")
		c.Close()
		if s := musthave.Get(b.node.Admin().Stats(context.Background())); s.Returned != 0 || s.ParkReleased != s.Parked {
			t.Errorf("%d returned, %d of %d released", s.Returned, s.ParkReleased, s.Parked)
		}
	}
}

// A message of ours to a name that a kernel binds later is sent then.
//
// Proves: names.late
func TestOurMessageWaitsForName(t *testing.T) {
	b := linked(t, 15*time.Minute)
	c := b.listen(stack.SocketConfig{NameWait: time.Minute}, nil)
	out, in := make([]byte, 100), make([]byte, 200)
	pattern.Fill(out, 7)
	sent := make(chan error, 1)
	go func() {
		_, err := c.WriteTo(out, kernelService)
		sent <- err
	}()
	for len(musthave.Get(b.node.Waits(context.Background()))) == 0 && b.ctx.Err() == nil {
		runtime.Gosched()
	}
	b.job("rdm-echo", "18889", "4", "-q")
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	n, _, err := c.ReadFrom(in)
	if err != nil {
		t.Fatal(err)
	}
	if seq, err := pattern.Check(in[:n]); err != nil || seq != 7 {
		t.Errorf("got number %d, %v", seq, err)
	}
}
