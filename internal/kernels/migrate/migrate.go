// SPDX-License-Identifier: Apache-2.0

// Package migrate has objects that change hosts while a client sends messages to them. Each
// object counts what it is sent; rank 0 is the client, the others are hosts.
//
// Over the stack an object is a name, and its host has bound it. To move, the host sends the
// object's state to the next one and from then on forwards what still comes for it, on the
// same way, hence behind the state; the next host binds the name, and only when that is done
// the old one withdraws it. The client notices nothing: it calls the name.
//
//	client ── 18910:3 ──► host 1 ──(state, then what still comes)──► host 2
//	   ▲                                                               │ binds 18910:3,
//	   └────────────────────── answers ────────────────────────────────┘ then host 1 withdraws it
//
// Over TCP there is no such name, so there is a directory, which the last host keeps. A host
// that has given an object away answers "moved", and the client asks the directory.
//
// Messages are numbered. An object takes each number once and in order, and says so with each
// answer: nothing can be lost or doubled and not be seen.
package migrate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/utipc/utipc/internal/kernels/kernel"
	"github.com/utipc/utipc/internal/quantile"
	"github.com/utipc/utipc/internal/ranks"
)

// Kernel is this one.
var Kernel = kernel.Kernel{
	Name: "migrate", What: "objects that change hosts while messages flow to them",
	Value: "messages a second", Unit: "/s", SizeOf: "objects", Ranks: 3,
	Defaults: kernel.Config{Steps: 20000, Size: 8},
	Run:      run,
}

const (
	stay = 100 // messages an object takes on one host
	row  = 250 // messages the client sends to one object before it turns to the next
)

// ErrLost means an object that has not taken what it was sent, once and in order.
var ErrLost = errors.New("migrate: a message was lost or came twice")

// An object counts. It is all that moves.
type object struct {
	ID   uint32
	Hops uint32 // times it has moved
	Last uint64 // the last number taken
	Sum  uint64 // of all numbers taken
}

const objectLen = 24

func (o object) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, o.ID)
	b = binary.BigEndian.AppendUint32(b, o.Hops)
	b = binary.BigEndian.AppendUint64(b, o.Last)
	return binary.BigEndian.AppendUint64(b, o.Sum)
}

// readObject reads what append wrote; b has objectLen bytes.
func readObject(b []byte) object {
	return object{
		ID: binary.BigEndian.Uint32(b), Hops: binary.BigEndian.Uint32(b[4:]),
		Last: binary.BigEndian.Uint64(b[8:]), Sum: binary.BigEndian.Uint64(b[16:]),
	}
}

// take takes a number, if it is the next: one that came before is not taken again.
func (o *object) take(number uint64) {
	if number == o.Last+1 {
		o.Last = number
		o.Sum += number
	}
}

// leaves says whether the object's time on its host is over.
func (o *object) leaves() bool { return o.Last%stay == 0 && o.Last/stay > uint64(o.Hops) }

// hostOf is the rank where an object is after so many moves: hosts take turns.
func hostOf(id, hops uint32, ranks int) int { return 1 + int(id+hops)%(ranks-1) }

// An asker brings a number to an object, and the object's answer back. repeats is how often
// it had to send it again.
type asker interface {
	ask(id uint32, number uint64) (o object, repeats int, err error)
	// end tells all hosts that no more comes.
	end() error
}

func run(ctx context.Context, p ranks.Place, c kernel.Config) (r kernel.Result, err error) {
	comm, err := ranks.Connect(ctx, p)
	if err != nil {
		return r, err
	}
	defer comm.Close()
	var a asker
	if p.Rank > 0 {
		h, err := newHost(ctx, p, c.Size)
		if err != nil {
			return r, err
		}
		defer h.close()
		if err := comm.Barrier(); err != nil { // all objects are there
			return r, err
		}
		if err := h.serve(); err != nil {
			return r, err
		}
	} else {
		if err := comm.Barrier(); err != nil {
			return r, err
		}
		if a, err = newAsker(ctx, p, c.Size); err != nil {
			return r, err
		}
		if r, err = work(a, c); err != nil {
			return r, err
		}
		if err := a.end(); err != nil {
			return r, err
		}
	}
	return r, comm.Barrier()
}

// A host has objects until the client says that no more comes.
type host interface {
	serve() error
	close()
}

func newHost(ctx context.Context, p ranks.Place, objects int) (host, error) {
	if p.Node != nil {
		return newNameHost(ctx, p, objects)
	}
	return newTCPHost(ctx, p, objects)
}

func newAsker(ctx context.Context, p ranks.Place, objects int) (asker, error) {
	if p.Node != nil {
		return newNameAsker(ctx, p, objects)
	}
	return newTCPAsker(ctx, p)
}

// atFirst are the objects that a host begins with.
func atFirst(p ranks.Place, objects int) (mine []*object) {
	for id := range uint32(objects) {
		if hostOf(id, 0, p.Ranks) == p.Rank {
			mine = append(mine, &object{ID: id})
		}
	}
	return mine
}

// work is the client's part: rows of messages to one object after the other.
func work(a asker, c kernel.Config) (kernel.Result, error) {
	m := kernel.NewMeter(c.Steps)
	known := make([]object, c.Size)
	moves := kernel.Moves{}
	var gaps []time.Duration
	for step := range kernel.Warm(c.Steps) + c.Steps {
		o := &known[step/row%c.Size]
		id, number := uint32(step/row%c.Size), o.Last+1
		began := time.Now()
		m.Begin()
		got, repeats, err := a.ask(id, number)
		if err != nil {
			return kernel.Result{}, err
		}
		m.End()
		if got.ID != id || got.Last != number || got.Sum != number*(number+1)/2 {
			return kernel.Result{}, fmt.Errorf("%w: object %d has %d numbers with the sum %d after number %d", ErrLost, id, got.Last, got.Sum, number)
		}
		if got.Hops != o.Hops {
			gaps = append(gaps, time.Since(began))
		}
		moves.Repeated += repeats
		*o = got
	}
	moves.Count = len(gaps)
	slices.Sort(gaps)
	moves.P50, moves.Max = quantile.Of(gaps, 0.5), quantile.Of(gaps, 1)
	r := m.Rate(fmt.Sprintf("each of %d objects took each message once and in order, %d moves", c.Size, moves.Count))
	r.Moves = &moves
	return r, nil
}
