// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"math"
	"syscall"
	"testing"

	"github.com/utipc/utipc/netdev"
)

// A node without memory for its frames is not opened: the error is the system's, and nothing
// stays mapped. The address space is what runs out here. Mutation: newArena goes on.
func TestNoMemoryForFrames(t *testing.T) {
	was := mapped.Load()
	a, unmap, err := newArena(Config{Chunks: math.MaxInt / netdev.SmallChunk})
	if !errors.Is(err, syscall.ENOMEM) || a != nil || unmap != nil {
		t.Errorf("got %v, want %v", err, syscall.ENOMEM)
	}
	if now := mapped.Load(); now != was {
		t.Errorf("%d bytes are mapped, %d before", now, was)
	}
}
