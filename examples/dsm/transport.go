// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/utipc/utipc/internal/ranks"
	"github.com/utipc/utipc/stack"
)

// A transport carries messages between pagers, in order from one to another.
type transport interface {
	toHome(page uint32, m []byte) error // to whoever is the page's home
	toRank(rank int, m []byte) error

	// run gives what comes to handle, one message at a time from each rank, until close; lost
	// says that a rank has gone, or that nothing will come any more.
	run(handle func(m []byte), lost func(rank int, err error))
	close()
}

// homes are the pages whose home a rank is: lower to below upper.
func homes(rank, count int, pages uint32) (lower, upper uint32) {
	n := uint64(pages)
	return uint32(uint64(rank) * n / uint64(count)), uint32(uint64(rank+1) * n / uint64(count))
}

// Types of names: of pages by their numbers, and of ranks.
const (
	pageType = 18920
	rankType = 18921
)

// lookout is how often a names looks for ranks that have gone.
const lookout = 100 * time.Millisecond

// names is a socket that is bound to the pages whose home it is, and to its rank. A want goes to
// the name that is the page's number.
type names struct {
	conn *stack.PacketConn
	gone *stack.Subscription
	once sync.Once
}

// newNames is there when all ranks have bound their names.
func newNames(ctx context.Context, p ranks.Place, pages uint32) (*names, error) {
	all := stack.Range{Type: rankType, Upper: uint32(p.Ranks - 1)}
	gone, err := p.Node.Subscribe(ctx, all)
	if err != nil {
		return nil, err
	}
	conn, err := p.Node.ListenPacket(ctx, "tipcrdm", nil)
	if err != nil {
		return nil, errors.Join(err, gone.Close())
	}
	t := &names{conn: conn, gone: gone}
	lower, upper := homes(p.Rank, p.Ranks, pages)
	if lower < upper {
		err = conn.Bind(stack.Range{Type: pageType, Lower: lower, Upper: upper - 1})
	}
	if err == nil {
		err = conn.Bind(rankName(p.Rank))
	}
	for rank := 0; rank < p.Ranks && err == nil; rank++ {
		if err = p.Node.WaitFor(ctx, rankName(rank)); err != nil {
			break
		}
		if lower, upper := homes(rank, p.Ranks, pages); lower < upper {
			err = p.Node.WaitFor(ctx, stack.Service{Type: pageType, Instance: lower})
		}
	}
	if err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func rankName(rank int) stack.Service {
	return stack.Service{Type: rankType, Instance: uint32(rank)}
}

func (t *names) toHome(page uint32, m []byte) error {
	_, err := t.conn.WriteTo(m, stack.Service{Type: pageType, Instance: page})
	return err
}

func (t *names) toRank(rank int, m []byte) error {
	_, err := t.conn.WriteTo(m, rankName(rank))
	return err
}

// run has one call that waits, so that what comes from the wire is handled by the thread that took
// it from there. Names that have gone are looked for when nothing came for a while.
func (t *names) run(handle func([]byte), lost func(int, error)) {
	b := make([]byte, longestLen)
	for look := time.Now(); ; {
		if now := time.Now(); now.After(look) {
			look = now.Add(lookout)
			t.conn.SetReadDeadline(look)
			for ev, err := t.gone.TryNext(); err == nil; ev, err = t.gone.TryNext() {
				if !ev.Withdrawn {
					continue
				}
				rank := int(ev.Range.Lower)
				lost(rank, fmt.Errorf("dsm: rank %d has gone", rank))
			}
		}
		n, _, err := t.conn.ReadFrom(b)
		switch {
		case err == nil:
			handle(b[:n])
		case !errors.Is(err, os.ErrDeadlineExceeded):
			lost(noRank, err)
			return
		}
	}
}

func (t *names) close() {
	t.once.Do(func() {
		t.conn.Close()
		t.gone.Close()
	})
}

// streams are connections to all other ranks, as a program over TCP has them. A table says who is
// whose home.
type streams struct {
	ranks int
	pages uint32
	conns []net.Conn // nil: this rank
	pairs []*ranks.Pair
}

func newStreams(ctx context.Context, p ranks.Place, pages uint32) (t *streams, err error) {
	t = &streams{ranks: p.Ranks, pages: pages, conns: make([]net.Conn, p.Ranks), pairs: make([]*ranks.Pair, p.Ranks)}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	ln, err := p.Listen(ctx, ranks.Requests)
	if err != nil {
		return nil, err
	}
	defer ln.Close()
	defer context.AfterFunc(ctx, func() { ln.Close() })()
	for rank := range p.Rank {
		c, err := p.Dial(ctx, ranks.Requests, rank)
		if err != nil {
			return nil, err
		}
		if err := t.add(rank, c); err != nil {
			return nil, err
		}
		if err := t.toRank(rank, message{kind: done, rank: p.Rank}.append(nil)); err != nil { // who it is
			return nil, err
		}
	}
	for range p.Ranks - p.Rank - 1 {
		c, err := ln.Accept()
		if err != nil {
			return nil, err
		}
		if err := t.greet(c); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return t, nil
}

// greet learns whose connection it is.
func (t *streams) greet(c net.Conn) error {
	pair, err := ranks.NewPair(c)
	if err != nil {
		return err
	}
	b := make([]byte, longestLen)
	_, n, err := pair.Next(b)
	if err != nil {
		return err
	}
	m, err := parse(b[:n])
	if err != nil || m.rank >= t.ranks {
		return errMessage
	}
	t.conns[m.rank], t.pairs[m.rank] = c, pair
	return nil
}

func (t *streams) add(rank int, c net.Conn) (err error) {
	t.conns[rank] = c
	t.pairs[rank], err = ranks.NewPair(c)
	return err
}

func (t *streams) toHome(page uint32, m []byte) error {
	for rank := range t.ranks {
		if _, upper := homes(rank, t.ranks, t.pages); page < upper {
			return t.toRank(rank, m)
		}
	}
	return errMessage
}

func (t *streams) toRank(rank int, m []byte) error { return t.pairs[rank].Send(0, m) }

func (t *streams) run(handle func([]byte), lost func(int, error)) {
	var tasks sync.WaitGroup
	for rank, pair := range t.pairs {
		if pair == nil {
			continue
		}
		tasks.Go(func() {
			for b := make([]byte, longestLen); ; {
				_, n, err := pair.Next(b)
				if err != nil {
					lost(rank, fmt.Errorf("dsm: rank %d has gone: %w", rank, err))
					return
				}
				handle(b[:n])
			}
		})
	}
	tasks.Wait()
}

func (t *streams) close() {
	for _, c := range t.conns {
		if c != nil {
			c.Close()
		}
	}
}
