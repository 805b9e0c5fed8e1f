// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

const (
	receivers = members - 1

	// underWay is how many messages may be sent and not read by the slowest receiver:
	// datagrams have no flow control of their own. That many have room in a socket.
	underWay     = 4096
	receiveLimit = 32 << 20
)

// everybody is what the receivers are bound to.
var everybody net.Addr = stack.Range{Type: typ, Upper: 9}

// The ways to send to all receivers, and where some stand.
var ways = []struct {
	id, what string
	method   stack.Method
	each     bool // a message to each socket's own address
}{
	{"broadcast", "by broadcast", stack.Broadcast, false},
	{"copies", "as copies", stack.Replicast, false},
	{"unicast", "as 3 unicasts", stack.Auto, true},
}

const (
	byBroadcast = 0
	byUnicast   = 2
)

// A flock is a sender on the first node of a segment and a receiver on each of the others.
// Messages are numbered, whatever way they go.
type flock struct {
	s     *segment
	from  []*stack.PacketConn // by way
	to    []*stack.PacketConn
	read  [receivers]atomic.Uint64
	wrong atomic.Uint64 // messages that were not the next
	b     []byte
	sent  uint64
	done  sync.WaitGroup
}

func (s *segment) openFlock(ctx context.Context, size int) (f *flock, err error) {
	ctx, cancel := context.WithTimeout(ctx, meeting)
	defer cancel()
	f = &flock{s: s, b: make([]byte, size)}
	defer func() {
		if err != nil {
			_, err2 := f.close()
			err = errors.Join(err, err2)
		}
	}()
	for i := range receivers {
		c, err := stack.SocketConfig{ReceiveLimit: receiveLimit}.ListenPacket(ctx, s.nodes[1+i], "tipcrdm", everybody)
		if err != nil {
			return f, err
		}
		f.to = append(f.to, c)
		f.done.Go(func() { f.receive(i, c) })
	}
	for _, w := range ways {
		c, err := stack.SocketConfig{Multicast: w.method}.ListenPacket(ctx, s.nodes[0], "tipcrdm", nil)
		if err != nil {
			return f, err
		}
		f.from = append(f.from, c)
	}
	for i := range receivers {
		if err := s.nodes[0].WaitFor(ctx, stack.Service{Type: typ, Node: address(1 + i)}); err != nil {
			return f, err
		}
	}
	return f, nil
}

// receive is receiver i; it reads until its socket is closed. Whatever does not follow what came before was
// lost, doubled or reordered.
func (f *flock) receive(i int, c *stack.PacketConn) {
	b := make([]byte, len(f.b))
	for next := uint64(0); ; {
		n, _, err := c.ReadFrom(b)
		if err != nil {
			return
		}
		no := binary.BigEndian.Uint64(b)
		if no != next || n != len(b) {
			f.wrong.Add(1)
		}
		next = no + 1
		f.read[i].Add(1)
	}
}

// slowest is the number of messages that all receivers have read.
func (f *flock) slowest() uint64 {
	least := f.read[0].Load()
	for i := range f.read {
		least = min(least, f.read[i].Load())
	}
	return least
}

// await waits until no more than so many messages are under way.
func (f *flock) await(most uint64) error {
	if f.sent-f.slowest() <= most {
		return nil
	}
	look := time.NewTicker(200 * time.Microsecond)
	defer look.Stop()
	for end := time.Now().Add(meeting); f.sent-f.slowest() > most; <-look.C {
		if time.Now().After(end) {
			return fmt.Errorf("%d messages were sent, and one receiver has read %d: %w", f.sent, f.slowest(), os.ErrDeadlineExceeded)
		}
	}
	return nil
}

// A pace is what a run found.
type pace struct {
	rate   float64 // messages a second, each to all receivers
	frames float64 // that the sender's node sent for a message
}

// run sends by a way for a time, and waits until all is read.
func (f *flock) run(ctx context.Context, way int, d time.Duration) (p pace, err error) {
	c := f.from[way]
	if err := c.SetWriteDeadline(time.Now().Add(d + meeting)); err != nil {
		return p, err
	}
	var over atomic.Bool
	defer context.AfterFunc(ctx, func() { over.Store(true) })()
	first, frames := f.sent, must.Get(f.s.nodes[0].Admin().Stats(context.Background())).FramesOut
	begin := time.Now()
	defer time.AfterFunc(d, func() { over.Store(true) }).Stop()
	for !over.Load() {
		if err := f.await(underWay - 1); err != nil {
			return p, err
		}
		if err := f.send(c, ways[way].each); err != nil {
			return p, err
		}
	}
	if err := errors.Join(f.await(0), ctx.Err()); err != nil {
		return p, err
	}
	took := time.Since(begin)
	n := float64(f.sent - first)
	return pace{n / took.Seconds(), float64(must.Get(f.s.nodes[0].Admin().Stats(context.Background())).FramesOut-frames) / n}, nil
}

// send sends the next message to all receivers.
func (f *flock) send(c *stack.PacketConn, each bool) error {
	binary.BigEndian.PutUint64(f.b, f.sent)
	f.sent++
	if !each {
		_, err := c.WriteTo(f.b, everybody)
		return err
	}
	for _, to := range f.to {
		if _, err := c.WriteTo(f.b, to.LocalAddr()); err != nil {
			return err
		}
	}
	return nil
}

// close ends the flock, and reports how many messages were not the next.
func (f *flock) close() (wrong uint64, err error) {
	for _, c := range slices.Concat(f.from, f.to) {
		err = errors.Join(err, c.Close())
	}
	f.done.Wait()
	// The next flock waits for names of its own, not for these.
	for by := time.Now().Add(5 * time.Second); bound(f.s.nodes[0]) && time.Now().Before(by); {
		runtime.Gosched()
	}
	return f.wrong.Load(), err
}

// bound reports whether a node knows of any receiver.
func bound(n *stack.Node) bool {
	return slices.ContainsFunc(must.Get(n.Admin().Names(context.Background())), func(b stack.Binding) bool { return b.Range.Type == typ })
}
