// SPDX-License-Identifier: Apache-2.0

// Package within runs both ends of a measurement in one process, for what can only be
// there, or is to be without all that lies between two.
//
//	worker, end 0                    worker, end 1
//	  Ping: ends[0] asks, ends[1]      Pong: waits until it is stopped
//	        answers
//	  Send: waits until it is          Receive: ends[0] sends, ends[1]
//	        stopped                             counts
//
// The processor time of a job is then all that worker's which measures.
package within

import (
	"context"
	"errors"

	"github.com/utipc/utipc/test/bench/load"
)

// Both runs both ends of a job that measures, of kind Ping or Receive. Of any other kind
// it waits for ctx.
func Both(ctx context.Context, ends [2]load.Load, j load.Job) (measured, served load.Result, err error) {
	other := j
	measures, serves := ends[0], ends[1]
	switch j.Kind {
	case load.Ping:
		other.Kind = load.Pong
	case load.Receive:
		other.Kind = load.Send
		measures, serves = serves, measures
	default:
		<-ctx.Done()
		return measured, served, nil
	}
	other.Profile = ""
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		r   load.Result
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := serves.Run(stop, other)
		done <- outcome{r, err}
	}()
	measured, err = measures.Run(ctx, j)
	cancel()
	s := <-done
	return measured, s.r, errors.Join(err, s.err)
}

// A Pair is both ends as one load.
type Pair struct {
	name string
	ends [2]load.Load
	free func() error // after both are closed; may be nil
}

var _ load.Load = (*Pair)(nil)

// NewPair makes a Pair of two ends, its own from then on. When they are closed, so is what
// they have in common, by free.
func NewPair(name string, ends [2]load.Load, free func() error) *Pair {
	return &Pair{name, ends, free}
}

// Info says what is measured.
func (p *Pair) Info() load.Info { return load.Info{Driver: p.name} }

// Run runs both ends of a job that measures.
func (p *Pair) Run(ctx context.Context, j load.Job) (load.Result, error) {
	r, _, err := Both(ctx, p.ends, j)
	return r, err
}

// Close closes both ends.
func (p *Pair) Close() error {
	err := errors.Join(p.ends[0].Close(), p.ends[1].Close())
	if p.free != nil {
		err = errors.Join(err, p.free())
	}
	return err
}
