// SPDX-License-Identifier: Apache-2.0

// Package store is a store of values by keys: clients put and get, one request after another,
// and the keys are spread over servers by a hash.
//
// Over the stack each server binds its part of the hashes as a range of names and answers from
// an active port, within the turn that brought the request. A client calls the name that is
// the key's hash; it knows neither servers nor how many there are. Over TCP a client has a
// connection to each server, knows them all, and the rule by which keys are theirs.
//
//	client ── Call 18905:hash(key) ──► whoever has bound that      utipc
//	client ── frame to server hash(key)·servers/1024 ──►           TCP
//
// Values tell their key and version. Every get is compared with what that client put last,
// and at the end all of them.
package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/utipc/utipc/internal/kernels/kernel"
	"github.com/utipc/utipc/internal/ranks"
)

// Kernel is this one.
var Kernel = kernel.Kernel{
	Name: "store", What: "put and get by key, nine gets to a put",
	Value: "requests a second", Unit: "/s", SizeOf: "bytes of a value", Ranks: 2,
	Defaults: kernel.Config{Steps: 20000, Size: 128},
	Run:      run,
}

const (
	slots = 1024 // hashes
	keys  = 1000 // of a client
)

// What is asked: a byte, the key, and of a put the value.
const (
	put = iota + 1
	get
	askLen = 9 // before the value
)

// What is answered: a byte, and to a get the value.
const (
	done = iota + 1
	none
)

// ErrLost means a value that is not the one that was put.
var ErrLost = errors.New("store: not the value that was put")

// A caller brings a request to the server that has the slot, and its answer back.
type caller interface {
	call(slot int, ask, answer []byte) (n int, err error)
}

// servers is how many of the ranks serve: the last ones. The others are clients.
func servers(ranks int) int { return ranks / 2 }

// serverOf is which of the servers has a slot.
func serverOf(slot, servers int) int { return slot * servers / slots }

func run(ctx context.Context, p ranks.Place, c kernel.Config) (kernel.Result, error) {
	comm, err := ranks.Connect(ctx, p)
	if err != nil {
		return kernel.Result{}, err
	}
	defer comm.Close()
	if first := p.Ranks - servers(p.Ranks); p.Rank >= first {
		end, err := serve(ctx, p, p.Rank-first)
		if err != nil {
			return kernel.Result{}, err
		}
		defer end()
	}
	if err := comm.Barrier(); err != nil { // all serve
		return kernel.Result{}, err
	}
	var r kernel.Result
	if p.Rank < p.Ranks-servers(p.Ranks) {
		if r, err = work(ctx, p, c); err != nil {
			return kernel.Result{}, err
		}
	}
	all := []float64{r.Value}
	if err := comm.Sum(all); err != nil { // all clients are done
		return kernel.Result{}, err
	}
	r.Value = all[0]
	return r, nil
}

// serve answers for server number n until end is called.
func serve(ctx context.Context, p ranks.Place, n int) (end func(), err error) {
	if p.Node != nil {
		return serveNames(ctx, p, n)
	}
	return serveTCP(ctx, p)
}

// work is a client's part.
func work(ctx context.Context, p ranks.Place, c kernel.Config) (kernel.Result, error) {
	var to caller
	if p.Node != nil {
		to = newNames(ctx, p)
	} else {
		conns, err := dial(ctx, p)
		if err != nil {
			return kernel.Result{}, err
		}
		defer conns.close()
		to = conns
	}
	k := newClient(to, p.Rank, c.Size)
	for i := range keys {
		if err := k.put(i); err != nil {
			return kernel.Result{}, err
		}
	}
	chance := rand.New(rand.NewPCG(uint64(p.Rank), 1))
	m := kernel.NewMeter(c.Steps)
	for range kernel.Warm(c.Steps) + c.Steps {
		i, what := chance.IntN(keys), k.get
		if chance.IntN(10) == 0 {
			what = k.put
		}
		m.Begin()
		if err := what(i); err != nil {
			return kernel.Result{}, err
		}
		m.End()
	}
	for i := range keys {
		if err := k.get(i); err != nil {
			return kernel.Result{}, err
		}
	}
	return m.Rate(fmt.Sprintf("every get, and %d keys at the end, have what was put last", keys)), nil
}

// A client knows what it put.
type client struct {
	to          caller
	rank        int
	versions    [keys]uint32
	ask, answer []byte
	want        []byte
}

func newClient(to caller, rank, size int) *client {
	return &client{to: to, rank: rank, ask: make([]byte, askLen+size), answer: make([]byte, 1+size), want: make([]byte, size)}
}

// request writes what is asked of key i, and returns its slot.
func (k *client) request(what byte, i int) (slot int) {
	key := uint64(k.rank)<<32 | uint64(i)
	k.ask[0] = what
	binary.BigEndian.PutUint64(k.ask[1:], key)
	return int(key * 0x9e3779b97f4a7c15 >> 54) // 10 bits: one of slots
}

// value fills b with what key i has in its version.
func (k *client) value(b []byte, i int) {
	seed := uint32(k.rank)<<20 ^ uint32(i)<<8 ^ k.versions[i]
	for at := range b {
		seed = seed*1664525 + 1013904223
		b[at] = byte(seed >> 24)
	}
}

func (k *client) put(i int) error {
	slot := k.request(put, i)
	k.versions[i]++
	k.value(k.ask[askLen:], i)
	n, err := k.to.call(slot, k.ask, k.answer)
	if err == nil && (n != 1 || k.answer[0] != done) {
		return fmt.Errorf("%w: putting key %d was answered with %d bytes", ErrLost, i, n)
	}
	return err
}

func (k *client) get(i int) error {
	slot := k.request(get, i)
	n, err := k.to.call(slot, k.ask[:askLen], k.answer)
	if err != nil {
		return err
	}
	k.value(k.want, i)
	if n != len(k.answer) || k.answer[0] != done || string(k.answer[1:]) != string(k.want) {
		return fmt.Errorf("%w: key %d, version %d", ErrLost, i, k.versions[i])
	}
	return nil
}

// A shard is a server's values. It is used by one goroutine at a time.
type shard struct {
	values map[uint64][]byte
	out    []byte
}

func newShard() *shard { return &shard{values: map[uint64][]byte{}} }

// reply carries a request out. The answer is good until the next; nil: that was no request.
func (s *shard) reply(ask []byte) []byte {
	if len(ask) < askLen {
		return nil
	}
	key := binary.BigEndian.Uint64(ask[1:])
	switch ask[0] {
	case put:
		s.values[key] = append(s.values[key][:0], ask[askLen:]...)
		s.out = append(s.out[:0], done)
	case get:
		v, ok := s.values[key]
		if !ok {
			s.out = append(s.out[:0], none)
			break
		}
		s.out = append(append(s.out[:0], done), v...)
	default:
		return nil
	}
	return s.out
}
