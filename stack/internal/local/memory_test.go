// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/internal/local"
)

// A contact is two nodes whose link is up; left's device is in the test's hands.
func contact(t *testing.T, cfg stack.Config) (left, right *stack.Node, dev *fakeDevice) {
	t.Helper()
	h := hub.New(hub.Config{})
	for i := range 2 {
		port, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		d := &fakeDevice{Device: port}
		cfg.Bearers, cfg.Address, cfg.Wait, cfg.Tolerance = []stack.Bearer{d}, stack.NodeAddr(i+1), stack.Sleep, 30*time.Second
		n, err := stack.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close(canceled()) })
		if i == 0 {
			left, dev = n, d
		} else {
			right = n
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for !up(left) || !up(right) {
		if ctx.Err() != nil {
			t.Fatal("the link does not come up")
		}
		runtime.Gosched()
	}
	return left, right, dev
}

func up(n *stack.Node) bool {
	l := must.Get(n.Admin().Links(context.Background()))
	return len(l) == 1 && l[0].Up
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// What the wire has not let go of when the node is closed stays readable, and the
// mapping goes when the last of it comes back, in whatever goroutine.
//
// Proves: memory.release
func TestMappingLivesUntilTheLastChunkIsBack(t *testing.T) {
	before := local.Mapped()
	left, right, dev := contact(t, stack.Config{Chunks: 256})
	if runtime.GOOS == "linux" && local.Mapped() != before+2*256*netdev.SmallChunk {
		t.Errorf("got %d bytes mapped for two nodes of 256 chunks", local.Mapped()-before)
	}
	var lent []*netdev.Buffer
	inside(left).Loop().Lock()
	dev.transmit = func(bufs []*netdev.Buffer) (int, error) {
		for _, b := range bufs {
			b.Lend()
			lent = append(lent, b)
		}
		return dev.Device.Transmit(bufs)
	}
	inside(left).Loop().Unlock()
	c := mustOpen(t, left, nil)
	if _, err := c.WriteTo([]byte("the last words"), stack.SocketAddr{Port: 1, Node: 2}); err != nil {
		t.Fatal(err)
	}
	if err := left.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := right.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	if runtime.GOOS == "linux" && local.Mapped() != before+256*netdev.SmallChunk {
		t.Errorf("closed, %d frames lent: got %d bytes mapped, want one node's", len(lent), local.Mapped()-before)
	}
	if s := must.Get(left.Admin().Stats(context.Background())); s.ChunksFree >= s.ChunksTotal {
		t.Errorf("got %d of %d chunks free, with %d frames lent", s.ChunksFree, s.ChunksTotal, len(lent))
	}
	words := 0
	for _, b := range lent {
		if strings.HasSuffix(string(b.Bytes()), "the last words") {
			words++
		}
	}
	if words != 1 {
		t.Errorf("got the frame of the message %d times among those lent, want once", words)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, b := range lent {
			b.Complete()
		}
	}()
	<-done
	if got := local.Mapped(); got != before {
		t.Errorf("all is complete: got %d bytes mapped, want none", got-before)
	}
}

// Frames that a full device never took go back to the arena at Close.
func TestNoChunkStaysWithFullDevice(t *testing.T) {
	before := local.Mapped()
	left, right, dev := contact(t, stack.Config{Chunks: 1024, Window: 500, NoBundles: true})
	inside(left).Loop().Lock()
	dev.transmit = func([]*netdev.Buffer) (int, error) { return 0, nil }
	inside(left).Loop().Unlock()
	c := mustOpen(t, left, nil)
	for range 2 * local.Batch {
		if _, err := c.WriteTo([]byte("x"), stack.SocketAddr{Port: 1, Node: 2}); err != nil {
			t.Fatal(err)
		}
	}
	var unsent *stack.UnsentError
	if err := left.Close(canceled()); !errors.As(err, &unsent) {
		t.Errorf("Close: got %v, want *UnsentError", err)
	}
	if s := must.Get(left.Admin().Stats(context.Background())); s.ChunksFree != s.ChunksTotal {
		t.Errorf("got %d of %d chunks back", s.ChunksFree, s.ChunksTotal)
	}
	right.Close(canceled())
	if got := local.Mapped(); got != before {
		t.Errorf("closed: got %d bytes mapped, want none", got-before)
	}
}

// An Open that fails leaves nothing mapped.
//
// Proves: memory.release
func TestFailedOpenUnmaps(t *testing.T) {
	before := local.Mapped()
	port, err := hub.New(hub.Config{}).Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	port.Close()
	if _, err := stack.Open(t.Context(), stack.Config{Bearers: []stack.Bearer{port}, Address: 1}); err == nil {
		t.Error("Open on a closed port: got no error")
	}
	if got := local.Mapped(); got != before {
		t.Errorf("got %d bytes mapped, want none", got-before)
	}
	if runtime.GOOS == "linux" {
		if _, _, err := local.MapMemory(math.MaxInt / netdev.SmallChunk * netdev.SmallChunk); err == nil {
			t.Error("all memory there could be: got no error")
		}
	}
}
