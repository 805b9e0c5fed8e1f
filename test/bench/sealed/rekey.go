// SPDX-License-Identifier: Apache-2.0

package sealed

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/load/gcm"
	"github.com/utipc/utipc/test/bench/load/tipc"
)

// A Change is what going over to another key costs under load.
type Change struct {
	Lost, Messages uint64
	Gap            time.Duration // the longest between two messages while the key changed
	Usual          time.Duration // and in as long a time without a change
	Took           time.Duration // from the order to the first message under the new key
	Resets         uint64        // of links
}

// A change must be over within this: the key before must have rested for ten seconds.
const timeout = 3 * time.Minute

var stream = stack.Service{Type: 18888, Instance: 7}

// Rekey has two nodes of this process, with a master key and keys of their own, change the
// sender's key while messages of 64 bytes go over a connection, which holds them back when
// they are not read, as fast as they are taken. The first change
// is from the master key; what is measured is the second one, from key to key.
func Rekey(ctx context.Context) (c Change, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	h := hub.New(hub.Config{})
	var nodes [2]*stack.Node
	k, err := seal.NewKey(frame.ClusterKey, gcm.Material(16))
	if err != nil {
		return c, err
	}
	for i := range nodes {
		p, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		if err != nil {
			return c, err
		}
		nodes[i], err = stack.Open(ctx, stack.Config{
			Bearers: []stack.Bearer{p}, Address: tipc.Address(i), Tolerance: load.Tolerance,
			Encryption: stack.Encryption{Keys: []stack.Key{{Key: k, Master: true}}},
		})
		if err != nil {
			return c, err
		}
		defer nodes[i].Close(context.Background())
	}
	l, err := nodes[1].Listen(ctx, "tipcpacket", stream)
	if err != nil {
		return c, err
	}
	if err := nodes[0].WaitFor(ctx, stream); err != nil {
		return c, err
	}
	r := &receiver{l: l, done: make(chan error, 1)}
	go r.run()
	out, err := nodes[0].Dial(ctx, "tipcpacket", stream)
	if err != nil {
		l.Close()
		return c, errors.Join(err, <-r.done)
	}
	stop := make(chan struct{})
	type result struct {
		n   uint64
		err error
	}
	sent := make(chan result, 1)
	go func() {
		n, err := send(out, stop)
		sent <- result{n, errors.Join(err, out.Close())}
	}()
	c, err = change(ctx, nodes[0], nodes[1].Addr(), r)
	close(stop)
	if err != nil {
		out.SetDeadline(time.Now())
	}
	s := <-sent
	err = errors.Join(err, s.err, <-r.done)
	c.Lost, c.Messages = r.lost+s.n-r.next, s.n
	for _, l := range must.Get(nodes[0].Admin().Links(context.Background())) {
		c.Resets += l.Resets
	}
	return c, err
}

// change changes the key of n twice.
func change(ctx context.Context, n *stack.Node, peer stack.NodeAddr, r *receiver) (c Change, err error) {
	if err = n.Admin().Rekey(context.Background()); err != nil {
		return c, err
	}
	until := func(what string, ok func(e admin.EncryptionStatus) bool) error {
		for look := time.NewTicker(2 * time.Millisecond); ; {
			if ok(must.Get(n.Admin().Encryption(context.Background()))) {
				look.Stop()
				return nil
			}
			select {
			case <-look.C:
			case <-ctx.Done():
				look.Stop()
				return fmt.Errorf("%s: %w", what, ctx.Err())
			}
		}
	}
	active := func(e admin.EncryptionStatus) (slot uint8) {
		for i, s := range e.Slots {
			if s.State == seal.Active {
				slot = uint8(i)
			}
		}
		return slot
	}
	var before uint8
	if err = until("the first key is not used", func(e admin.EncryptionStatus) bool {
		before = active(e)
		return before != 0
	}); err != nil {
		return c, err
	}
	r.gap.Store(0)
	begin := time.Now()
	if err = n.Admin().Rekey(context.Background()); err != nil {
		return c, err
	}
	err = until("the second key is not taken up", func(e admin.EncryptionStatus) bool {
		for _, p := range e.Peers {
			if p.Node == peer {
				return p.Reported != before && p.Reported != 0
			}
		}
		return false
	})
	c.Took = time.Since(begin)
	pause(ctx, 50*time.Millisecond)
	c.Gap = time.Duration(r.gap.Swap(0))
	pause(ctx, c.Took+50*time.Millisecond)
	c.Usual = time.Duration(r.gap.Load())
	return c, err
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// send sends numbered messages until stop is closed.
func send(out net.Conn, stop chan struct{}) (n uint64, err error) {
	b := make([]byte, 64)
	for ; ; n++ {
		select {
		case <-stop:
			return n, nil
		default:
		}
		binary.BigEndian.PutUint64(b, n)
		if _, err := out.Write(b); err != nil {
			return n, err
		}
	}
}

// A receiver reads numbered messages.
type receiver struct {
	l    net.Listener
	done chan error
	lost uint64       // good once something came from done
	next uint64       // likewise
	gap  atomic.Int64 // the longest between two messages since it was set to 0
}

func (r *receiver) run() {
	in, err := r.l.Accept()
	if err == nil {
		err = r.read(in)
		in.Close()
	}
	r.done <- err
}

// read reads to the end of a connection.
func (r *receiver) read(in net.Conn) error {
	b := make([]byte, 64)
	last := time.Now()
	for {
		n, err := in.Read(b)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		now := time.Now()
		if d := int64(now.Sub(last)); d > r.gap.Load() {
			r.gap.Store(d)
		}
		last = now
		if n < 8 {
			continue
		}
		i := binary.BigEndian.Uint64(b)
		r.lost += i - r.next // one that came twice counts, too: as very many
		r.next = i + 1
	}
}
