// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/utipc/utipc/test/bench/load"
)

// roundLen is the bytes of a message that say its round.
const roundLen = 4

// message makes what is sent in a job.
func message(j load.Job) ([]byte, error) {
	if j.Size < roundLen {
		return nil, fmt.Errorf("messages of %d bytes, not at least %d", j.Size, roundLen)
	}
	b := make([]byte, j.Size)
	binary.BigEndian.PutUint32(b, j.Round)
	return b, nil
}

// roundOf is the round of a message; 0 of what is none.
func roundOf(b []byte) uint32 {
	if len(b) < roundLen {
		return 0
	}
	return binary.BigEndian.Uint32(b)
}

// ping measures round trips: ask sends a message and returns when the answer has come.
func ping(stop *load.Stop, j load.Job, ask func() error) (load.Result, error) {
	t := load.NewTrips(j.For)
	for more := true; more && !stop.Load(); more = t.Next() {
		if err := ask(); err != nil {
			if stop.Load() {
				break
			}
			return t.Result(j.Size), err
		}
	}
	return t.Result(j.Size), nil
}

// errEnough is what a writer returns when the other end wants no more.
var errEnough = errors.New("the other end has measured enough")

// send writes messages until it is stopped.
func send(stop *load.Stop, write func() error) (r load.Result, err error) {
	var n load.Count
	defer func() { n.Fill(&r) }()
	for !stop.Load() {
		if err := write(); err != nil {
			if stop.Load() || errors.Is(err, errEnough) {
				return r, nil
			}
			return r, err
		}
		n.Add(1)
	}
	return r, nil
}

// An inbox counts what a library hands over in goroutines of its own.
type inbox struct {
	mu    sync.Mutex // guards all
	round uint32     // of the latest job
	m     *load.Meter
	done  chan struct{} // closed when the meter is done; nil: no job counts
	other load.Count    // what was answered, in a job that answers
}

// receive counts the job's messages.
func (in *inbox) receive(ctx context.Context, j load.Job) load.Result {
	done := make(chan struct{})
	in.mu.Lock()
	in.round, in.m, in.done = j.Round, load.NewMeter(j.For), done
	in.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.done = nil
	return in.m.Result()
}

// add counts a message of n bytes, if it is of the job that counts. It returns false when
// messages of its round are of no use any more.
func (in *inbox) add(round uint32, n int) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if round != in.round {
		return round > in.round // that job may be about to begin
	}
	if in.done == nil {
		return false
	}
	if in.m.Add(1, n) {
		return true
	}
	close(in.done)
	in.done = nil
	return false
}

// answer is the job of an end whose library answers by itself.
func (in *inbox) answer(ctx context.Context) (r load.Result) {
	in.mu.Lock()
	in.other = load.Count{}
	in.mu.Unlock()
	<-ctx.Done()
	in.mu.Lock()
	defer in.mu.Unlock()
	in.other.Fill(&r)
	return r
}

// answered counts a message and its answer.
func (in *inbox) answered() {
	in.mu.Lock()
	in.other.Add(2)
	in.mu.Unlock()
}
