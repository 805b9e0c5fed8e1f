// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"fmt"

	"github.com/utipc/utipc/naming"
)

// An Event tells that a socket was bound to a range, or is bound no longer.
type Event struct {
	Withdrawn bool // else published
	// Complete means that all bindings which existed when the subscription was made, and still do, have
	// been told; the event says nothing else. It comes with SubscriptionConfig.Complete alone.
	Complete bool
	naming.Binding
}

func (ev Event) String() string {
	if ev.Complete {
		return "complete"
	}
	verb := "published"
	if ev.Withdrawn {
		verb = "withdrawn"
	}
	return fmt.Sprintf("%s %v at %v", verb, ev.Range, ev.Socket)
}
