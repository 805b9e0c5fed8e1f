// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/engine"
)

// A slowWire is two nodes whose devices keep what they have sent for long, as cards
// do: until after its acknowledgement has come.
type slowWire struct {
	nodes   [2]*stack.Node
	devices [2]*fault.Injector
}

func newSlowWire(t *testing.T, faults fault.Config, configs ...stack.Config) *slowWire {
	t.Helper()
	w := &slowWire{}
	h := hub.New(hub.Config{})
	for i := range w.nodes {
		cfg := configs[i%len(configs)]
		port, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		faults.Seed += uint64(i)
		w.devices[i] = fault.New(&paced{Device: port}, faults)
		cfg.Bearers, cfg.Address = []stack.Bearer{w.devices[i]}, stack.NodeAddr(0x1001001+i)
		if w.nodes[i], err = stack.Open(within(t), cfg); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			w.devices[i].Set(fault.Config{})
			w.nodes[i].Close(within(t))
			if s := must.Get(w.nodes[i].Admin().Stats(context.Background())); s.ChunksFree != s.ChunksTotal {
				t.Errorf("node %d: %d of %d chunks came back", i, s.ChunksFree, s.ChunksTotal)
			}
		})
	}
	return w
}

// A paced device sends five frames a millisecond, so that time passes in a bubble while as much
// is sent as goes.
type paced struct {
	netdev.Device
	now  time.Time // the millisecond
	left int       // frames in it
}

func (p *paced) Transmit(bufs []*netdev.Buffer) (int, error) {
	if now := time.Now().Truncate(time.Millisecond); !now.Equal(p.now) {
		p.now, p.left = now, 5
	}
	n, err := p.Device.Transmit(bufs[:min(len(bufs), p.left)])
	p.left -= n
	return n, err
}

// check looks that the link is the one that came up first, and that nobody changed
// a frame that a device still had.
func (w *slowWire) check(t *testing.T) (retransmits uint64) {
	t.Helper()
	for i, n := range w.nodes {
		links := must.Get(n.Admin().Links(context.Background()))
		if len(links) != 1 || !links[0].Up || links[0].Resets != 0 {
			t.Fatalf("node %d: got links %+v, want one that is up and never was reset", i, links)
		}
		retransmits += links[0].Retransmits
		if _, out := w.devices[i].Counts(); out.Changed != 0 {
			t.Errorf("node %d: %d frames were changed while the device had them", i, out.Changed)
		}
	}
	return retransmits
}

// last marks the number of the last message.
const last = 1 << 63

// write sends numbered messages of the given size until stop says so, then the last.
func write(c *stack.PacketConn, to net.Addr, size int, stop func(sent uint64) bool) error {
	b := make([]byte, size)
	for i := uint64(0); ; i++ {
		n := i
		if stop(i) {
			n |= last
		}
		binary.BigEndian.PutUint64(b, n)
		if _, err := c.WriteTo(b, to); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		if n&last != 0 {
			return nil
		}
	}
}

// read reads what write sends, which must come whole, once and in order, and says
// how many messages that were. It calls each for every one but the last.
func read(c *stack.PacketConn, size int, each func()) (uint64, error) {
	b := make([]byte, size+1)
	for i := uint64(0); ; i++ {
		n, _, err := c.ReadFrom(b)
		if err != nil {
			return i, fmt.Errorf("message %d: %w", i, err)
		}
		if got := binary.BigEndian.Uint64(b); n != size || got&^last != i {
			return i, fmt.Errorf("got message %d of %d bytes, want %d of %d", got&^last, n, i, size)
		} else if got&last != 0 {
			return i + 1, nil
		}
		each()
	}
}

// exchangeSome sends messages both ways for four tolerances, and checks that some arrive.
func (w *slowWire) exchangeSome(t *testing.T) {
	t.Helper()
	got := w.exchange(t, 1400, during(4*tolerance))
	if got < 100 {
		t.Errorf("got %d messages, want some", got)
	}
	t.Logf("%d messages", got)
}

// exchange sends messages both ways at once until stop says so and returns how many
// arrived.
func (w *slowWire) exchange(t *testing.T, size int, stop func(sent uint64) bool) (total uint64) {
	t.Helper()
	var all sync.WaitGroup
	var sum atomic.Uint64
	for i, n := range w.nodes {
		in, out := listen(t, w.nodes[1-i], nil), listen(t, n, nil)
		ahead, over := make(chan struct{}, 1000), make(chan struct{}) // so that no queue overflows
		defer in.Close()
		defer out.Close()
		in.SetDeadline(time.Now().Add(testTimeout))
		out.SetDeadline(time.Now().Add(testTimeout))
		all.Go(func() {
			err := write(out, in.LocalAddr(), size, func(sent uint64) bool {
				select {
				case ahead <- struct{}{}:
				case <-over:
					return true
				}
				return stop(sent)
			})
			if err != nil {
				t.Errorf("from node %d: %v", i, err)
			}
		})
		all.Go(func() {
			defer close(over)
			n, err := read(in, size, func() { <-ahead })
			if err != nil {
				t.Errorf("from node %d: %v", i, err)
			}
			sum.Add(n)
		})
	}
	all.Wait()
	return sum.Load()
}

func count(n uint64) func(uint64) bool { return func(sent uint64) bool { return sent+1 >= n } }

func during(d time.Duration) func(uint64) bool {
	end := time.Now().Add(d)
	return func(uint64) bool { return !time.Now().Before(end) }
}

// connect waits until the nodes have a link.
func (w *slowWire) connect(t *testing.T) {
	t.Helper()
	for i, n := range w.nodes {
		if err := n.WaitFor(within(t), stack.Service{Type: 0, Instance: uint32(w.nodes[1-i].Addr())}); err != nil {
			t.Fatal(err)
		}
	}
}

// Completions that come after the acknowledgement, with and without losses.
//
// Proves: memory.lent
func TestLateCompletions(t *testing.T) {
	t.Parallel()
	for _, loss := range []float64{0, 0.03} {
		for _, linger := range []int{1, 8, 200} {
			t.Run(fmt.Sprintf("loss %v, %d calls", loss, linger), func(t *testing.T) {
				w := newSlowWire(t, fault.Config{
					Seed: 1, Linger: linger, Out: fault.Faults{Loss: loss, Match: isPayload},
				}, stack.Config{Tolerance: steady})
				w.connect(t)
				const n = 1000
				if got := w.exchange(t, 1000, count(n)); got != 2*n {
					t.Errorf("got %d messages, want %d", got, 2*n)
				}
				if again := w.check(t); (again > 0) != (loss > 0) {
					t.Errorf("got %d retransmissions", again)
				}
			})
		}
	}
}

// isPayload picks the frames that carry messages.
func isPayload(f []byte) bool {
	_, p, err := frame.ParseEthernet(f)
	if err != nil {
		return false
	}
	m, err := frame.Parse(p)
	return err == nil && (m.User().IsPayload() || m.User() == frame.UserBundler)
}

// tolerance is the shortest that links may have. The tests with it have the clock of a bubble:
// on the system's, what runs beside may keep a node from the processor for longer.
const tolerance = 50 * time.Millisecond

// With the smallest arena there is a link stays up at a short tolerance, while as much is
// sent as goes and devices keep chunks for long.
// Mutation: Arena.Get keeps no chunks for what is Control.
//
// Proves: memory.small
func TestSmallestArena(t *testing.T) {
	for _, linger := range []int{0, 16, 64} {
		for _, loss := range []float64{0, 0.03} {
			t.Run(fmt.Sprintf("loss %v, %d calls", loss, linger), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newSlowWire(t, fault.Config{
						Seed: 1, Linger: linger, Out: fault.Faults{Loss: loss, Match: isPayload},
					}, stack.Config{Chunks: 64, Tolerance: tolerance, Wait: stack.Sleep})
					w.connect(t)
					w.exchangeSome(t)
					w.check(t)
				})
			})
		}
	}
}

// A peer with all the memory it wants, and a window wider than the smallest arena,
// takes none of it away for long.
//
// Proves: memory.small
func TestSmallestArenaBesideALargeOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSlowWire(t, fault.Config{
			Seed: 1, Linger: 16, Out: fault.Faults{Loss: 0.03, Match: isPayload},
		}, stack.Config{Chunks: 64, Tolerance: tolerance, Wait: stack.Sleep}, stack.Config{Window: 1000, Tolerance: tolerance, Wait: stack.Sleep})
		w.connect(t)
		w.exchangeSome(t)
		w.check(t)
	})
}

// A receiver that never reads is its senders' business alone: their messages come
// back, the link stays up and carries others.
//
// Proves: memory.small
func TestReceiverThatNeverReads(t *testing.T) {
	for _, chunks := range []int{64, 4096} {
		t.Run(fmt.Sprint(chunks, " chunks"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newSlowWire(t, fault.Config{Seed: 1, Linger: 16}, stack.Config{Chunks: chunks, Tolerance: tolerance, Wait: stack.Sleep})
				w.connect(t)
				lazy, err := stack.SocketConfig{ReceiveLimit: 64 << 10}.ListenPacket(within(t), w.nodes[1], "tipcrdm", nil)
				if err != nil {
					t.Fatal(err)
				}
				var all sync.WaitGroup
				stop := during(4 * tolerance)
				for _, returnable := range []bool{false, true} {
					c, err := stack.SocketConfig{Returnable: returnable}.ListenPacket(within(t), w.nodes[0], "tipcrdm", nil)
					if err != nil {
						t.Fatal(err)
					}
					c.SetDeadline(time.Now().Add(testTimeout))
					all.Go(func() {
						if err := write(c, lazy.LocalAddr(), 1400, stop); err != nil {
							t.Error(err)
						}
					})
				}
				got := w.exchange(t, 100, stop)
				all.Wait()
				w.check(t)
				if got < 100 {
					t.Errorf("beside it: got %d messages, want some", got)
				}
				s := must.Get(w.nodes[1].Admin().Stats(context.Background()))
				if s.Drops[engine.DropOverload] == 0 || s.Returned == 0 {
					t.Errorf("got %d dropped for overload and %d returned, want some of both", s.Drops[engine.DropOverload], s.Returned)
				}
				t.Logf("%d beside, %d dropped, %d returned", got, s.Drops[engine.DropOverload], s.Returned)
			})
		})
	}
}

// Long messages that wait in a socket stay in their chunks while more than half of
// those are free, then they are copied; however they are kept, they are read whole,
// and their chunks come back, also when nobody ever reads them.
//
// Proves: memory.lent
func TestLongMessagesAreLent(t *testing.T) {
	t.Parallel()
	const size, messages, jumbo = 8000, 400, 512
	h := hub.New(hub.Config{MTU: 9000})
	var nodes [2]*stack.Node
	for i := range nodes {
		port, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		nodes[i], err = stack.Open(within(t), stack.Config{Bearers: []stack.Bearer{port}, Address: stack.NodeAddr(i + 1), Chunks: 256, Tolerance: steady})
		if err != nil {
			t.Fatal(err)
		}
		defer nodes[i].Close(within(t))
	}
	read, unread := listen(t, nodes[1], echoService), listen(t, nodes[1], stack.Service{Type: 18889})
	out := listen(t, nodes[0], nil)
	for _, c := range []*stack.PacketConn{read, unread, out} {
		c.SetDeadline(time.Now().Add(testTimeout))
	}
	for _, a := range []stack.Service{echoService, {Type: 18889}} {
		if err := nodes[0].WaitFor(within(t), a); err != nil {
			t.Fatal(err)
		}
	}
	taken := func() int {
		s := must.Get(nodes[1].Admin().Stats(context.Background()))
		return s.ChunksTotal - s.ChunksFree
	}
	wait := func(what string, done func() bool) {
		t.Helper()
		for end := time.Now().Add(testTimeout); !done(); runtime.Gosched() {
			if time.Now().After(end) {
				t.Fatalf("%s: never; %d chunks taken", what, taken())
			}
		}
	}
	number := func(i int) []byte { return bytes.Repeat([]byte{byte(i), byte(i >> 8)}, size/2) }
	send := func(to net.Addr, size, from, until int) {
		t.Helper()
		before := must.Get(nodes[1].Admin().Stats(context.Background())).MessagesIn
		for i := from; i < until; i++ {
			if _, err := out.WriteTo(number(i)[:size], to); err != nil {
				t.Fatal(err)
			}
		}
		wait("delivery", func() bool {
			return must.Get(nodes[1].Admin().Stats(context.Background())).MessagesIn == before+uint64(until-from)
		})
	}
	send(read.LocalAddr(), size, 0, 100)
	if got := taken(); got != 100 {
		t.Errorf("100 long messages wait: got %d chunks taken, want 100", got)
	}
	send(read.LocalAddr(), engine.CopyBreak, 100, 150)
	if got := taken(); got != 100 {
		t.Errorf("50 of %d bytes beside them: got %d chunks taken, want no more", engine.CopyBreak, got)
	}
	send(read.LocalAddr(), size, 150, messages/2)
	send(unread.LocalAddr(), size, 0, messages/2)
	if got := taken(); got > jumbo/2 || got < jumbo/2-1 {
		t.Errorf("all sent: got %d chunks taken, want half of %d", got, jumbo)
	}
	b := make([]byte, size)
	for i := range messages / 2 {
		n, _, err := read.ReadFrom(b)
		if err != nil {
			t.Fatal(err)
		}
		want := number(i)
		if i >= 100 && i < 150 {
			want = want[:engine.CopyBreak]
		}
		if !bytes.Equal(b[:n], want) {
			t.Fatalf("message %d: got %d bytes that begin % x", i, n, b[:4])
		}
	}
	unread.Close()
	wait("chunks back", func() bool { return taken() == 0 })
	send(read.LocalAddr(), size, 0, 10) // these wait when the node is closed
	for _, n := range nodes {
		n.Close(within(t))
		if s := must.Get(n.Admin().Stats(context.Background())); s.ChunksFree != s.ChunksTotal {
			t.Errorf("closed: %d of %d chunks came back", s.ChunksFree, s.ChunksTotal)
		}
	}
}
