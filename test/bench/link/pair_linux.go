// SPDX-License-Identifier: Apache-2.0

package link

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/internal/bed"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/xdp"
)

const (
	meeting = time.Minute // how long two nodes may take to find each other

	// underWay is how many bytes of messages may be sent and not read: what a receiver
	// keeps, since datagrams have no flow control of their own. No window is larger.
	underWay     = 24 << 20
	receiveLimit = 128 << 20
	chunks       = 16384
)

// Tolerance is that of links where nothing else is said; 0: the default. It is for tests: beside
// others' work this process may stand still for longer than the default.
var Tolerance time.Duration

// A config says what a pair is.
type config struct {
	cables   int // 1 or 2
	mtu      int
	link     stack.LinkConfig
	driver   xdp.Config
	oldPeers bool          // the nodes know no gap-ack blocks
	silent   time.Duration // tolerance of the links; 0: Tolerance
}

// A pair is two nodes in this process, in network namespaces of their own, over one or
// two cables, with a fault injector at each end of each.
type pair struct {
	beds  []*bed.Bed
	ports [2][]*fault.Injector // by node and cable
	nodes [2]*stack.Node
	names [2][]string // of interfaces

	// tolerance is that of the links, and silent that by which it is noticed that one is cut.
	tolerance, silent time.Duration
}

func openPair(ctx context.Context, c config) (p *pair, err error) {
	ctx, cancel := context.WithTimeout(ctx, meeting)
	defer cancel()
	p = &pair{tolerance: cmp.Or(c.silent, Tolerance, flowctl.DefaultTolerance), silent: cmp.Or(c.silent, flowctl.DefaultTolerance)}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	for i := range c.cables {
		b, err := bed.New(bed.Options{MTU: c.mtu, Names: [2]string{fmt.Sprint("left", i), fmt.Sprint("right", i)}})
		if err != nil {
			return p, err
		}
		p.beds = append(p.beds, b)
	}
	for end := range p.nodes {
		var bearers []stack.Bearer
		for i, b := range p.beds {
			var d xdp.Bearer
			err := b.Do(end, func() (err error) { d, err = xdp.Open(b.Name(end), &c.driver); return err })
			if err != nil {
				for _, d := range bearers {
					d.Close()
				}
				return p, err
			}
			j := fault.New(d, fault.Config{Seed: uint64(2*i + end)})
			p.ports[end] = append(p.ports[end], j)
			p.names[end] = append(p.names[end], b.Name(end))
			if c.oldPeers {
				bearers = append(bearers, oldPeer{j})
			} else {
				bearers = append(bearers, j)
			}
		}
		p.nodes[end], err = stack.Open(ctx, stack.Config{
			Bearers: bearers, Address: stack.NodeAddr(0x1001001 + end), Window: c.link.Window, MaxWindow: c.link.MaxWindow, Chunks: chunks,
			Tolerance: p.tolerance,
		})
		if err != nil {
			return p, err
		}
	}
	return p, p.await(ctx, c.cables)
}

// await waits until so many links are up at both ends.
func (p *pair) await(ctx context.Context, links int) error {
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for {
		if p.up(0) == links && p.up(1) == links {
			return nil
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return fmt.Errorf("%d and %d links are up, not %d: %w", p.up(0), p.up(1), links, ctx.Err())
		}
	}
}

// up is the number of links of a node that are up.
func (p *pair) up(end int) (n int) {
	for _, l := range must.Get(p.nodes[end].Admin().Links(context.Background())) {
		if l.Up {
			n++
		}
	}
	return n
}

// resets is how often a link went down, at both ends.
func (p *pair) resets() (n uint64) {
	for _, x := range p.nodes {
		for _, l := range must.Get(x.Admin().Links(context.Background())) {
			n += l.Resets
		}
	}
	return n
}

// dropped is the number of frames that the devices lost.
func (p *pair) dropped() (sum uint64) {
	for _, x := range p.nodes {
		s := must.Get(x.Admin().Stats(context.Background()))
		sum += s.DeviceDropsIn + s.DeviceDropsOut
	}
	return sum
}

// lose sets how many frames are lost, each way, on a cable.
func (p *pair) lose(cable int, share float64, seed uint64) {
	for end := range p.ports {
		p.ports[end][cable].Set(fault.Config{Seed: seed + uint64(end), In: fault.Faults{Loss: share}})
	}
}

// tolerate sets the tolerance of a cable's link, at both ends: cut off, they cannot tell each other.
func (p *pair) tolerate(cable int, d time.Duration) (err error) {
	for end, n := range p.nodes {
		err = errors.Join(err, n.Admin().SetLink(context.Background(), p.nodes[1-end].Addr(), p.names[end][cable], stack.LinkConfig{Tolerance: d}))
	}
	return err
}

// plug gives or takes both ends of a cable their carrier: the interface of the second
// node goes up or down.
func (p *pair) plug(cable int, up bool) error {
	return p.beds[cable].Namespace(1).SetUp(p.beds[cable].Name(1), up)
}

func (p *pair) close() {
	for _, n := range p.nodes {
		if n != nil {
			ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
			n.Close(ctx)
			cancel()
		}
	}
	for _, b := range p.beds {
		b.Close()
	}
}

// A stream is messages from a socket of node 0 to one of node 1, as fast as they are
// taken, each with its number.
type stream struct {
	from, to *stack.PacketConn
	size     int
	sent     atomic.Uint64
	read     atomic.Uint64
	longest  atomic.Int64  // ns between two messages, since the last mark
	last     atomic.Int64  // when one was read last, by the stream's clock
	wrong    atomic.Uint64 // messages lost, doubled or reordered
	began    time.Time
	tally    []uint64 // messages read in each Bucket of time since began, as many as there are
	stop     atomic.Bool
	err      error // of whoever failed first
	once     sync.Once
	done     sync.WaitGroup
}

// stream begins one, with a sender whose port is even or odd: of two links to one node
// each has one of the two.
func (p *pair) stream(size, parity int) (*stream, error) {
	return p.tallied(size, parity, time.Now(), 0)
}

// tallied begins one that counts by its time for so many buckets.
func (p *pair) tallied(size, parity int, began time.Time, buckets int) (*stream, error) {
	ctx := context.Background()
	s := &stream{size: size, began: began, tally: make([]uint64, buckets)}
	var err error
	if s.to, err = (stack.SocketConfig{ReceiveLimit: receiveLimit}).ListenPacket(ctx, p.nodes[1], "tipcrdm", nil); err != nil {
		return nil, err
	}
	for { // until one has the right number
		if s.from, err = p.nodes[0].ListenPacket(ctx, "tipcrdm", nil); err != nil {
			return nil, err
		}
		if int(s.from.LocalAddr().(stack.SocketAddr).Port&1) == parity {
			break
		}
		defer s.from.Close()
	}
	s.done.Go(s.send)
	s.done.Go(s.receive)
	return s, nil
}

func (s *stream) fail(err error) {
	s.once.Do(func() { s.err = err })
	s.stop.Store(true)
}

func (s *stream) send() {
	b := make([]byte, s.size)
	to := s.to.LocalAddr()
	most := max(2, uint64(underWay/s.size))
	wait := time.NewTicker(200 * time.Microsecond)
	defer wait.Stop()
	for n := uint64(0); !s.stop.Load(); n++ {
		for n-s.read.Load() >= most && !s.stop.Load() {
			<-wait.C
		}
		binary.BigEndian.PutUint64(b, n)
		if _, err := s.from.WriteTo(b, to); err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) || !s.stop.Load() {
				s.fail(fmt.Errorf("message %d: %w", n, err))
			}
			return
		}
		s.sent.Store(n + 1)
	}
}

func (s *stream) receive() {
	b := make([]byte, s.size)
	for next := uint64(0); ; {
		n, _, err := s.to.ReadFrom(b)
		if err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				s.fail(err)
			}
			return
		}
		now := int64(time.Since(s.began))
		if gap := now - s.last.Swap(now); gap > s.longest.Load() {
			s.longest.Store(gap)
		}
		if k := now / int64(Bucket); k < int64(len(s.tally)) {
			s.tally[k]++
		}
		no := binary.BigEndian.Uint64(b)
		if no != next || n != s.size {
			s.wrong.Add(1)
		}
		next = no + 1
		s.read.Add(1)
	}
}

// mark returns the longest time without a message since the last mark, and at least
// that since the last message.
func (s *stream) mark() time.Duration {
	since := int64(time.Since(s.began)) - s.last.Load()
	return time.Duration(max(s.longest.Swap(0), since))
}

// end ends the stream, and reports how many messages were lost, doubled or reordered.
func (s *stream) end() (wrong uint64, err error) {
	s.stop.Store(true)
	s.from.SetWriteDeadline(time.Now().Add(meeting))
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for end, was := time.Now().Add(meeting), s.read.Load(); s.read.Load() < s.sent.Load() && time.Now().Before(end); <-look.C {
		if n := s.read.Load(); n != was {
			end, was = time.Now().Add(meeting), n
		}
	}
	s.leave()
	if n := s.sent.Load(); s.read.Load() != n && s.err == nil {
		return s.wrong.Load(), fmt.Errorf("%d messages were sent and %d arrived", n, s.read.Load())
	}
	return s.wrong.Load(), s.err
}

// leave ends the stream as it stands.
func (s *stream) leave() {
	s.stop.Store(true)
	s.from.SetWriteDeadline(time.Now())
	s.to.SetReadDeadline(time.Now())
	s.done.Wait()
	s.from.Close()
	s.to.Close()
}

// rate is how many messages arrive in a second.
func (s *stream) rate(ctx context.Context, d time.Duration) float64 {
	return rate(ctx, d, s.read.Load)
}

// rate is by how much a count grows in a second, measured for a time; for longer where
// it does not in it, as a stall at the wrong moment would pass for a dead link.
func rate(ctx context.Context, d time.Duration, count func() uint64) float64 {
	begin, n := time.Now(), count()
	for pause(ctx, d); count() == n && ctx.Err() == nil && time.Since(begin) < meeting; {
		pause(ctx, time.Millisecond)
	}
	return float64(count()-n) / time.Since(begin).Seconds()
}

// pause waits, or until the run is interrupted.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
