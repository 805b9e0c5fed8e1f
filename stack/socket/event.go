// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"fmt"

	"github.com/utipc/utipc/naming"
)

// An Event tells that a socket was bound to a range, or is bound no longer.
type Event struct {
	Withdrawn bool // else published
	naming.Binding
}

func (ev Event) String() string {
	verb := "published"
	if ev.Withdrawn {
		verb = "withdrawn"
	}
	return fmt.Sprintf("%s %v at %v", verb, ev.Range, ev.Socket)
}
