// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"net"
	"sync"

	"github.com/utipc/utipc/internal/ranks"
)

// longest is the bytes of a request or an answer.
const longest = 64 << 10

// serveTCP answers each connection in a goroutine.
func serveTCP(ctx context.Context, p ranks.Place) (end func(), err error) {
	ln, err := p.Listen(ctx, ranks.Requests)
	if err != nil {
		return nil, err
	}
	var (
		mu    sync.Mutex // guards s
		s     = newShard()
		tasks sync.WaitGroup
	)
	tasks.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			tasks.Go(func() { answerAll(c, &mu, s) })
		}
	})
	return func() {
		ln.Close()
		tasks.Wait() // clients have closed by now
	}, nil
}

// answerAll answers a connection's requests until the client closes it.
func answerAll(c net.Conn, mu *sync.Mutex, s *shard) {
	defer c.Close()
	p, err := ranks.NewPair(c)
	if err != nil {
		return
	}
	ask, answer := make([]byte, longest), make([]byte, 0, longest)
	for {
		n, err := p.Recv(0, ask)
		if err != nil {
			return
		}
		mu.Lock()
		answer = append(answer[:0], s.reply(ask[:n])...)
		mu.Unlock()
		if err := p.Send(0, answer); err != nil {
			return
		}
	}
}

// conns are a client's, one to each server.
type conns struct {
	pairs []*ranks.Pair
	all   []net.Conn
}

func dial(ctx context.Context, p ranks.Place) (*conns, error) {
	k := new(conns)
	for rank := p.Ranks - servers(p.Ranks); rank < p.Ranks; rank++ {
		c, err := p.Dial(ctx, ranks.Requests, rank)
		if err != nil {
			k.close()
			return nil, err
		}
		context.AfterFunc(ctx, func() { c.Close() })
		k.all = append(k.all, c)
		pair, err := ranks.NewPair(c)
		if err != nil {
			k.close()
			return nil, err
		}
		k.pairs = append(k.pairs, pair)
	}
	return k, nil
}

func (k *conns) close() {
	for _, c := range k.all {
		c.Close()
	}
}

func (k *conns) call(slot int, ask, answer []byte) (int, error) {
	p := k.pairs[serverOf(slot, len(k.pairs))]
	if err := p.Send(0, ask); err != nil {
		return 0, err
	}
	return p.Recv(0, answer)
}
