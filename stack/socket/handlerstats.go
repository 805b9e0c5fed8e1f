// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"fmt"
	"time"

	"github.com/utipc/utipc/internal/printable"
)

// HandlerStats are what an active port has done.
type HandlerStats struct {
	Handled uint64        // messages the handler took
	Replies uint64        // messages it sent
	Refused uint64        // messages it could not send
	Late    uint64        // calls over the time limit
	Severe  uint64        // of those, a hundred times the limit or more
	Longest time.Duration // call
	Waiting int           // messages that wait for the handler
	Apart   bool          // it has a goroutine of its own, being too slow for the poll
}

// A PanicError is why an active port was closed: its handler panicked.
type PanicError struct {
	Value any
	Stack []byte // of the call
}

func (e *PanicError) Error() string {
	return "active port's handler panicked: " + printable.Text(fmt.Sprint(e.Value)) // it may hold what a message said
}
