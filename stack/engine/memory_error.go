// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"syscall"
)

// A MemoryError means that the node's memory can never hold a message of the length: it takes
// more chunks than data may have, however long the caller waits. It unwraps to syscall.ENOBUFS.
type MemoryError struct {
	Needed int // chunks that the message takes
	Most   int // chunks that data may have
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("engine: the message needs %d chunks of the node's memory, and data may have %d: configure more chunks", e.Needed, e.Most)
}

// Unwrap returns syscall.ENOBUFS.
func (e *MemoryError) Unwrap() error { return syscall.ENOBUFS }

// holds returns a *MemoryError where so many chunks, each for size bytes, are more than the
// node's memory ever gives to data.
func (e *Engine) holds(size, count int) error {
	if _, most := e.cfg.Arena.Available(size); count > most {
		return &MemoryError{count, most}
	}
	return nil
}
