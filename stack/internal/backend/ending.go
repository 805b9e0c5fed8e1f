// SPDX-License-Identifier: Apache-2.0

package backend

import "sync"

// An Ending is why and when a node ended.
type Ending struct {
	once sync.Once
	Over chan struct{}
	Why  error // once over is closed
}

func NewEnding() *Ending { return &Ending{Over: make(chan struct{})} }

// End ends the node, for the first reason that is given.
func (e *Ending) End(why error) {
	e.once.Do(func() {
		e.Why = why
		close(e.Over)
	})
}

// Done implements Node.
func (e *Ending) Done() <-chan struct{} { return e.Over }

// Err implements Node.
func (e *Ending) Err() error {
	select {
	case <-e.Over:
		return e.Why
	default:
		return nil
	}
}
