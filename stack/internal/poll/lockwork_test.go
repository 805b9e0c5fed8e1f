// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"strings"
	"testing"

	"github.com/utipc/utipc/stack/engine"
)

// One holding of the lock may do so much and no more; the next begins anew. Mutation: Unlock
// does not reset the count; did does not panic.
func TestLockWork(t *testing.T) {
	t.Setenv(LockWorkEnv, "1")
	var l Loop
	l.Init(Config{})
	for range 2 {
		l.Lock()
		l.Did(engine.WorkFrames, mostLockWork/2)
		l.Unlock()
	}
	l.Lock()
	defer l.Unlock()
	defer func() {
		if got, _ := recover().(string); !strings.Contains(got, "more than") || !strings.Contains(got, "1 frames") {
			t.Errorf("got %q, want a word on 1 frames", got)
		}
	}()
	l.Did(engine.WorkSends, mostLockWork)
	l.Did(engine.WorkFrames, 1)
}
