// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"cmp"
	"time"
)

const (
	claimTimeout   = time.Second
	queueTimeout   = 2 * time.Second
	hookTimeout    = 200 * time.Millisecond
	programTimeout = time.Second
)

// timeouts are how long opening and attaching wait for somebody who is in the way; 0 means
// the default.
type timeouts struct {
	// claim is how long a newcomer waits for the owner to say who it is, and for
	// one that is ending to end.
	claim time.Duration
	// queue is how long a queue is waited for whose last owner has gone or is
	// going: the kernel frees it some milliseconds after the last reference to
	// the socket.
	queue time.Duration
	// hook is how long a hook is waited for whose program's owner has just ended.
	hook time.Duration
	// program is how long Open waits for another XDP program to go: one of a
	// process that has just ended is still there.
	program time.Duration
}

// withDefaults returns a copy of t without zeros.
func (t timeouts) withDefaults() timeouts {
	return timeouts{
		claim:   cmp.Or(t.claim, claimTimeout),
		queue:   cmp.Or(t.queue, queueTimeout),
		hook:    cmp.Or(t.hook, hookTimeout),
		program: cmp.Or(t.program, programTimeout),
	}
}
