// SPDX-License-Identifier: Apache-2.0

package socket

// A Polled is a socket that was added to a Poller.
type Polled struct {
	Owner any // as given to Add
	again func()
}

// NewPolled makes one of an owner; again lists the socket as ready.
func NewPolled(owner any, again func()) *Polled { return &Polled{owner, again} }

// Again makes the Poller hand out the socket once more: for who has not read all of it.
func (s *Polled) Again() { s.again() }
