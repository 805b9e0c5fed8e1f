// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"sync/atomic"
)

// OnStop has f called when ctx is done. The returned function forgets that; when it
// returns, f has been called or never will be.
func OnStop(ctx context.Context, f func()) (release func()) {
	called := make(chan struct{})
	forget := context.AfterFunc(ctx, func() {
		f()
		close(called)
	})
	return func() {
		if !forget() {
			<-called
		}
	}
}

// A Stop is a context as a flag, for loops that look at it often.
type Stop struct {
	atomic.Bool
	release func()
}

// StopOn returns a flag that is set when ctx is done. Release it in the end, once.
func StopOn(ctx context.Context) *Stop {
	s := &Stop{}
	s.release = OnStop(ctx, func() { s.Store(true) })
	return s
}

// Release forgets the context.
func (s *Stop) Release() { s.release() }
